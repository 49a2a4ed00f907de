package org.apache.spark.sql.colocate.explain

import org.apache.spark.SparkContext
import org.apache.spark.sql.internal.SQLConf

/** Adds our section to EXPLAIN. Extensions are applied before the session state copies the context's settings. */
object ExplainProvider {

  def register(): Unit = SparkContext.getActive.foreach { context =>
    val key = SQLConf.EXTENDED_EXPLAIN_PROVIDERS.key
    val ours = classOf[ColocationInfo].getName
    val listed = context.conf.get(key, "").split(",").map(_.trim).filter(_.nonEmpty).toSeq
    if (!listed.contains(ours)) context.conf.set(key, (listed :+ ours).mkString(","))
  }
}
