package org.apache.spark.sql.colocate.rules.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.BucketFile
import org.apache.spark.sql.colocate.partitioning.{TaskAssignment, TaskSlices}
import org.apache.spark.sql.colocate.rules.{PlanningNode, RerunEnsureRequirements}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, ExchangeFreeSubtrees, FileRange, ReadMode, RowGroups}
import org.apache.spark.sql.execution.joins.{
  BroadcastHashJoinExec, ShuffledHashJoinExec, ShuffledJoin, SortMergeJoinExec
}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * Matches: a join with a bucket that is much larger than the others, with fewer buckets than cores, or with many small
 * buckets.
 * Produces: several tasks for the large bucket: each reads a part of the files of one scan, and all files that the
 * other scans have in that bucket. Small buckets share tasks.
 * Not when: the expected gain is small, the memory of a hash join might not suffice, the part of the plan has other
 * operators than joins, filters, projections and sorts, or an operator above requires the join's output partitioning,
 * which is lost.
 *
 * A scan may read several buckets in one task (see ReadMode.ByBucket). What one such task reads is called a residue
 * here, see [[TaskSlices]].
 */
case class SpreadJoins(session: SparkSession) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = {
    val settings = SpreadSettings(session)
    RerunEnsureRequirements.after(plan)(ExchangeFreeSubtrees.map(_) {
      case join: ShuffledJoin if join.leftKeys.nonEmpty =>
        SpreadableJoin(session, join, settings).spread.getOrElse(join)
      case other => other
    })
  }
}

/** A join, with the operators below it down to the next Exchanges. */
private[colocate] case class SpreadableJoin(session: SparkSession, join: ShuffledJoin, settings: SpreadSettings) {
  /** An assignment of residues to tasks, and the scan whose files it splits, if any. */
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

  /** If false, no files are listed: the tables are too small to split, and have too few tasks to combine. */
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

  /**
   * Sorted by estimated run time. Those that take at most a tenth longer than the shortest count as equal to it, and
   * are sorted by their largest task. Empty if even the shortest saves too little.
   */
  private def best(before: TaskAssignment, assignments: Seq[Assigned]): Seq[Assigned] = {
    val least = assignments.map(_._1).map(time).minOption.getOrElse(0L)
    def late(assignment: TaskAssignment): Long = (time(assignment) - 1.1 * least).toLong.max(0)
    if (!pays(least, before)) Nil
    else assignments
      .filter { case (assignment, _) => late(assignment) == 0 || pays(time(assignment), before) }
      .sortBy { case (assignment, _) => (late(assignment), assignment.bytes.max, assignment.tasks) }
  }

  private def time(assignment: TaskAssignment): Long = assignment.makespan(settings.cores, settings.taskCost)

  /** Does it save a fifth of the estimated time, which is not exact? Not asked if the user has set a task size. */
  private def pays(time: Long, before: TaskAssignment): Boolean =
    settings.wantedBytes.isDefined || time <= 0.8 * this.time(before)

  /** Are at most 1.5 times as many bytes read as before? Not asked if the user has set a task size. */
  private def isLittleWork(before: TaskAssignment, after: TaskAssignment): Boolean =
    settings.wantedBytes.isDefined || after.work <= 1.5 * before.work

  /** Has the plan only operators that handle rows one by one or join them, and deterministic expressions? */
  private def isPlain(plan: SparkPlan): Boolean = plan.expressions.forall(_.deterministic) && (plan match {
    case _: ColocatedScanExec => true
    case broadcast: BroadcastHashJoinExec => isPlain(JoinSides.streamed(broadcast))
    case shuffled: ShuffledJoin => !shuffled.isSkewJoin && shuffled.children.forall(isPlain)
    case _: ProjectExec | _: FilterExec | _: PlanningNode => plan.children.forall(isPlain)
    case SortExec(_, false, child, _) => isPlain(child)
    case _ => false
  })
}

/** The files and bytes that a scan reads for each residue, and the pieces into which these files can be cut. */
private[colocate] case class ResidueSizes(
    scan: ColocatedScanExec,
    files: Map[Int, Seq[BucketFile]],
    bytes: Seq[Long]) {

  private lazy val rowGroups = RowGroups(scan.relation)

  private val ranges = mutable.HashMap.empty[Int, Seq[FileRange]]

  /** The work of each piece when the files of a residue are cut for `parts` tasks, as BucketedFiles will cut them. */
  def pieces(residue: Int, parts: Int): Seq[Long] =
    rowGroups.turns(ranges.getOrElseUpdate(residue, cut(residue)), parts).flatten.map(_.work)

  private def cut(residue: Int): Seq[FileRange] =
    files.getOrElse(residue, Nil).flatMap(file => rowGroups.ranges(file.path, file.bytes))
}

/** The plan whose scans read by `shares`; `split` is the scan whose files are split. */
private[colocate] object SpreadPlan {

  def apply(plan: SparkPlan, shares: TaskSlices, split: Option[ColocatedScanExec]): SparkPlan =
    joins(JoinSides.readBy(plan)(scan => ReadMode.ByShare(shares, split.exists(_ eq scan))))

  /** With `isSkewJoin`, a join of Spark's requires no distribution; task i of one side joins task i of the other. */
  private def joins(plan: SparkPlan): SparkPlan = plan.transformUp {
    case join: SortMergeJoinExec => join.copy(isSkewJoin = true)
    case join: ShuffledHashJoinExec => join.copy(isSkewJoin = true)
  }
}

/**
 * If residues share tasks, the build side of each hash join must fit into the budget of a task, or not be larger
 * than before. If there is no upper bound for a build side, residues do not share tasks.
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
