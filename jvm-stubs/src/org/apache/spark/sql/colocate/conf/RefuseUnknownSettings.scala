package org.apache.spark.sql.colocate.conf

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.hooks.SecretSettings
import org.apache.spark.sql.execution.command.SetCommand

/**
 * Matches: SET of an unknown key that resembles one of ours.
 * Produces: an error that names the nearest key. Such keys in the application's own settings are logged.
 * Not when: a key is only shown or RESET, or set by `spark.conf.set`, which runs no rule.
 */
case class RefuseUnknownSettings(session: SparkSession) extends (LogicalPlan => Unit) with Logging {

  session match { // before the first query, which may be none of SQL
    case classic: ClassicSession => SecretSettings.install(classic)
    case _ =>
  }

  for ((key, _) <- session.sparkContext.conf.getAll; known <- SettingEntries.nearest(key))
    logWarning(s"There is no setting $key, so it is ignored. The nearest one is $known.")

  override def apply(plan: LogicalPlan): Unit = plan match {
    case SetCommand(Some((key, Some(_)))) =>
      for (known <- SettingEntries.nearest(key))
        throw new ColocateException("SETTING_UNKNOWN",
          s"There is no setting $key. Did you mean $known? SET -v lists all.")
    case _ =>
  }
}
