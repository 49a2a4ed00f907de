package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.plans.physical.SinglePartition
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, ObjectHashAggregateExec}
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{DeserializeToObjectExec, MapPartitionsExec, SparkPlan}

/**
 * Matches: what a command collects about its tasks, where rows are grouped within the task:
 *
 *  - the count of rows that matched twice, one row from each task;
 *  - deletion vectors, one bitmap for each touched file. Stock Spark's shuffle brings them together too, and so they
 *    are written into one file; without it every task would write a small file of its own.
 *
 * Produces: the same rows from the driver, without a shuffle.
 * Not when: the bitmaps may be larger than a bound: then they are large enough for a file from each task.
 */
object GatherFewRows extends Rule[SparkPlan] {

  private val MaxBitmapBytes = 64L << 20
  private val BytesPerFile = 1024L

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case exchange @ ShuffleExchangeExec(SinglePartition, partial: BaseAggregateExec, _, _)
        if partial.groupingExpressions.isEmpty && groupsWithinTask(partial) =>
      gather(partial, exchange)
    case vectors @ MapPartitionsExec(_, _, objects: DeserializeToObjectExec) if groupsWithinTask(objects) =>
      vectors.withNewChildren(Seq(objects.withNewChildren(Seq(gatherBitmaps(objects.child)))))
  }

  private def gather(rows: SparkPlan, instead: SparkPlan): SparkPlan = {
    val gathered = GatherOnDriverExec(rows)
    gathered.copyTagsFrom(instead)
    gathered
  }

  private def gatherBitmaps(plan: SparkPlan): SparkPlan = plan match {
    case bitmaps: ObjectHashAggregateExec if bitmapBytes(bitmaps).exists(_ <= MaxBitmapBytes) =>
      gather(bitmaps, bitmaps)
    case _: BaseAggregateExec | _: Exchange | _: GatherOnDriverExec => plan
    case _ if plan.children.size == 1 => plan.withNewChildren(plan.children.map(gatherBitmaps))
    case _ => plan
  }

  private def groupsWithinTask(plan: SparkPlan): Boolean = plan match {
    case _: WithinTaskExec => true
    case _: Exchange | _: GatherOnDriverExec => false
    case _ => plan.children.size == 1 && groupsWithinTask(plan.children.head)
  }

  /** A roaring bitmap needs at most one bit for each row of the file. None where the rows are not known. */
  private def bitmapBytes(plan: SparkPlan): Option[Long] = {
    val targets = plan.collect {
      case scan: ColocatedScanExec if DeltaIndexes.isOfTransaction(scan.relation.location) => scan.relation.location
    }
    val rows = targets.flatMap(DeltaIndexes.countedFilesOf).map(_.rows)
    Option.when(targets.nonEmpty && rows.forall(_.isDefined))(rows.map(_.get / 8 + BytesPerFile).sum)
  }
}
