package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Max
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, RowTracking, TableNames}
import org.apache.spark.sql.colocate.layout.{HiddenColumns, RangeColumn}
import org.apache.spark.sql.execution.datasources.{FileFormat, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StructType

/**
 * Matches: a read of a Delta table with AGGREGATE KEY or UNIQUE KEY, by name or by path, also in a subquery.
 * Produces: an ordinary aggregate of the table's rows by all key columns, so that Spark's own rules push filters on
 * keys below it and leave out values that are not used.
 * Not when: the table is the target of UPDATE, DELETE or MERGE, which Delta runs on its files, or is read by a command
 * of Delta's.
 */
object AggregateByKey extends Rule[LogicalPlan] {

  /** Delta's nodes whose first child is the table that changes. */
  private val changes = Set("DeltaDelete", "DeltaUpdateTable", "DeltaMergeInto")

  /** A tag on an aggregate of this rule: the table that it reads. */
  private val MadeOf = TreeNodeTag[LogicalRelation]("colocate.aggregatedTable")

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case made: Aggregate if made.getTagValue(MadeOf).isDefined => anew(made, made.getTagValue(MadeOf).get)
    case Filter(partitions: In, relation: LogicalRelation) if isOfRanges(partitions) =>
      ofTable(relation).map(aggregated(relation, _, only = Some(partitions))).fold(plan) { made =>
        plan.withNewChildren(Seq(made))
      }
    case relation: LogicalRelation => ofTable(relation).fold(plan)(aggregated(relation, _))
    case _ =>
      if (plan.nodeName == "MergeIntoCommand") RewriteUpdates.refuseMerge(plan)
      val kept = if (changes(plan.nodeName)) 1 else 0
      val children = plan.children.take(kept) ++ plan.children.drop(kept).map(apply)
      inSubqueries(if (children.zip(plan.children).forall { case (a, b) => a eq b }) plan
      else plan.withNewChildren(children))
  }

  /**
   * Spark's cache keeps plans with the aggregate, and plans them again after each write. Delta's rule for row ids runs
   * after this one and would then change the rows below a second time, so no query would find itself in the cache.
   */
  private def anew(made: Aggregate, relation: LogicalRelation): LogicalPlan =
    if (made.output.map(_.exprId) != relation.output.map(_.exprId)) made
    else ofTable(relation).fold[LogicalPlan](made)(aggregated(relation, _))

  /** `t PARTITION (p)`. Range columns are keys, so all rows of a key are in one partition. */
  private def isOfRanges(partitions: In): Boolean = partitions.value match {
    case column: Attribute => column.name == RangeColumn.Name
    case _ => false
  }

  private def inSubqueries(plan: LogicalPlan): LogicalPlan =
    plan.transformExpressionsWithPruning(_.containsPattern(PLAN_EXPRESSION)) {
      case subquery: PlanExpression[_] => subquery.plan match {
        case query: LogicalPlan =>
          val made = apply(query)
          if (made eq query) subquery
          else subquery.asInstanceOf[PlanExpression[LogicalPlan]].withNewPlan(made)
        case _ => subquery
      }
    }

  /** Commands and optimized plans have other indexes of files: what they read is aggregated already, or must not be. */
  private def ofTable(relation: LogicalRelation): Option[KeyModel] = relation.relation match {
    case files: HadoopFsRelation if !relation.isStreaming && DeltaIndexes.isOfTable(files.location) =>
      KeyModel.of(relation)
    case _ => None
  }

  /**
   * The rows below get new ids, so that the plan above finds the aggregated columns by the ids that it knows.
   *
   * @param rowIds the name of one more column, which has the number of the last row of each key
   * @param only   the range partitions whose files are read; a condition above says the same
   */
  private[colocate] def aggregated(
      relation: LogicalRelation,
      model: KeyModel,
      rowIds: Option[String] = None,
      only: Option[In] = None): LogicalPlan = {
    val rows = relation.newInstance()
    val columns = relation.output.zip(rows.output)
    columns.foreach { case (column, _) => if (isOfFiles(column)) refuseMetadata(relation, model) }
    lazy val withMetadata = rows.withMetadataColumns()
    lazy val order = rowId(withMetadata)
    val results = columns.map { case (column, row) =>
      val value =
        if (model.isKey(row.name)) row
        else if (HiddenColumns.contains(row.name)) Max(row).toAggregateExpression()
        else KeyFunctions(model.aggregateOf(row.name, TableNames.of(relation)), row, order)
      Alias(value, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
    val keys = columns.map(_._2).filter(row => model.isKey(row.name))
    if (keys.size != model.keys.size) refuseKeys(relation, model)
    val numbers = rowIds.map(name => Alias(Max(order).toAggregateExpression(), name)(
      explicitMetadata = Some(RowTracking.rowIdMetadata(name))))
    val read = if (model.replaces) withMetadata else rows
    val renewed = AttributeMap(columns)
    val limited = only.map(_.transform { case column: Attribute => renewed.getOrElse(column, column) })
    val made = Aggregate(keys, results ++ numbers, limited.fold[LogicalPlan](read)(Filter(_, read)))
    made.setTagValue(MadeOf, relation)
    made
  }

  /** Delta numbers the rows of a table in the order of its commits, and keeps a row's number when it moves the row. */
  private def rowId(relation: LogicalRelation): Expression =
    relation.output.find(isOfFiles).filter(hasRowIds)
      .map(ExtractValue(_, Literal(RowTracking.RowId), conf.resolver))
      .getOrElse(throw new ColocateException("KEY_MODEL_ROW_IDS",
        s"Cannot read ${TableNames.of(relation)}: which of its rows was loaded last is not known, because its " +
          "property 'delta.enableRowTracking' is no longer true. Earlier versions can be read: INSERT INTO a new " +
          "table of the same model SELECT * FROM this one VERSION AS OF n."))

  private def hasRowIds(metadata: Attribute): Boolean = metadata.dataType match {
    case fields: StructType => fields.fieldNames.contains(RowTracking.RowId)
    case _ => false
  }

  private def isOfFiles(column: Attribute): Boolean = FileSourceMetadataAttribute.isValid(column.metadata)

  private def refuseMetadata(relation: LogicalRelation, model: KeyModel): Nothing =
    throw new ColocateException("KEY_MODEL_METADATA",
      s"Cannot read ${FileFormat.METADATA_NAME} of ${TableNames.of(relation)}: the table has ${model.clause}, so one " +
        s"row of the query may come from rows of several files. Leave ${FileFormat.METADATA_NAME} out.")

  private def refuseKeys(relation: LogicalRelation, model: KeyModel): Nothing =
    throw new ColocateException("KEY_MODEL_COLUMN",
      s"Cannot read ${TableNames.of(relation)}: its key columns are ${model.keys.mkString(", ")}, but its columns " +
        s"are ${HiddenColumns.without(relation.schema).fieldNames.mkString(", ")}. RESTORE the table to a version " +
        "that has all key columns.")
}
