package org.apache.spark.sql.colocate.bridge

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.util.Utils

/**
 * The hosts that buckets can be assigned to.
 *
 * @param hosts each as `host` or `host=capacity`; none while a cluster has given the application no executors
 * @param local all tasks run in the driver
 */
private[colocate] case class LiveHosts(hosts: Seq[String], local: Boolean) {
  def toMap: Map[String, Any] = Map("hosts" -> hosts, "local" -> local)
}

private[colocate] object LiveHosts {

  /** Those that the settings name; else those of the application's executors. */
  def of(session: SparkSession): LiveHosts = {
    val declared = Settings.get(session.sessionState.conf, "spark.colocate.hosts").split(",").map(_.trim)
    val named = declared.filter(_.nonEmpty).toSeq
    val context = session.sparkContext
    if (named.nonEmpty || context.isStopped) LiveHosts(named, local = false)
    else if (context.isLocal) LiveHosts(Seq(Utils.localHostName()), local = true)
    else LiveHosts(ofExecutors(context), local = false)
  }

  private def ofExecutors(context: SparkContext): Seq[String] =
    try {
      val executors = context.env.blockManager.master.getMemoryStatus.keys.filterNot(_.isDriver)
      executors.map(_.host).toSeq.distinct.sorted
    } catch {
      case NonFatal(_) => Nil // the application ends at this moment
    }
}
