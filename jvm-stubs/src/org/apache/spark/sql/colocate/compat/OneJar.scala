package org.apache.spark.sql.colocate.compat

import java.net.URL

import scala.jdk.CollectionConverters._

import org.apache.spark.SPARK_VERSION

/**
 * Two different jars of this project in one driver give it some classes of the one and some of the other, so no session
 * starts. The same jar twice, by the class path and by `spark.jars`, is usual.
 */
object OneJar {

  private val Build = "io/colocate/conf/build"

  def check(): Unit = {
    val found = jars
    if (found.map(_._2).distinct.size > 1) throw new IllegalStateException(
      s"Two different spark-colocate jars are on the class path: ${found.map(shown).mkString("; ")}. " +
        s"Keep the one for Spark $SPARK_VERSION, and remove the other from spark.jars or the class path.")
  }

  /** Where each is, and what it was built from. */
  private def jars: Seq[(String, String)] = {
    val loaders = Seq(Option(Thread.currentThread.getContextClassLoader), Option(getClass.getClassLoader)).flatten
    loaders.flatMap(_.getResources(Build).asScala).map(url => path(url) -> text(url)).distinct
  }

  private def path(url: URL): String =
    url.toString.stripPrefix("jar:").stripPrefix("file:").stripSuffix(s"!/$Build")

  private def text(url: URL): String = {
    val stream = url.openStream()
    try new String(stream.readAllBytes(), "UTF-8").trim finally stream.close()
  }

  private def shown(jar: (String, String)): String = s"${jar._1} (${jar._2.takeWhile(_ != ',')})"
}
