package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Join, SHUFFLE_MERGE}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.colocate.BucketHashJoinExec
import org.apache.spark.sql.execution.joins.{ShuffledHashJoinExec, SortMergeJoinExec}

/**
 * Matches: a sort-merge join over buckets.
 * Produces: a shuffled hash join, without the sorts of the merge join; EnsureRequirements puts back those that an
 * operator above needs. Spark's hash join fails when memory is short, while a merge join spills. So an upper bound for
 * the build side, in the largest task, must be within the memory budget of a task.
 * Not when: neither side has such a bound, the keys can't be hashed, a row matches very many rows of the other side, or
 * a hint asks for the merge join.
 */
case class HashWithinBuckets(session: SparkSession) extends Rule[SparkPlan] with JoinSelectionHelper {

  override def apply(plan: SparkPlan): SparkPlan = {
    val bound = BuildSideBound(session)
    RerunEnsureRequirements.after(plan)(_.transformUp {
      case join: SortMergeJoinExec if !wantsMerge(join) && canHash(join) =>
        smallest(join, bound).filterNot(_ => HighFanoutJoin.in(join)).fold[SparkPlan](join)(hash(join, _))
    })
  }

  /** Not by strings with a collation under which equal strings may have different bytes. */
  private def canHash(join: SortMergeJoinExec): Boolean = hashJoinSupported(join.leftKeys, join.rightKeys)

  private def wantsMerge(join: SortMergeJoinExec): Boolean = join.logicalLink.exists {
    case logical: Join =>
      Seq(logical.hint.leftHint, logical.hint.rightHint).flatten.exists(_.strategy.contains(SHUFFLE_MERGE))
    case _ => false
  }

  /** The build side: of those within the budget the one with fewer rows, because each row is inserted in the table. */
  private def smallest(join: SortMergeJoinExec, bound: BuildSideBound): Option[BuildSide] = {
    val left = Option.when(canBuildShuffledHashJoinLeft(join.joinType))(join.left -> BuildLeft)
    val right = Option.when(canBuildShuffledHashJoinRight(join.joinType))(join.right -> BuildRight)
    val fitting = for {
      (child, side) <- Seq(right, left).flatten
      most <- bound.ofLargestTask(JoinSides.unsorted(child), keyCount = join.leftKeys.size)
      if most.bytes <= bound.budget
    } yield (most.rows, most.bytes) -> side
    fitting.minByOption(_._1).map(_._2)
  }

  private def hash(join: SortMergeJoinExec, side: BuildSide): SparkPlan = {
    val hashed = ShuffledHashJoinExec(
      join.leftKeys,
      join.rightKeys,
      join.joinType,
      side,
      join.condition,
      JoinSides.unsorted(join.left),
      JoinSides.unsorted(join.right),
      join.isSkewJoin)
    hashed.copyTagsFrom(join) // transformUp copies no tags to a node that already has one, as this one below
    hashed.setTagValue(BucketHashJoinExec.IsBounded, ())
    hashed
  }
}
