package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.compat.GeneratedUnions
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.joins.colocate.{BucketHashJoinExec, JoinInputExec}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, ShuffledHashJoinExec}

/**
 * Matches: a shuffled hash join within buckets.
 * Produces: a join operator of ours: its code is generated together with the scan of the streamed side, and its hash
 * table is made for long keys. This is the last rule, after the columnar transitions, so that every other rule, also
 * those of AQE, sees Spark's own join.
 * Not when: the keys don't fit the table and the streamed side does not fit into one piece of generated code, or a
 * union with generated code is in the plan.
 */
object FuseHashJoins extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = Rewrite.ofBuckets("FuseHashJoins", _)(plan =>
    if (isInGeneratedUnion(plan)) plan
    else plan.transformUp {
      case join: ShuffledHashJoinExec if join.children.exists(readsBuckets) => fused(join).getOrElse(join)
    }
  )

  /** A union with generated code counts the inputs of its children, and takes only Spark's own joins for two inputs. */
  private def isInGeneratedUnion(plan: SparkPlan): Boolean =
    GeneratedUnions.areOn(plan.conf) && plan.exists(_.isInstanceOf[UnionExec])

  private def readsBuckets(plan: SparkPlan): Boolean = plan match {
    case _: ColocatedScanExec => true
    case _: Exchange => false
    case _ => plan.children.exists(readsBuckets)
  }

  private def fused(join: ShuffledHashJoinExec): Option[SparkPlan] = {
    val one = isOneInput(JoinSides.streamed(join))
    val own = BucketHashJoinExec.of(join)
    // For built rows without a partner, Spark's join has code for its own table only.
    Option.when(own.hasOwnTable || (one && !own.keepsBuilt)) {
      own.buildSide match {
        case BuildLeft => own.copy(left = JoinInputExec(own.left), right = streamed(own.right, one))
        case BuildRight => own.copy(left = streamed(own.left, one), right = JoinInputExec(own.right))
      }
    }
  }

  private def streamed(side: SparkPlan, one: Boolean): SparkPlan = if (one) side else JoinInputExec(side)

  /** Generated code has room for two inputs, and the build side is one. */
  private def isOneInput(plan: SparkPlan): Boolean = plan match {
    case _: ColocatedScanExec => true
    case _: ProjectExec | _: FilterExec | _: ColumnarToRowExec => isOneInput(plan.children.head)
    case join: BroadcastHashJoinExec => isOneInput(JoinSides.streamed(join))
    case _ => false
  }
}
