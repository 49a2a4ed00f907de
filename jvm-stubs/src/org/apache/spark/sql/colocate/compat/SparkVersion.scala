package org.apache.spark.sql.colocate.compat

import org.apache.spark.SPARK_VERSION
import org.slf4j.LoggerFactory

/**
 * What does not compile against every version of Spark is in this package, but in the folders of jvm-stubs/versions:
 * files with the same names and signatures, in each only the call, the pattern or the parent that differs. Code that
 * compiles against all versions and behaves differently is not there: only tests find it.
 *
 * The Scala code uses private parts of one minor version of Spark, and there is a jar for each. In another Spark a jar
 * injects nothing and its catalog only hands calls on: queries run as without it, and none fails by a missing method.
 */
object SparkVersion {
  import Versions.builtForSpark

  /** Is this another minor version of Spark than the jar's? Another patch release is tried, see hooks/SelfCheck. */
  lazy val isOther: Boolean = minor(builtForSpark) != minor(SPARK_VERSION)

  /** Says so, once in a JVM. Slf4j, because Spark's own logging differs between versions. */
  def warn(): Unit = warned

  private lazy val warned: Unit = LoggerFactory.getLogger("io.colocate.spark.ColocateExtensions").warn(
    s"This spark-colocate jar was built for Spark $builtForSpark, and this is Spark $SPARK_VERSION: the session runs " +
      s"without colocation. Use the jar spark-colocate_${minor(SPARK_VERSION)}_2.13, or Spark ${minor(builtForSpark)}.")

  private def minor(version: String): String = version.split("[.]").take(2).mkString(".")
}
