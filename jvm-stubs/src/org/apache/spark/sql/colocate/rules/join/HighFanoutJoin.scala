package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.expressions.{And, Expression, IsNotNull}
import org.apache.spark.sql.catalyst.plans.LeftExistence
import org.apache.spark.sql.colocate.evidence.delta.{DeltaKeyRange, DeltaRowCounts}
import org.apache.spark.sql.colocate.layout.BucketSource
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, NativeRowCounts}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec
import org.apache.spark.sql.execution.joins.SortMergeJoinExec
import org.apache.spark.sql.types.IntegralType

/**
 * Is most of a join's work to build its pairs of rows? A merge join keeps the rows of one key in the cache for all
 * rows with that key; a hash join fetches them from main memory for each. Only if the rows of both sides and the
 * possible values of the key are known: most keys are in few pairs, where a hash join is faster.
 */
private[colocate] object HighFanoutJoin {

  /** Pairs that cost as much as to sort one row. */
  private val PairsOfOneSort = 32

  def in(join: SortMergeJoinExec): Boolean = {
    val sides = Seq(join.left -> join.leftKeys, join.right -> join.rightKeys)
    makesPairs(join) && (for {
      left <- rows(join.left)
      right <- rows(join.right)
      // Last, because in the first query of a table it runs a job.
      values <- sides.flatMap { case (side, keys) => keyValues(side, keys) }.minOption
    } yield left * right / values > PairsOfOneSort * (left + right)).contains(true)
  }

  private def makesPairs(join: SortMergeJoinExec): Boolean = join.joinType match {
    case LeftExistence(_) => join.condition.isDefined
    case _ => true
  }

  private def keyValues(side: SparkPlan, keys: Seq[Expression]): Option[Double] =
    for {
      scan <- scanIn(side)
      key <- scan.keys.find(key => keys.size == 1 && key.semanticEquals(keys.head))
      if key.dataType.isInstanceOf[IntegralType]
      values <- scan.evidence.source match {
        case BucketSource.FileName => NativeRowCounts.keyValues(scan, scan.evidence, key.name)
        case _ => DeltaKeyRange.size(scan.relation.location, key.name)
      }
    } yield values

  private def rows(side: SparkPlan): Option[Double] = scanIn(side).flatMap(ofMember).orElse(shuffled(side))

  private def ofMember(scan: ColocatedScanExec): Option[Double] = scan.evidence.source match {
    case BucketSource.FileName => NativeRowCounts.all(scan, scan.evidence).map(_.toDouble)
    case _ =>
      DeltaRowCounts.byBucket(scan.relation.location, scan.buckets).map { ofBucket =>
        (0 until scan.buckets).map(ofBucket(_).rows).sum.toDouble
      }
  }

  private def scanIn(side: SparkPlan): Option[ColocatedScanExec] = side match {
    case scan: ColocatedScanExec => Some(scan)
    case FilterExec(condition, child) if keepsNearlyAll(condition) => scanIn(child)
    case _: ProjectExec | _: SortExec | _: InputAdapter | _: WholeStageCodegenExec | _: ColumnarToRowExec =>
      scanIn(side.children.head)
    case _ => None
  }

  /** Filters that the optimizer adds for the join. How many rows other filters keep is not known. */
  private def keepsNearlyAll(condition: Expression): Boolean = condition match {
    case And(left, right) => keepsNearlyAll(left) && keepsNearlyAll(right)
    case IsNotNull(_) => true
    case _ => false
  }

  private def shuffled(side: SparkPlan): Option[Double] = side match {
    case stage: ShuffleQueryStageExec if stage.isMaterialized => stage.getRuntimeStatistics.rowCount.map(_.toDouble)
    case _: ProjectExec | _: SortExec | _: InputAdapter | _: WholeStageCodegenExec => shuffled(side.children.head)
    case _ => None
  }
}
