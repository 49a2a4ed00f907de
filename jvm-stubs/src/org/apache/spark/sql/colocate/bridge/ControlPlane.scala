package org.apache.spark.sql.colocate.bridge

import org.apache.spark.sql.classic.SparkSession

/** The door to the control plane. Planning only makes sure that it was asked once; it never waits for an answer. */
object ControlPlane {
  def ensureAttached(session: SparkSession): Unit = require(session != null)
}
