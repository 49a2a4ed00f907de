package org.apache.spark.sql.colocate.compat

import org.apache.spark.SPARK_VERSION

/**
 * This folder holds what differs between Spark 4.2 and 4.1, as the compiler told it: one file for each difference, and
 * in it no more than the call, the pattern or the parent that 4.1 lacks. A port to 4.1 rewrites these files. What
 * compiles against both and means something else is not here: only tests can tell it.
 *
 * The stubs reach into private parts of one Spark. Another one is refused at the start and in words, not by a missing
 * method in mid-query. The exception is Java's own: ours would need a constructor that other Sparks lack.
 */
object SparkVersion {

  /** The Spark that this jar was compiled against. */
  private def built: String = Versions.builtForSpark

  def check(): Unit = if (line(built) != line(SPARK_VERSION)) throw new IllegalStateException(
    s"This spark-colocate jar was built for Spark $built, but this is Spark $SPARK_VERSION. " +
      s"Use Spark $built, or build the jar against $SPARK_VERSION with ./run jar.")

  /** Another patch release is told of and tried (hooks/SelfCheck); a minor one has too many private parts of its own. */
  private def line(version: String): String = version.split("[.]").take(2).mkString(".")
}
