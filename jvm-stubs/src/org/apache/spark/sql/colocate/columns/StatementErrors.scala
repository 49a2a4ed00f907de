package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, TreeNode}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.evidence.delta.{DeltaReflection, DeltaTables}
import org.apache.spark.sql.colocate.layout.{DeclaredTable, HiddenColumns, RangeColumn}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{DataType, MapType, StructType}

/**
 * Matches: INSERT by name, or with a list of columns, into a bucketed Delta table, if Spark's ResolveInsertInto fails
 * on it.
 * Produces: the error that ResolveInsertInto gives for the table without its bucket column. The plan is never changed.
 * Not when: the statement has no error without the bucket column; then Spark's own rule fails next.
 */
case class ResolutionErrors(session: SparkSession) extends Rule[LogicalPlan] {

  private val target = WithoutBucketColumn(session)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case insert: InsertIntoStatement if insert.query.resolved && isByName(insert) =>
        target.withoutBuckets(insert.table).foreach { table =>
          val plain = CurrentOrigin.withOrigin(insert.origin)(insert.copy(table = table))
          target.throwErrorOf(insert, plain)(session.sessionState.analyzer.ResolveInsertInto(_))
        }
      case _ =>
    }
    plan
  }

  private def isByName(insert: InsertIntoStatement): Boolean = insert.byName || insert.userSpecifiedCols.nonEmpty
}

/**
 * Matches: every statement on a Delta table with hidden columns whose analysed plan does not pass Spark's check, such
 * as one with an unknown column; ALTER of columns; and UPDATE or MERGE that sets a column to a value that can't be cast
 * to the column's type.
 * Produces: the error that the check gives for the table without its hidden columns. The plan is never changed.
 * Not when: the statement has no error without the hidden columns; then Spark's own check fails next.
 */
case class CheckErrors(session: SparkSession) extends Rule[LogicalPlan] {

  private val target = WithoutBucketColumn(session)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!plan.resolved || AlterErrors.isOfColumns(plan)) {
      target.withoutBuckets(plan).foreach(plain => target.throwErrorOf(plan, plain)(check))
    }
    if (plan.resolved) checkTypes(plan)
    CheckOptimize(session, plan)
    plan
  }

  /** Checks a copy, because the check marks the nodes of a valid plan as analysed. */
  private def check(plan: LogicalPlan): Unit = session.sessionState.analyzer.checkAnalysis0(plan.clone())

  /**
   * Fails if a value can't be cast to the type of its column. Spark's own check runs after a rule of Delta's, which
   * computes the bucket column from the value first, so its error would show the expression of the bucket column.
   * Structs and maps are not checked here: Delta casts them field by field.
   */
  private def checkTypes(change: LogicalPlan): Unit = for {
    (column, value) <- assignments(change).find { case (column, value) =>
      !Cast.canCast(value.dataType, column) && !isDeltas(Seq(column, value.dataType))
    }
    if target.withoutBuckets(change).isDefined
  } CurrentOrigin.withOrigin(change.origin) {
    check(Project(Seq(Alias(Cast(value, column), "value")()), LocalRelation(value.references.toSeq)))
  }

  /** The type of each column that UPDATE or MERGE sets, and its value. Delta's classes are matched by their names. */
  private def assignments(change: LogicalPlan): Seq[(DataType, Expression)] = (change.nodeName, fields(change)) match {
    case ("DeltaUpdateTable", Seq(_, columns: Seq[_], values: Seq[_], _*)) =>
      columns.zip(values).collect { case (column: Expression, value: Expression) => column.dataType -> value }
    case ("DeltaMergeInto", Seq(table: LogicalPlan, _*)) =>
      change.expressions.flatMap(_.collect { case e if e.nodeName == "DeltaMergeAction" => fields(e) }).collect {
        case Seq(Seq(name: String), value: Expression, _*) =>
          table.output.find(a => conf.resolver(a.name, name)).map(_.dataType -> value)
      }.flatten
    case _ => Nil
  }

  /** Delta casts these where Spark's cast does not: structs, and maps to maps. */
  private def isDeltas(types: Seq[DataType]): Boolean =
    types.exists(_.existsRecursively(_.isInstanceOf[StructType])) ||
      types.forall(_.existsRecursively(_.isInstanceOf[MapType]))

  private def fields(node: TreeNode[_]): Seq[Any] = node.productIterator.toSeq
}

/**
 * Makes the same statement for a table without the bucket column. It is only analysed to get its error, and never run.
 */
private[colocate] case class WithoutBucketColumn(session: SparkSession) {

  /** Runs an analysis step on the statement and, if that fails, on `plain`. Throws the error of `plain`, if any. */
  def throwErrorOf(plan: LogicalPlan, plain: LogicalPlan)(step: LogicalPlan => Any): Unit =
    CurrentOrigin.withOrigin(plan.origin) {
      if (errorOf(step(plan)).isDefined) errorOf(step(plain)).foreach(error => throw error)
    }

  private def errorOf(step: => Any): Option[AnalysisException] =
    try {
      step
      None
    } catch {
      case error: AnalysisException => Some(error)
    }

  /** The statement without bucket columns; None if no table in it has one, or the statement itself names it. */
  def withoutBuckets(plan: LogicalPlan): Option[LogicalPlan] = {
    val used = plan.collect { case node if node.children.nonEmpty => node.expressions }.flatten
    val named = used.flatMap(_.collect { case a: AttributeReference => a.exprId }).toSet
    def hidden(column: Attribute): Boolean = HiddenColumns.contains(column.name) && !named(column.exprId)
    val plain = AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case v2: DataSourceV2Relation if v2.output.exists(hidden) && isBucketed(v2.table) =>
          v2.copy(output = v2.output.filterNot(hidden))
        case v1: LogicalRelation if v1.output.exists(hidden) && hasHidden(v1) =>
          v1.copy(output = v1.output.filterNot(hidden))
        case table: ResolvedTable if table.outputAttributes.exists(hidden) && isBucketed(table.table) =>
          table.copy(
            table = new DeclaredTable(table.table), outputAttributes = table.outputAttributes.filterNot(hidden))
      }
    }
    Option.when(plain ne plan)(plain)
  }

  private def hasHidden(relation: LogicalRelation): Boolean = relation.relation match {
    case files: HadoopFsRelation if DeltaReflection.isDeltaIndex(files.location) =>
      TableEvidence.of(relation).isDefined || files.partitionSchema.fieldNames.contains(RangeColumn.Name)
    case _ => false
  }

  private def isBucketed(table: Table): Boolean = DeltaTables.hidesColumns(session, table)
}
