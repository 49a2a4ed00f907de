package org.apache.spark.sql.colocate.rules.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.BucketFile
import org.apache.spark.sql.colocate.partitioning.{TaskAssignment, TaskSlices}
import org.apache.spark.sql.colocate.rules.{ExchangeFreeSubtrees, PlanningNode, RerunEnsureRequirements}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, FileRange, ReadMode, RowGroups}
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, ShuffledHashJoinExec, ShuffledJoin, SortMergeJoinExec}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * A bucket that is much larger than the others, or too few buckets for the cores, is split over several tasks: each
 * reads a part of one scan's files and repeats the other scans' files of that bucket. Small buckets share the tasks
 * that are left. It ends the layout above the join, so only a region whose top is a join is spread (design D9).
 */
case class SpreadJoins(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = {
    val settings = SpreadSettings(session)
    if (!settings.enabled) plan
    else RerunEnsureRequirements.after(plan)(ExchangeFreeSubtrees.map(_) {
      case join: ShuffledJoin if join.leftKeys.nonEmpty => SpreadRegion(session, join, settings).spread.getOrElse(join)
      case other => other
    })
  }
}

/** One join with all that it joins. */
private[colocate] case class SpreadRegion(session: SparkSession, join: ShuffledJoin, settings: SpreadSettings) {

  def spread: Option[SparkPlan] =
    for {
      (scans, cells) <- ExchangeFreeSubtrees.scans(join)
      if cells > 1 && isPlain(join) && mayPay(scans, cells)
      files <- ExchangeFreeSubtrees.all(scans.map(ExchangeFreeSubtrees.files(_, cells)))
      sizes = scans.zip(files).map { case (scan, of) => CellSizes(scan, of, ExchangeFreeSubtrees.bytes(of, cells)) }
      chosen <- choice(sizes)
    } yield chosen

  /** Nothing is listed for a join whose tables are too small to be split and too few to be read together. */
  private def mayPay(scans: Seq[ColocatedScanExec], cells: Int): Boolean =
    !settings.isFew(cells) || settings.asked.isDefined || scans.exists(_.relation.sizeInBytes >= 2 * settings.least)

  private def choice(sizes: Seq[CellSizes]): Option[SparkPlan] = {
    val all = sizes.map(_.bytes).transpose.map(_.sum)
    val before = TaskAssignment.byCell(all)
    val small = settings.together(all.sum)
    val deals = for {
      scan <- sizes if SplitSide.mayBe(scan.scan, join)
      target <- settings.targets(all.sum)
      pack <- Seq(Some(target.min(small)), None)
      deal = TaskAssignment.spread(all, scan.bytes, scan.pieces(_, _), target, settings.least, settings.maxParts, pack)
      if deal.shares.isSplit && isLittleWork(before, deal)
    } yield (deal, Option(scan.scan))
    val packed = TaskAssignment.packed(all, small)
    val fewer = Option.when(!settings.isFew(all.size) && packed.tasks <= all.size / 2)((packed, None))
    (best(before, deals) ++ fewer).iterator
      .map { case (deal, split) => (deal, SpreadPlan(join, deal.shares, split)) }
      .collectFirst { case (deal, plan) if HashBound(session).holds(join, plan, deal.shares.isPacked) => plan }
  }

  /** If the shortest pays, the shortest first; of those that take about as long, the one without a long task. */
  private def best(before: TaskAssignment, deals: Seq[(TaskAssignment, Option[ColocatedScanExec])]): Seq[(TaskAssignment, Option[ColocatedScanExec])] = {
    val least = deals.map(_._1).map(time).minOption.getOrElse(0L)
    def late(deal: TaskAssignment): Long = (time(deal) - 1.1 * least).toLong.max(0)
    if (!pays(least, before)) Nil
    else deals
      .filter { case (deal, _) => late(deal) == 0 || pays(time(deal), before) }
      .sortBy { case (deal, _) => (late(deal), deal.bytes.max, deal.tasks) }
  }

  private def time(deal: TaskAssignment): Long = deal.makespan(settings.cores, settings.taskCost)

  /** A fifth less time, sizes being estimates, or the user wants it. */
  private def pays(time: Long, before: TaskAssignment): Boolean = settings.asked.isDefined || time <= 0.8 * this.time(before)

  /** At most half as much work again, or the user wants it. */
  private def isLittleWork(before: TaskAssignment, after: TaskAssignment): Boolean = settings.asked.isDefined || after.work <= 1.5 * before.work

  /** Only operators that treat a bucket's rows one by one or join them, and nothing that depends on the task. */
  private def isPlain(plan: SparkPlan): Boolean = plan.expressions.forall(_.deterministic) && (plan match {
    case _: ColocatedScanExec => true
    case broadcast: BroadcastHashJoinExec => isPlain(JoinSides.streamed(broadcast))
    case shuffled: ShuffledJoin => !shuffled.isSkewJoin && shuffled.children.forall(isPlain)
    case _: ProjectExec | _: FilterExec | _: PlanningNode => plan.children.forall(isPlain)
    case SortExec(_, false, child, _) => isPlain(child)
    case _ => false
  })
}

/** What a scan reads of each cell, and how its files of a cell can be cut. */
private[colocate] case class CellSizes(
    scan: ColocatedScanExec,
    files: Map[Int, Seq[BucketFile]],
    bytes: Seq[Long]) {

  private lazy val rowGroups = RowGroups(scan.relation)

  private val ranges = mutable.HashMap.empty[Int, Seq[FileRange]]

  /** As BucketedFiles cuts them. */
  def pieces(cell: Int, parts: Int): Seq[Long] =
    rowGroups.turns(ranges.getOrElseUpdate(cell, cut(cell)), parts).flatten.map(_.work)

  private def cut(cell: Int): Seq[FileRange] =
    files.getOrElse(cell, Nil).flatMap(file => rowGroups.ranges(file.path, file.bytes))
}

/** The region's plan with new shares. */
private[colocate] object SpreadPlan {

  def apply(plan: SparkPlan, shares: TaskSlices, split: Option[ColocatedScanExec]): SparkPlan =
    joins(JoinSides.readBy(plan)(scan => ReadMode.ByShare(shares, split.exists(_ eq scan))))

  /** Spark's own mark of a join that asks for no distribution, because its children were dealt out together. */
  private def joins(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: SortMergeJoinExec => join.copy(isSkewJoin = true)
    case join: ShuffledHashJoinExec => join.copy(isSkewJoin = true)
  }
}

/** A hash join's build side must fit its task's memory as before, or surely. Without a bound, cells stay as they are. */
private[colocate] case class HashBound(session: SparkSession) {

  private val bound = BuildSideBound(session)

  def holds(before: SparkPlan, after: SparkPlan, packed: Boolean): Boolean =
    !packed || builds(before).zip(builds(after)).forall {
      case (Some(old), Some(bytes)) => bytes <= bound.budget.max(old)
      case _ => false
    }

  private def builds(plan: SparkPlan): Seq[Option[Long]] = plan.collect { case join: ShuffledHashJoinExec =>
    bound.ofLargestTask(JoinSides.unsorted(JoinSides.built(join)), join.leftKeys.size).map(_.bytes)
  }
}
