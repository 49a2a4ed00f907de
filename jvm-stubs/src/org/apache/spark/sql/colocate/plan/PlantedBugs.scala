package org.apache.spark.sql.colocate.plan

import scala.collection.concurrent.TrieMap

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete
import org.apache.spark.sql.catalyst.plans.{FullOuter, JoinType, LeftOuter, RightOuter}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.layout.{BucketLayout, Evidence}
import org.apache.spark.sql.colocate.plan.partitioning.ColocatedPartitioning
import org.apache.spark.sql.colocate.plan.scan.{ColocatedScanExec, ReadMode}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.HashAggregateExec
import org.apache.spark.sql.execution.colocate.BufferedWrite
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.{ShuffledJoin, SortMergeJoinExec}
import org.apache.spark.sql.internal.SQLConf

/**
 * Wrong planners, for the fuzzer's own test: `./run fuzz --planted <name>` must find each of these. They are the
 * mistakes that this design could make and that others have shipped. Only where `spark.colocate.testing` is `true`
 * or `quiet` is there an ear for them.
 */
object PlantedBugs {

  val Key = "spark.colocate.testing.plantedBug"

  /** What each one gets wrong. */
  val catalogue: Seq[(String, String)] = Seq(
    "subset_key" -> "a join on k1 is taken for served by buckets of (k1, k2)",
    "key_order" -> "buckets of (a, b) and of (b, a) are taken for the same",
    "key_type" -> "a cast key is taken for hashed as the plain one",
    "wrong_divisor" -> "every table is read as 3 buckets, whether 3 divides their number or not",
    "full_outer_keys" -> "a full outer join is taken to keep the keys of one side",
    "null_extended_side" -> "an outer join is taken to keep the keys of the side that it extends by nulls",
    "bucket_twice" -> "the files of one bucket are read twice",
    "last_bucket_dropped" -> "the last bucket is not read",
    "other_snapshot" -> "the layout of the first snapshot seen is kept, and files outside of it are passed over",
    "wrong_bucket_pruned" -> "key = literal reads the bucket after the right one",
    "strays_ignored" -> "files without a bucket are passed over",
    "stray_twice" -> "strays are shuffled, and read with the first bucket too",
    "stray_unshuffled" -> "strays are read with the first bucket",
    "aggregate_filter_lost" -> "partial and final aggregate become one that forgets FILTER",
    "union_zipped_wrong" -> "bucket i of one child of a union meets bucket i + 1 of the other",
    "sort_dropped" -> "a merge join within buckets reads unsorted rows",
    "deletion_vectors_ignored" -> "rows that a deletion vector marks come back",
    "partition_filter_lost" -> "partitions that the query excludes are read",
    "full_outer_split" -> "a bucket of a full outer join is split, so its unmatched rows come out for each part",
    "extended_side_split" -> "the null-extended side of an outer join is split, or the right one of a semi or anti join",
    "expand_key_nulled" -> "grouping sets that leave the key out are taken to keep it",
    "preserved_side_pruned" -> "an outer or anti join's preserved side is pruned by the keys of the broadcast one",
    "both_sides_split" -> "both sides of a split bucket are read in parts, so parts miss their matches",
    "shared_groups_lost" -> "of an aggregate that is used several times, the groups that only another use keeps are lost",
    "kept_rows_lost" -> "a task of a shuffle loses the rows that it kept, where more come than it may keep")

  def names: Array[String] = catalogue.map(_._1).toArray

  private val seen = TrieMap.empty[String, BucketLayout]

  /** Is the planner wrong on purpose? */
  def isPlanted: Boolean = SQLConf.get.contains(Key) && Rewrite.isTest

  private def is(name: String): Boolean = isPlanted && SQLConf.get.getConfString(Key) == name

  /** The scan of a member, as it is planned. */
  def scan(scan: ColocatedScanExec): ColocatedScanExec =
    if (is("subset_key")) scan.copy(keys = scan.keys.take(1))
    else if (is("key_order")) scan.copy(keys = scan.keys.sortBy(_.name))
    else if (is("wrong_divisor")) scan.copy(mode = ReadMode.ByBucket(3))
    else if (is("other_snapshot")) withLayout(scan, seen.getOrElseUpdate(scan.evidence.table, scan.evidence.layout))
    else if (is("partition_filter_lost")) scan.copy(scan = scan.scan.copy(partitionFilters = Nil), partitionFilters = Nil)
    else scan

  private def withLayout(scan: ColocatedScanExec, layout: BucketLayout): ColocatedScanExec =
    scan.copy(evidence = scan.evidence.copy(layout = layout), mode = ReadMode.ByBucket(layout.buckets))

  /** The bucket of a key that a filter names. */
  def pruned(bucket: Int, buckets: Int): Int = if (is("wrong_bucket_pruned")) (bucket + 1) % buckets else bucket

  def anyCountDivides: Boolean = is("wrong_divisor")

