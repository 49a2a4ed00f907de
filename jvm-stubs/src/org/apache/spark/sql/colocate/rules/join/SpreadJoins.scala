package org.apache.spark.sql.colocate.rules.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.BucketFile
import org.apache.spark.sql.colocate.partitioning.{TaskAssignment, TaskSlices}
import org.apache.spark.sql.colocate.rules.{ExchangeFreeSubtrees, PlanningNode, RerunEnsureRequirements}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, FileRange, ReadMode, RowGroups}
import org.apache.spark.sql.execution.joins.{
  BroadcastHashJoinExec, ShuffledHashJoinExec, ShuffledJoin, SortMergeJoinExec
}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * Matches: a join with a bucket that is much larger than the others, or with fewer buckets than cores.
 * Produces: several tasks for the large bucket: each reads a part of the files of one scan and all files that the other
 * scans have in that bucket. Small buckets share the remaining tasks.
 * Not when: the expected gain is small, the memory of a hash join might not suffice, or an operator above the join uses
 * its partitioning, which is lost.
 */
case class SpreadJoins(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = {
    val settings = SpreadSettings(session)
    if (!settings.enabled) plan
    else RerunEnsureRequirements.after(plan)(ExchangeFreeSubtrees.map(_) {
      case join: ShuffledJoin if join.leftKeys.nonEmpty =>
        SpreadableJoin(session, join, settings).spread.getOrElse(join)
      case other => other
    })
  }
}

/** A join with the whole part of the plan below it, down to the next Exchanges. */
private[colocate] case class SpreadableJoin(session: SparkSession, join: ShuffledJoin, settings: SpreadSettings) {
  /** An assignment, and the scan whose buckets it splits. */
  private type Assigned = (TaskAssignment, Option[ColocatedScanExec])

  def spread: Option[SparkPlan] =
    for {
      (scans, residues) <- ExchangeFreeSubtrees.scans(join)
      if residues > 1 && isPlain(join) && mayPay(scans, residues)
      files <- ExchangeFreeSubtrees.all(scans.map(ExchangeFreeSubtrees.files(_, residues)))
      sizes = scans.zip(files)
        .map { case (scan, of) => ResidueSizes(scan, of, ExchangeFreeSubtrees.bytes(of, residues)) }
      chosen <- choice(sizes)
    } yield chosen

  /** If the tables are too small to split and their tasks too few to be combined, no files are listed. */
  private def mayPay(scans: Seq[ColocatedScanExec], residues: Int): Boolean =
    !settings.isFew(residues) || settings.wantedBytes.isDefined ||
      scans.exists(_.relation.sizeInBytes >= 2 * settings.least)

  private def choice(sizes: Seq[ResidueSizes]): Option[SparkPlan] = {
    val all = sizes.map(_.bytes).transpose.map(_.sum)
    val before = TaskAssignment.byResidue(all)
    val small = settings.together(all.sum)
    val assignments = for {
      scan <- sizes if SplitSide.mayBe(scan.scan, join)
      target <- settings.targets(all.sum)
      pack <- Seq(Some(target.min(small)), None)
      assignment = TaskAssignment
        .spread(all, scan.bytes, scan.pieces(_, _), target, settings.least, settings.maxParts, pack)
      if assignment.shares.isSplit && isLittleWork(before, assignment)
    } yield (assignment, Option(scan.scan))
    val packed = TaskAssignment.packed(all, small)
    val fewer = Option.when(!settings.isFew(all.size) && packed.tasks <= all.size / 2)((packed, None))
    (best(before, assignments) ++ fewer).iterator
      .map { case (assignment, split) => (assignment, SpreadPlan(join, assignment.shares, split)) }
      .collectFirst {
        case (assignment, plan) if HashBound(session).holds(join, plan, assignment.shares.isPacked) => plan
      }
  }

  /** The shortest first, if it pays; among those of about the same length the one whose longest task is shortest. */
  private def best(before: TaskAssignment, assignments: Seq[Assigned]): Seq[Assigned] = {
    val least = assignments.map(_._1).map(time).minOption.getOrElse(0L)
    def late(assignment: TaskAssignment): Long = (time(assignment) - 1.1 * least).toLong.max(0)
    if (!pays(least, before)) Nil
    else assignments
      .filter { case (assignment, _) => late(assignment) == 0 || pays(time(assignment), before) }
      .sortBy { case (assignment, _) => (late(assignment), assignment.bytes.max, assignment.tasks) }
  }

  private def time(assignment: TaskAssignment): Long = assignment.makespan(settings.cores, settings.taskCost)

  /** It saves a fifth of the time, because sizes are estimates; or the user wants it. */
  private def pays(time: Long, before: TaskAssignment): Boolean =
    settings.wantedBytes.isDefined || time <= 0.8 * this.time(before)

  /** At most one and a half times the work, or the user wants it. */
  private def isLittleWork(before: TaskAssignment, after: TaskAssignment): Boolean =
    settings.wantedBytes.isDefined || after.work <= 1.5 * before.work

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

/** What a scan reads of each bucket residue, and how the files of a residue can be cut. */
private[colocate] case class ResidueSizes(
    scan: ColocatedScanExec,
    files: Map[Int, Seq[BucketFile]],
    bytes: Seq[Long]) {

  private lazy val rowGroups = RowGroups(scan.relation)

  private val ranges = mutable.HashMap.empty[Int, Seq[FileRange]]

  /** As BucketedFiles cuts them. */
  def pieces(residue: Int, parts: Int): Seq[Long] =
    rowGroups.turns(ranges.getOrElseUpdate(residue, cut(residue)), parts).flatten.map(_.work)

  private def cut(residue: Int): Seq[FileRange] =
    files.getOrElse(residue, Nil).flatMap(file => rowGroups.ranges(file.path, file.bytes))
}

/** The plan with other tasks. */
private[colocate] object SpreadPlan {

  def apply(plan: SparkPlan, shares: TaskSlices, split: Option[ColocatedScanExec]): SparkPlan =
    joins(JoinSides.readBy(plan)(scan => ReadMode.ByShare(shares, split.exists(_ eq scan))))

  /** `isSkewJoin` is Spark's own mark of a join without a required distribution, whose sides have matching tasks. */
  private def joins(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: SortMergeJoinExec => join.copy(isSkewJoin = true)
    case join: ShuffledHashJoinExec => join.copy(isSkewJoin = true)
  }
}

/**
 * A hash join's build side must fit its task's memory as before, or surely. Without a bound, residues are not combined.
 */
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
