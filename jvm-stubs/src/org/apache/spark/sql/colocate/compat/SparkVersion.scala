package org.apache.spark.sql.colocate.compat

import org.apache.spark.SPARK_VERSION

/**
 * This package holds what does not compile against both Spark 4.2 and 4.1: one file for each difference, with only the
 * call, the pattern or the parent that 4.1 lacks. A port to 4.1 rewrites these files. Code that compiles against both
 * and behaves differently is not here: only tests find it.
 *
 * The Scala code uses private parts of one Spark version. Another one is refused at the start with a clear message, not
 * by a missing method in a query. The exception is a Java one: ours needs a constructor that other versions lack.
 */
object SparkVersion {
  import Versions.builtForSpark

  def check(): Unit = if (line(builtForSpark) != line(SPARK_VERSION)) throw new IllegalStateException(
    s"This spark-colocate jar was built for Spark $builtForSpark, but this is Spark $SPARK_VERSION. " +
      s"Use Spark $builtForSpark, or build the jar against $SPARK_VERSION with ./run jar.")

  /** Another patch release is tried, with a warning (hooks/SelfCheck); another minor release differs too much. */
  private def line(version: String): String = version.split("[.]").take(2).mkString(".")
}
