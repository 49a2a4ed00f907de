package org.apache.spark.sql.colocate.compat

import scala.util.Try

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.colocate.compat.delta.DeltaVersion
import org.apache.spark.util.Utils

/** The versions that the jar was tested with, and those in use. Another minor version of Spark: SparkVersion. */
object Versions {

  /** The Spark and the Delta that this jar was built for and tested with. */
  lazy val (builtForSpark: String, builtForDelta: String) = (built("spark.version"), built("delta.version"))

  /** The version of Delta, if the session has it. */
  lazy val delta: Option[String] = seen.orElse(Option.when(isElsewhere)("of an unknown version"))

  /** Has the session a Delta that our jar does not see, because the class loader of our jar is above Delta's? */
  def isHidden: Boolean = seen.isEmpty && delta.isDefined

  private lazy val seen: Option[String] = DeltaVersion.find

  private def isElsewhere: Boolean =
    Try(Utils.classForName[AnyRef]("io.delta.package", initialize = false, noSparkClassLoader = false)).isSuccess

  def tested: String = s"Spark $builtForSpark and Delta $builtForDelta"

  def inUse: String = s"Spark $SPARK_VERSION${delta.fold("")(version => s" and Delta $version")}"

  /** The warning at the start, if other versions are in use. */
  def untested: Option[String] =
    Option.when(SPARK_VERSION != builtForSpark || delta.exists(_ != builtForDelta))(
      s"spark-colocate was tested with $tested; this is $inUse. What it needs of them was tried at the start, " +
        "its queries were not. Run its EXPLAIN and compare a few results first, or use the tested versions.")

  /** The warning at the start, if Delta was made for another Spark than this one. */
  def otherDelta: Option[String] = {
    val minor = SPARK_VERSION.split("[.]").take(2).mkString(".")
    DeltaVersion.spark.filter(_ != minor).map { other =>
      s"Delta ${delta.mkString} of this session was built for Spark $other, and this is Spark $SPARK_VERSION: its " +
        s"statements can fail because of that. Use io.delta:delta-spark_${minor}_2.13:$builtForDelta."
    }
  }

  private def built(file: String): String = {
    val stream = getClass.getResourceAsStream(s"/io/colocate/conf/$file")
    if (stream == null) "unknown" else try new String(stream.readAllBytes(), "UTF-8").trim finally stream.close()
  }
}
