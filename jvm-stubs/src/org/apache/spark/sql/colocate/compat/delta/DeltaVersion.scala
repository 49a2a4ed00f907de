package org.apache.spark.sql.colocate.compat.delta

/** The version of the Delta whose classes our jar sees. */
private[colocate] object DeltaVersion {
  def find: Option[String] = try Some(io.delta.VERSION) catch { case _: LinkageError => None }
}
