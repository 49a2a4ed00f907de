package org.apache.spark.sql.colocate.write

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.colocate.evidence.delta.DeltaClauses
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.Strategy
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.layout.{BucketColumn, RangeColumn}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.command.{ExecutedCommandExec, LeafRunnableCommand, RunnableCommand}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Matches: Delta's command for UPDATE, DELETE or MERGE.
 * Produces: the same command. Where Delta fails with an error that names a hidden column or its expression, ours says
 * what is wrong: a file's rows are not of the bucket that the log says, or schema evolution would widen a key.
 * Not when: the command does not fail, or by another error. Delta finds both only while it writes.
 */
object ExplainChangeErrors extends Strategy {

  private val commands = Set("DeleteCommand", "UpdateCommand", "MergeIntoCommand")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case change: RunnableCommand if commands(change.nodeName) => ExecutedCommandExec(ExplainedChange(change)) :: Nil
    case _ => Nil
  }
}

case class ExplainedChange(change: RunnableCommand) extends LeafRunnableCommand {

  override lazy val metrics: Map[String, SQLMetric] = change.metrics
  override def output: Seq[Attribute] = change.output
  override def nodeName: String = change.nodeName
  override def innerChildren: Seq[QueryPlan[_]] = change.innerChildren
  override def simpleString(maxFields: Int): String = change.simpleString(maxFields)

  override def run(session: SparkSession): Seq[Row] =
    try change.run(session)
    catch { case failed: Throwable => throw ChangeErrors.of(failed, change).getOrElse(failed) }
}

private[write] object ChangeErrors {

  private val Violated = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
  private val Widened = "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH"
  private val Value = s"(${BucketColumn.Name}|${RangeColumn.Name}) : (\\S+)".r

  def of(failed: Throwable, change: RunnableCommand): Option[Throwable] =
    Iterator.iterate(failed)(_.getCause).takeWhile(_ != null).take(20).collect {
      case error: Throwable with SparkThrowable if isOurs(error) => error
    }.nextOption().flatMap { error =>
      error.getCondition match {
        case Violated => Some(wrongBucket(error, tableOf(change)))
        case Widened => Some(widerKey(error, tableOf(change)))
        case _ => None
      }
    }

  private def isOurs(error: Throwable): Boolean =
    Seq(BucketColumn.Name, RangeColumn.Name).exists(String.valueOf(error.getMessage).contains)

  private def wrongBucket(error: Throwable, table: String): Throwable = {
    val claimed = Value.findFirstMatchIn(error.getMessage).map { found =>
      (if (found.group(1) == RangeColumn.Name) "range partition " else "bucket ") + found.group(2)
    }
    new ColocateException("ROW_IN_WRONG_BUCKET",
      s"Cannot change rows of $table: its log says that a file is of ${claimed.getOrElse("another bucket")}, but the " +
        "file holds a row of another one, which the statement would write again. Nothing was changed. " +
        s"CALL system.verify(table => '$table', wait => true) marks all such files; CALL system.repair(table => " +
        s"'$table') writes their rows where they belong.",
      Some(error))
  }

  private def widerKey(error: Throwable, table: String): Throwable =
    new ColocateException("KEY_COLUMN_FIXED",
      s"Cannot widen a bucket key or range column of $table by schema evolution: the source of MERGE has a wider " +
        "type than the table, and the files are laid out by its values. Cast the column in the source to the " +
        s"table's type; or CREATE OR REPLACE TABLE $table ... CLUSTERED BY ... AS SELECT ... FROM $table writes " +
        "the rows anew.",
      Some(error))

  private def tableOf(change: RunnableCommand): String = DeltaClauses.tableOf(change)
    .fold("the table")(_.identifier.nameParts.takeRight(2).mkString("."))
}
