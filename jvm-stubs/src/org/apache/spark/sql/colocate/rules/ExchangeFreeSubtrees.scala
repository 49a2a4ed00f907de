package org.apache.spark.sql.colocate.rules

import org.apache.spark.sql.colocate.evidence.delta.DeltaReflection
import org.apache.spark.sql.colocate.evidence.{BucketFile, BucketFiles}
import org.apache.spark.sql.colocate.rules.scan.{DisableUnnecessaryColocatedScan, UsesBuckets}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ReadMode}
import org.apache.spark.sql.colocate.write.BucketedWriteExec
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeLike, Exchange, ReusedExchangeExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

/**
 * A region: the part of a plan, down to the next Exchange, whose scans must be read alike because its operators meet
 * their rows task by task. Nothing above its top asks for a distribution.
 */
private[colocate] object ExchangeFreeSubtrees {

  /** Applies `f` to the top of every region. */
  def map(plan: SparkPlan)(f: SparkPlan => SparkPlan): SparkPlan = plan match {
    case _ if plan.children.isEmpty => plan
    case _: UsesBuckets => plan
    // Task and bucket of a write are one number.
    case write: BucketedWriteExec => write.mapChildren(inside(_)(f))
    case exchange: Exchange => exchange.mapChildren(map(_)(f))
    case top if DisableUnnecessaryColocatedScan.meetsByTask(top) => f(top.mapChildren(inside(_)(f)))
    case other => other.mapChildren(map(_)(f))
  }

  private def inside(plan: SparkPlan)(f: SparkPlan => SparkPlan): SparkPlan = plan match {
    case exchange: Exchange => exchange.mapChildren(map(_)(f))
    case other => other.mapChildren(inside(_)(f))
  }

  /** The region's scans, if all its rows come from buckets that are read by the same number of tasks, and no strays. */
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

  /** Delta's commands group by row ids and write by bucket, each within its task (traps S1.7): their tasks stay. */
  private def isQuery(scan: ColocatedScanExec): Boolean =
    !DeltaReflection.isDeltaIndex(scan.relation.location) ||
      (DeltaReflection.isPrepared(scan.relation.location) && !DeltaReflection.inTransaction)

  /**
   * Are the scans below every join that asks for nothing dealt out alike? Spark's ValidateRequirements can't tell, so
   * this belongs to it: a rule that changed one side alone would lose rows silently.
   */
  def aligned(plan: SparkPlan): Boolean = plan
    .collect { case join: ShuffledJoin if join.isSkewJoin => dealt(join).distinct }
    .forall(modes => modes.size <= 1 && !modes.contains(None))

  /** How the file scans of a region are dealt out; None for one that is not by bucket. */
  private def dealt(plan: SparkPlan): Seq[Option[Any]] = plan match {
    case scan: ColocatedScanExec => scan.mode match {
        case ReadMode.ByBucket(tasks) => Seq(Some(tasks))
        case ReadMode.ByShare(shares, _) => Seq(Some(shares))
        case ReadMode.ByFilledBucket | ReadMode.ByBytes => Seq(None)
      }
    case _: FileSourceScanExec => Seq(None)
    case _: Exchange | _: QueryStageExec => Nil
    case other => other.children.flatMap(dealt)
  }

  /** The files of a scan by cell. */
  def files(scan: ColocatedScanExec, cells: Int): Option[Map[Int, Seq[BucketFile]]] =
    BucketFiles.of(scan.relation.location, scan.evidence, scan.partitionFilters).map { files =>
      files.filter(file => scan.optionalBucketSet.forall(_.get(file.bucket))).groupBy(_.bucket % cells)
    }

  def bytes(files: Map[Int, Seq[BucketFile]], cells: Int): Seq[Long] =
    (0 until cells).map(cell => files.get(cell).fold(0L)(_.map(_.bytes).sum))

  def all[A](options: Seq[Option[A]]): Option[Seq[A]] =
    if (options.forall(_.isDefined)) Some(options.flatten) else None
}
