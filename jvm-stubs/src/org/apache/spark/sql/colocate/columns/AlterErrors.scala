package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.plans.logical.{
  AddColumns, AlterColumns, DropColumns, LogicalPlan, RenameColumn
}
import org.apache.spark.sql.classic.SparkSession

/**
 * Matches: ALTER TABLE of a column of a Delta table with hidden columns, if Spark does not find the column.
 * Produces: the error that Spark gives for the table without its hidden columns. The plan is never changed.
 * Not when: the statement has no error without the hidden columns. HideBucketColumn calls this among the hint rules,
 * because Spark looks for the column before any rule of an extension that comes later.
 */
private[columns] case class AlterErrors(session: SparkSession) {

  def check(plan: LogicalPlan): Unit = if (AlterErrors.isOfColumns(plan)) {
    val analyzer = session.sessionState.analyzer
    val target = WithoutBucketColumn(session)
    val found = analyzer.ResolveRelations(plan)
    val names = analyzer.ResolveFieldNameAndPosition
    // A position is looked for when the column itself is found.
    target.withoutBuckets(found).foreach(plain => target.throwErrorOf(found, plain)(alter => names(names(alter))))
  }
}

private[columns] object AlterErrors {

  def isOfColumns(plan: LogicalPlan): Boolean = plan match {
    case _: AddColumns | _: AlterColumns | _: DropColumns | _: RenameColumn => true
    case _ => false
  }
}
