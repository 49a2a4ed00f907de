package org.apache.spark.sql.colocate.compat

import org.apache.spark.SPARK_VERSION

/**
 * What does not compile against every version of Spark is in this package, but in the folders of jvm-stubs/versions:
 * files with the same names and signatures, in each only the call, the pattern or the parent that differs. Code that
 * compiles against all versions and behaves differently is not there: only tests find it.
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
