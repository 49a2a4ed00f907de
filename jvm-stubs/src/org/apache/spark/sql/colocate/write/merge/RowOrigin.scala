package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.colocate.rules.PlanningNode
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, Inlined}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.execution.joins._

/**
 * Proves that rows of different tasks have different values in a column. The column must be computed in the same
 * stage, as
 *
 *  1. `monotonically_increasing_id()`: the upper bits are the number of the task, so no two tasks give the same value,
 *     or
 *  2. the name of the scanned file, by `input_file_name()` or `_metadata.file_path`, over a colocated scan, which gives
 *     every file whole to one task (stock Spark's splits large ones),
 *
 * and on the way up its row may only be kept, dropped or matched with others in its own task. So an Exchange ends the
 * proof, and in a join the side that is repeated (broadcast, cartesian) or filled with nulls: one target row's matches
 * would be counted in several tasks, each time as one, and MERGE's "multiple source rows matched" would be lost.
 */
sealed trait RowOrigin

object RowOrigin {

  case object RowId extends RowOrigin
  case object ScannedFile extends RowOrigin

  /** None: rows with equal values of the column may be in several tasks. */
  def of(column: Expression, plan: SparkPlan): Option[RowOrigin] = plan match {
    case ProjectExec(list, child) => madeBy(Inlined(column, list), child)
    case _: FilterExec | _: SortExec | _: WithinTaskExec | _: PlanningNode => of(column, plan.children.head)
    case join: BaseJoinExec => throughJoin(column, join)
    case scan: ColocatedScanExec if scan.readsWholeFiles && isFilePath(column, scan) => Some(ScannedFile)
    case _ => None
  }

  private def madeBy(made: Expression, child: SparkPlan): Option[RowOrigin] = made match {
    case _: MonotonicallyIncreasingID => Some(RowId)
    case _: InputFileName => Option.when(scansWholeFiles(child))(ScannedFile)
    case other => of(other, child)
  }

  private def scansWholeFiles(plan: SparkPlan): Boolean = plan match {
    case _: ProjectExec | _: FilterExec | _: ColumnarToRowExec => scansWholeFiles(plan.children.head)
    case scan: ColocatedScanExec => scan.readsWholeFiles
    case _ => false
  }

  private def isFilePath(column: Expression, scan: ColocatedScanExec): Boolean = column match {
    case a: Attribute =>
      scan.fileConstantMetadataColumns.exists(c => c.exprId == a.exprId && c.name == FileFormat.FILE_PATH)
    case _ => false
  }

  private def throughJoin(column: Expression, join: BaseJoinExec): Option[RowOrigin] = {
    val followed = keyOfOtherSide(column, join).getOrElse(column)
    val sides = Seq(BuildLeft -> join.left, BuildRight -> join.right)
    sides.find { case (_, plan) => followed.references.subsetOf(plan.outputSet) }.flatMap { case (side, plan) =>
      if (keepsRows(side, join)) of(followed, plan) else None
    }
  }

  /**
   * The right key of a left join is the left key or null. Delta takes the path of a file from such a join with its list
   * of files, and fails by itself on a null.
   */
  private def keyOfOtherSide(column: Expression, join: BaseJoinExec): Option[Expression] =
    Option.when(join.joinType == LeftOuter)(join.rightKeys.indexWhere(_.semanticEquals(column)))
      .filter(_ >= 0)
      .map(join.leftKeys)

  private def keepsRows(side: BuildSide, join: BaseJoinExec): Boolean = join match {
    case _ if !isPreserved(side, join.joinType) => false
    case _: ShuffledJoin => true
    case hash: BroadcastHashJoinExec => hash.buildSide != side
    case loop: BroadcastNestedLoopJoinExec => loop.buildSide != side
    case _ => false
  }

  private def isPreserved(side: BuildSide, joinType: JoinType): Boolean = joinType match {
    case _: InnerLike => true
    case LeftOuter | LeftExistence(_) => side == BuildLeft
    case RightOuter => side == BuildRight
    case _ => false
  }
}
