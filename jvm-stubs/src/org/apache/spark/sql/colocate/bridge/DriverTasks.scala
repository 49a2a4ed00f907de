package org.apache.spark.sql.colocate.bridge

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Services

/** Runs the tasks of jobs that the control plane sends to this driver. Found as a service: the bridge knows no job. */
trait DriverTasks {

  /** The answer as JSON: `ok`, or `error`. */
  def run(session: SparkSession, task: String, args: String, jobGroup: String): String

  def cancel(session: SparkSession, jobGroup: String): Unit
}

private[bridge] object DriverTasks extends DriverTasks {

  private lazy val found: DriverTasks =
    Services.of(classOf[DriverTasks]).head

  override def run(session: SparkSession, task: String, args: String, jobGroup: String): String =
    found.run(session, task, args, jobGroup)

  override def cancel(session: SparkSession, jobGroup: String): Unit = found.cancel(session, jobGroup)
}
