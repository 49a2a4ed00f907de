package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.colocate.evidence.{BucketFile, BucketFiles}
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeLike, Exchange, ReusedExchangeExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/**
 * Parts of a plan down to the next Exchanges. All scans in such a part must be read by the same number of tasks,
 * because its operators combine their rows task by task. No operator above its top requires a distribution.
 */
private[colocate] object ExchangeFreeSubtrees {

  /** Applies `f` to the top of each such part. */
  def map(plan: SparkPlan)(f: SparkPlan => SparkPlan): SparkPlan = plan match {
    case _ if plan.children.isEmpty => plan
    case _: UsesBuckets => plan
    // In a write the number of the task is the bucket.
    case _: TaskIsBucket => plan.mapChildren(inside(_)(f))
    case exchange: Exchange => exchange.mapChildren(map(_)(f))
    case top if ByTask.meetsByTask(top) => f(top.mapChildren(inside(_)(f)))
    case other => other.mapChildren(map(_)(f))
  }

  private def inside(plan: SparkPlan)(f: SparkPlan => SparkPlan): SparkPlan = plan match {
    case exchange: Exchange => exchange.mapChildren(map(_)(f))
    case other => other.mapChildren(inside(_)(f))
  }

  /**
   * The scans of such a part, if all its rows come from buckets read by the same number of tasks, and none is a stray.
   */
  def scans(top: SparkPlan): Option[(Seq[ColocatedScanExec], Int)] =
    leaves(top).filter(_.forall(scan => isQuery(scan) && scan.strays.isEmpty)).flatMap { scans =>
      scans.map(_.mode).distinct match {
        case Seq(ReadMode.ByBucket(tasks)) => Some((scans, tasks))
        case _ => None
      }
    }

  private def leaves(plan: SparkPlan): Option[Seq[ColocatedScanExec]] = plan match {
    case scan: ColocatedScanExec => Some(Seq(scan))
    case _: BroadcastExchangeLike | _: BroadcastQueryStageExec => Some(Nil)
    case ReusedExchangeExec(_, _: BroadcastExchangeLike) => Some(Nil)
    case _: Exchange | _: QueryStageExec => None
    case _: UsesBuckets => None
    case leaf if leaf.children.isEmpty => None
    case other => all(other.children.map(leaves)).map(_.flatten)
  }

  /** Delta's commands group by row ids and write by bucket, each within its task: their tasks stay. */
  private def isQuery(scan: ColocatedScanExec): Boolean =
    !DeltaIndexes.isDeltaIndex(scan.relation.location) ||
      (DeltaIndexes.isPrepared(scan.relation.location) && !DeltaIndexes.inTransaction)

  /**
   * Do the scans below each join without a required distribution have the same tasks? Spark's ValidateRequirements
   * can't check that; a rule that changed one side alone would lose rows silently.
   */
  def aligned(plan: SparkPlan): Boolean = plan
    .collect { case join: ShuffledJoin if join.isSkewJoin => tasksOf(join).distinct }
    .forall(modes => modes.size <= 1 && !modes.contains(None))

  /** How the scans of such a part assign buckets to tasks; None for one that is not by bucket. */
  private def tasksOf(plan: SparkPlan): Seq[Option[Any]] = plan match {
    case scan: ColocatedScanExec => scan.mode match {
        case ReadMode.ByBucket(tasks) => Seq(Some(tasks))
        case ReadMode.ByShare(shares, _) => Seq(Some(shares))
        case ReadMode.ByFilledBucket | ReadMode.ByBytes => Seq(None)
      }
    case _: FileSourceScanExec => Seq(None)
    case _: Exchange | _: QueryStageExec => Nil
    case other => other.children.flatMap(tasksOf)
  }

  /** The files of a scan by bucket residue, see [[org.apache.spark.sql.colocate.partitioning.TaskSlices]]. */
  def files(scan: ColocatedScanExec, residues: Int): Option[Map[Int, Seq[BucketFile]]] =
    BucketFiles.of(scan.relation.location, scan.evidence, scan.partitionFilters).map { files =>
      files.filter(file => scan.optionalBucketSet.forall(_.get(file.bucket))).groupBy(_.bucket % residues)
    }

  def bytes(files: Map[Int, Seq[BucketFile]], residues: Int): Seq[Long] =
    (0 until residues).map(residue => files.get(residue).fold(0L)(_.map(_.bytes).sum))

  def all[A](options: Seq[Option[A]]): Option[Seq[A]] =
    if (options.forall(_.isDefined)) Some(options.flatten) else None
}
