package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{
  AppendData, LogicalPlan, OverwriteByExpression, Project, V2WriteCommand
}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic.{DataFrame => ClassicDataFrame, SparkSession, Strategy}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.colocate.declared.{RowModel, RowModels}
import org.apache.spark.sql.colocate.compat.delta.TaggedLoads
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.write.{V1Write, Write}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.sources.InsertableRelation

/** Which plans of writes give each file's rows in the order of the table's key columns. */
private[colocate] object SortedLoads {

  private val Sorted = TreeNodeTag[Unit]("colocate.sortedByKeys")

  def mark(rows: LogicalPlan, order: FileOrder): LogicalPlan = {
    if (order.isByAllKeys) rows.setTagValue(Sorted, ())
    rows
  }

  def isMarked(query: LogicalPlan): Boolean = query match {
    case Project(_, rows) => isMarked(rows)
    case rows => rows.getTagValue(Sorted).isDefined
  }
}

/**
 * Matches: INSERT, and INSERT OVERWRITE of the whole table, into a table with AGGREGATE KEY or UNIQUE KEY.
 * Produces: the same write, whose files get a tag in Delta's log, if their rows are sorted by all key columns (see
 * SortedTags). Queries then merge the files instead of looking up each row's key.
 * Not when: the write has options that remove files, such as replaceWhere; or the query lacks a key or a partition
 * column.
 */
case class TagSortedLoads(session: SparkSession) extends Strategy {

  /** Options that change nothing about which files a write removes. */
  private val plainOptions = Set("mergeSchema", "optimizeWrite", "userMetadata", "txnAppId", "txnVersion")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] =
    if (!RuleTable.isActive("TagSortedLoads")) Nil
    else plan match {
      case append: AppendData =>
        planned(append, append.write, append.writeOptions, SaveMode.Append)(load => append.copy(write = Some(load)))
      case all: OverwriteByExpression if all.deleteExpr == Literal.TrueLiteral =>
        planned(all, all.write, all.writeOptions, SaveMode.Overwrite)(load => all.copy(write = Some(load)))
      case _ => Nil
    }

  private def planned(plan: V2WriteCommand, write: Option[Write], options: Map[String, String], mode: SaveMode)(
      changed: Write => LogicalPlan): Seq[SparkPlan] =
    Rewrite.strategy("TagSortedLoads", session, this, plan) {
      val load = (plan.table, write) match {
        case (_, Some(_: SortedLoad)) => None
        case (relation: DataSourceV2Relation, Some(inner: V1Write))
            if DeltaTables.isDelta(relation.table) && options.keys.forall(isPlain) =>
          RowModels().of(relation.table).map(new SortedLoad(session, inner, relation.table, mode, options, _))
        case _ => None
      }
      load.map(changed).map(planLater(_)).toSeq
    }

  private def isPlain(option: String): Boolean = plainOptions.exists(_.equalsIgnoreCase(option))
}

/** A write into a Delta table that tags its files, if their rows turn out to be sorted. */
private class SortedLoad(
    session: SparkSession, inner: V1Write, table: Table, mode: SaveMode, options: Map[String, String], model: RowModel)
    extends V1Write {

  override def toString: String = "SortedLoad"

  override def toInsertableRelation(): InsertableRelation = new InsertableRelation {
    override def insert(data: DataFrame, overwrite: Boolean): Unit =
      if (SortedLoads.isMarked(data.asInstanceOf[ClassicDataFrame].queryExecution.analyzed)) {
        TaggedLoads.run(session, table, mode, model.loadTags, data, options)
      } else inner.toInsertableRelation().insert(data, overwrite)
  }
}
