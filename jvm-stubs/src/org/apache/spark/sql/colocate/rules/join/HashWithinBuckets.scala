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
 * Produces: a shuffled hash join whose build side surely fits in memory even in the largest task. Spark's hash join
 * fails when memory is short, where a merge join spills. The sorts of the merge join go; EnsureRequirements puts back
 * those that an operator above needs.
 * Not when: no build side surely fits, the keys can't be hashed, each row has very many partners, or a hint wants the
 * merge join.
 */
case class HashWithinBuckets(session: SparkSession) extends Rule[SparkPlan] with JoinSelectionHelper {

  override def apply(plan: SparkPlan): SparkPlan = {
    val bound = BuildSideBound(session)
    RerunEnsureRequirements.after(plan)(_.transformUp {
      case join: SortMergeJoinExec if !wantsMerge(join) && canHash(join) =>
        smallest(join, bound).filterNot(_ => HighFanoutJoin.in(join)).fold[SparkPlan](join)(hash(join, _))
    })
  }

  /** Texts that are equal under their collation may differ in their bytes. */
  private def canHash(join: SortMergeJoinExec): Boolean = hashJoinSupported(join.leftKeys, join.rightKeys)

  private def wantsMerge(join: SortMergeJoinExec): Boolean = join.logicalLink.exists {
    case logical: Join =>
      Seq(logical.hint.leftHint, logical.hint.rightHint).flatten.exists(_.strategy.contains(SHUFFLE_MERGE))
    case _ => false
  }

  /** The side to build from: among those that fit the budget the one of fewest rows, since each costs an insertion. */
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
    hashed.copyTagsFrom(join) // a transform would not, once there is a tag
    hashed.setTagValue(BucketHashJoinExec.IsBounded, ())
    hashed
  }
}
