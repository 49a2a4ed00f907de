package org.apache.spark.sql.colocate.compat.delta

import scala.util.Try

/** The version of the Delta whose classes our jar sees. */
private[colocate] object DeltaVersion {

  private val Jar = """delta-spark_(\d+\.\d+)_2\.13""".r

  def find: Option[String] = try Some(io.delta.VERSION) catch { case _: LinkageError => None }

  /** The minor version of Spark that it was built for, if its jar is named as Delta names it: nothing in it says so. */
  def spark: Option[String] =
    find.flatMap(_ => Try(io.delta.`package`.getClass.getProtectionDomain.getCodeSource.getLocation.getPath).toOption)
      .flatMap(Jar.findFirstMatchIn(_)).map(_.group(1))
}
