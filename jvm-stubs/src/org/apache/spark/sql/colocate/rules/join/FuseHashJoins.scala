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
 * A hash join within buckets gets our own operator: one piece of generated code with the scan that it streams, and a
 * table made for long keys. The last rule of all, over plans that have their columnar transitions, so that every other
 * rule, AQE's too, sees the join that it knows.
 */
object FuseHashJoins extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = Rewrite.ofBuckets("FuseHashJoins", _)(plan =>
    if (isInGeneratedUnion(plan)) plan
    else plan.transformUp {
      case join: ShuffledHashJoinExec if join.children.exists(readsBuckets) => fused(join).getOrElse(join)
    }
  )

  /** A union with code of its own has one input for each child, and knows Spark's joins by name as those with two. */
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
    // For built rows without a partner, Spark's join has code of its own for its own table.
    Option.when(own.hasOwnTable || (one && !own.keepsBuilt)) {
      val made = own.buildSide match {
        case BuildLeft => own.copy(left = JoinInputExec(own.left), right = streamed(own.right, one))
        case BuildRight => own.copy(left = streamed(own.left, one), right = JoinInputExec(own.right))
      }
      made.copyTagsFrom(join)
      made
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
