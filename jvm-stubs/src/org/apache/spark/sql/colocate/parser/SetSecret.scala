package org.apache.spark.sql.colocate.parser

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.colocate.compat.hooks.SecretSettings
import org.apache.spark.sql.colocate.conf.Exposed
import org.apache.spark.sql.execution.command.{LeafRunnableCommand, SetCommand}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Row, SparkSession => AnySession}

/**
 * `SET` of a secret. Its text, which the UI and the event log show, has the key only. A refusal comes only when it
 * runs, because Delta's parser would replace an error of parsing.
 */
case class SetSecret(key: String)(value: String) extends LeafRunnableCommand {

  override val output: Seq[Attribute] =
    DataTypeUtils.toAttributes(StructType.fromDDL("key STRING NOT NULL, value STRING NOT NULL"))

  override protected def otherCopyArgs: Seq[AnyRef] = value :: Nil

  override def run(session: AnySession): Seq[Row] = {
    if (key == Exposed.Store) throw Exposed.store("It is set before the application starts.")
    if (!SecretSettings.canKeep) throw Exposed.readable(key)
    session.conf.set(key, value)
    Seq(Row(key, SecretSettings.Mark))
  }
}

object SetSecret {

  /** Instead of Spark's SET, which is shown with its value. Another plan is given back as it is. */
  def of(plan: LogicalPlan, session: AnySession): LogicalPlan = plan match {
    case SetCommand(Some((key, Some(value)))) if hasSecret(key, value) =>
      hideDescription(session, value)
      SetSecret(key)(value)
    case other => other
  }

  private def hasSecret(key: String, value: String): Boolean =
    SecretSettings.isSecret(key) && value.nonEmpty || key == Exposed.Store && Exposed.hasPassword(value)

  /** Servers describe the jobs of a statement by its text. */
  private def hideDescription(session: AnySession, value: String): Unit = {
    val context = session.sparkContext
    Option(context.getLocalProperty(Description)).filter(_.contains(value)).foreach { text =>
      context.setLocalProperty(Description, text.replace(value, SecretSettings.Mark))
    }
  }

  private val Description = "spark.job.description"
}
