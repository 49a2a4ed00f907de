package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Last, MaxBy}
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, RowTracking, SortedTags}
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.colocate.aggregate.AggregateRunsExec
import org.apache.spark.sql.execution.colocate.merge.MergeFilesExec
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}

/**
 * REPLACE takes the row with the greatest of Delta's row numbers. Where the files that are merged have a known order
 * (see SortedFiles), rows with equal keys can come in the order of these numbers, since a merge keeps the order of the
 * rows of a file. REPLACE then takes the last row, and no number is read.
 * Not where files have deletion vectors: Delta's reader needs a row's place in its file to leave it out.
 */
private[colocate] object LastLoads {

  /** @param runs an aggregate of merged files; comes back as it is if anything else needs the numbers */
  def of(runs: AggregateRunsExec): AggregateRunsExec = {
    val changed = for {
      project <- Option(runs.child).collect { case project: ProjectExec => project }
      merge <- project.collectFirst { case merge: MergeFilesExec => merge }
      number <- RowNumber.of(merge.scan)
      column <- project.projectList.collectFirst { case alias: Alias if number.isIn(alias.child) => alias }
      if haveOrder(merge)
      rows = project.copy(
        projectList = project.projectList.filterNot(_ eq column),
        child = project.child.transform {
          case one if one eq merge => merge.copy(byLoad = true, child = merge.scan.without(number.columns))
        })
      last = runs.copy(aggregates = runs.aggregates.map(lastOf(_, column.toAttribute)), child = rows)
      if !last.exists((node: SparkPlan) => node.missingInput.nonEmpty)
    } yield last
    changed.getOrElse(runs)
  }

  private def haveOrder(merge: MergeFilesExec): Boolean = {
    val sorted = SortedTags.filesOf(merge.scan.relation.location, merge.keys.map(_.name))
    merge.scan.selectedPartitions.toPartitionArray.groupBy(_.partitionValues).values
      .forall(files => sorted.haveOrder(files.toSeq))
  }

  private def lastOf(aggregate: AggregateExpression, number: Attribute): AggregateExpression =
    aggregate.copy(aggregateFunction = lastOf(aggregate.aggregateFunction, number))

  private def lastOf(function: AggregateFunction, number: Attribute): AggregateFunction = function match {
    case MaxBy(value, order: Attribute) if order.exprId == number.exprId => Last(value, ignoreNulls = false)
    case MaxBy(value, If(IsNotNull(tested), order: Attribute, Literal(null, _)))
        if order.exprId == number.exprId && tested.semanticEquals(value) => Last(value, ignoreNulls = true)
    case other => other
  }
}

/**
 * The columns from which Delta computes a row's number.
 *
 * @param kept  the number, where the row came from another file
 * @param first the number of the file's first row
 * @param place the row's place in the file, from 0
 */
private case class RowNumber(kept: Attribute, first: Attribute, place: Attribute) {

  def columns: AttributeSet = AttributeSet(Seq(kept, first, place))

  def isIn(value: Expression): Boolean = value match {
    case Coalesce(Seq(a: Attribute, Add(b: Attribute, c: Attribute, _))) =>
      Seq(a, b, c).map(_.exprId) == Seq(kept, first, place).map(_.exprId)
    case _ => false
  }
}

private object RowNumber {

  /** None if the scan does not read them, or marks deleted rows by their place. */
  def of(scan: ColocatedScanExec): Option[RowNumber] = for {
    keptName <- DeltaIndexes.propertiesOf(scan.relation).get(RowTracking.KeptRowIdColumn)
    kept <- scan.output.find(_.name == keptName)
    first <- scan.output.collectFirst {
      case FileSourceConstantMetadataAttribute(column) if column.name == RowTracking.FirstRowId => column
    }
    place <- scan.output.find(_.name == ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME)
    if !scan.output.exists(c => DeltaIndexes.isDeletionMark(c.name))
  } yield RowNumber(kept, first, place)
}
