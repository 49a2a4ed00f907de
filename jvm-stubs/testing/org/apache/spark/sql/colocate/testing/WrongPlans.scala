package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.catalyst.expressions.aggregate.Complete
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.plans.{FullOuter, JoinType, LeftOuter, RightOuter}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.rules.PlanningNode
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.HashAggregateExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.{ShuffledJoin, SortMergeJoinExec}

/** The bugs that show in a whole plan, before and after our rules. */
object WrongPlans extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = PlantedBugs.planted match {
    case Some(bug) if plan.exists(_.isInstanceOf[ColocatedScanExec]) => wrong(plan, bug)
    case _ => plan
  }

  private def wrong(plan: SparkPlan, bug: String): SparkPlan = bug match {
    case "key_type" => withoutExchange(plan)(castOfKeys)
    case "full_outer_keys" => withoutExchange(plan)(joinKeys(_, _)(_ == FullOuter))
    case "null_extended_side" => withoutExchange(plan)(nullExtended)
    case "aggregate_filter_lost" => plan.transformUp {
      case aggregate: HashAggregateExec if aggregate.aggregateExpressions.forall(_.mode == Complete) =>
        aggregate.copy(aggregateExpressions = aggregate.aggregateExpressions.map(_.copy(filter = None)))
    }
    case "union_zipped_wrong" => plan.transformUp {
      case union: UnionExec if ColocatedPartitioning.of(union).isDefined =>
        union.copy(children = union.children.head +: union.children.tail.map(_.transformUp {
          case scan: ColocatedScanExec => scan.copy(evidence = scan.evidence.copy(table = WrongFiles.ZippedWrong))
        }))
    }
    case "sort_dropped" => plan.transformUp { case join: SortMergeJoinExec =>
      join.withNewChildren(join.children.map { case sort: SortExec => sort.child; case other => other })
    }
    case "deletion_vectors_ignored" => plan.transformUp {
      case FilterExec(condition, child) if condition.references.exists(_.name.startsWith("__delta_internal")) => child
    }
    case _ => plan
  }

  private def withoutExchange(plan: SparkPlan)(trusts: (SparkPlan, Seq[Expression]) => Boolean): SparkPlan =
    plan.transformUp {
      case ShuffleExchangeExec(HashPartitioning(keys, _), child, _, _) if trusts(child, keys) => child
    }

  private def castOfKeys(child: SparkPlan, keys: Seq[Expression]): Boolean = {
    val plain = keys.map { case cast: Cast => cast.child; case other => other }
    plain != keys && ColocatedPartitioning.of(child).exists(p => ColocatedPartitioning.sameKeys(p.expressions, plain))
  }

  private def joinKeys(child: SparkPlan, keys: Seq[Expression])(wanted: JoinType => Boolean): Boolean =
    joinBelow(child).exists { join =>
      wanted(join.joinType) && Seq(join.leftKeys, join.rightKeys).exists(ColocatedPartitioning.sameKeys(_, keys)) &&
      ColocatedPartitioning.of(join.left).isDefined
    }

  private def nullExtended(child: SparkPlan, keys: Seq[Expression]): Boolean = joinBelow(child).exists { join =>
    ColocatedPartitioning.of(join.left).isDefined && (join.joinType match {
      case LeftOuter => ColocatedPartitioning.sameKeys(join.rightKeys, keys)
      case RightOuter => ColocatedPartitioning.sameKeys(join.leftKeys, keys)
      case _ => false
    })
  }

  private def joinBelow(plan: SparkPlan): Option[ShuffledJoin] = plan match {
    case join: ShuffledJoin => Some(join)
    case _: ProjectExec | _: FilterExec | _: SortExec | _: HashAggregateExec | _: PlanningNode =>
      joinBelow(plan.children.head)
    case _ => None
  }
}