  /** The files of known buckets, and the strays. */
  def sorted(
      known: Seq[(Int, PartitionedFile)],
      strays: Seq[PartitionedFile]): (Seq[(Int, PartitionedFile)], Seq[PartitionedFile]) =
    if (is("strays_ignored")) (known, Nil)
    else if (is("stray_twice")) (known ++ strays.map(0 -> _), strays)
    else if (is("stray_unshuffled")) (known ++ strays.map(0 -> _), Nil)
    else (known, strays)

  /** A file without a bucket in range goes unnoticed. */
  def passesOver: Boolean = is("strays_ignored") || is("other_snapshot")

  /** The tasks of a scan. */
  def tasks(tasks: Seq[FilePartition], evidence: Evidence): Seq[FilePartition] = {
    val files = tasks.map(_.files)
    if (is("bucket_twice")) numbered(files.map(f => f ++ (if (files.find(_.nonEmpty).contains(f)) f else Array.empty)))
    else if (is("last_bucket_dropped")) numbered(files.init :+ Array.empty[PartitionedFile])
    else if (evidence.table == ZippedWrong) numbered(files.last +: files.init)
    else tasks
  }

  /** Is this side of a join taken for one that may be split, although it is not? */
  def splitsAnySideOf(joinType: JoinType): Boolean =
    if (joinType == FullOuter) is("full_outer_split") else is("extended_side_split")

  /** Is a side whose rows stay without a match pruned by the other side's keys? */
  def prunesPreserved: Boolean = is("preserved_side_pruned")

  /** Do the projections of an Expand fill a column with the key, given which of them do? */
  def passes(each: Seq[Boolean]): Boolean = if (is("expand_key_nulled")) each.exists(identity) else each.forall(identity)

  /** Is a scan of a spread join read in parts? */
  def splits(rightly: Boolean): Boolean = rightly || is("both_sides_split")

  /** What the uses of a shared aggregate keep of its groups. */
  def ofAllUses(kept: Seq[Expression]): Seq[Expression] = if (is("shared_groups_lost")) kept.take(1) else kept

  /** How the tasks of a shuffle write. */
  def write(write: BufferedWrite): BufferedWrite =
    if (is("kept_rows_lost")) new BufferedWrite(write.metrics, write.limit) {
      override protected def kept(pairs: Iterator[BufferedWrite.Pair]): Seq[BufferedWrite.Pair] = {
        val first = super.kept(pairs)
        if (pairs.hasNext) Nil else first
      }
    }
    else write

  private def numbered(files: Seq[Array[PartitionedFile]]): Seq[FilePartition] =
    files.zipWithIndex.map { case (f, index) => FilePartition(index, f) }

  private val ZippedWrong = "zipped wrong"

  /** Not wrong rows, but a plan that is tuned badly: the query must run without it. */
  def fault(plan: SparkPlan): SparkPlan =
    if (!isPlanted || !plan.exists(_.isInstanceOf[ColocatedScanExec])) plan
    else if (is("tuning_fails")) throw new IllegalStateException("planted")
    else if (is("tuning_tells")) throw new ColocateException("PLANTED", "for the user")
    else if (is("tuning_is_invalid")) plan.transformUp { case exchange: ShuffleExchangeExec => exchange.child }
    else plan

  /** The whole plan, before and after it is tuned. */
  def plan(plan: SparkPlan): SparkPlan =
    if (is("key_type")) withoutExchange(plan)(castOfKeys)
    else if (is("full_outer_keys")) withoutExchange(plan)(joinKeys(_, _)(_ == FullOuter))
    else if (is("null_extended_side")) withoutExchange(plan)(nullExtended)
    else if (is("aggregate_filter_lost")) {
      plan.transformUp { case aggregate: HashAggregateExec if aggregate.aggregateExpressions.forall(_.mode == Complete) =>
        aggregate.copy(aggregateExpressions = aggregate.aggregateExpressions.map(_.copy(filter = None)))
      }
    } else if (is("union_zipped_wrong")) {
      plan.transformUp { case union: UnionExec if ColocatedPartitioning.of(union).isDefined =>
        union.copy(children = union.children.head +: union.children.tail.map(_.transformUp {
          case scan: ColocatedScanExec => scan.copy(evidence = scan.evidence.copy(table = ZippedWrong))
        }))
      }
    } else if (is("sort_dropped")) {
      plan.transformUp { case join: SortMergeJoinExec =>
        join.withNewChildren(join.children.map { case sort: SortExec => sort.child; case other => other })
      }
    } else if (is("deletion_vectors_ignored")) {
      plan.transformUp { case FilterExec(condition, child)
          if condition.references.exists(_.name.startsWith("__delta_internal")) => child
      }
    } else plan

  private def withoutExchange(plan: SparkPlan)(trusts: (SparkPlan, Seq[Expression]) => Boolean): SparkPlan =
    plan.transformUp { case ShuffleExchangeExec(HashPartitioning(keys, _), child, _, _) if trusts(child, keys) => child }

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
    case _: ProjectExec | _: FilterExec | _: SortExec | _: HashAggregateExec | _: PlanningNode => joinBelow(plan.children.head)
    case _ => None
  }
}
