package org.apache.spark.sql.colocate.compat

import java.io.File

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.util.{MutableURLClassLoader, Utils}

/**
 * Executors get every jar that spark-submit gave the driver.
 *
 * PySpark's own value of `spark.jars` replaces the list in which spark-submit had merged the jars of
 * `spark.jars.packages`: then the driver has Delta's classes and the executors have not. Local mode hides it.
 *
 * Matches: a jar in the driver's class loader for users' jars that no executor gets, on a cluster.
 * Produces: the jar, given to the executors as SparkContext.addJar does.
 * Not when: a jar of that name is given already, by whatever path: the file server refuses a second one.
 */
object ExecutorJars extends Logging {

  def complete(): Unit = SparkContext.getActive.filterNot(_.isLocal).foreach { context =>
    val names = known(context)
    val missing = ofDriver.filterNot(jar => names.contains(jar.getName))
    missing.foreach(jar => context.addJar(jar.toURI.toString))
    if (missing.nonEmpty) logInfo(s"Jars that only the driver had go to the executors: ${missing.mkString(", ")}")
  }

  /** YARN brings its own list to the containers, outside of SparkContext's. */
  private def known(context: SparkContext): Set[String] = {
    val yarn = context.getConf.get("spark.yarn.dist.jars", "").split(",").filter(_.nonEmpty)
    (context.listJars() ++ yarn).map(path => new File(path).getName).toSet
  }

  /** Those that users gave it by `spark.jars` and `spark.jars.packages`. */
  private[compat] def ofDriver: Seq[File] = Utils.getContextOrSparkClassLoader match {
    case loader: MutableURLClassLoader =>
      loader.getURLs.toSeq.filter(_.getProtocol == "file").map(url => new File(url.toURI)).filter(isJar)
    case _ => Nil
  }

  private def isJar(file: File): Boolean = file.isFile && file.getName.endsWith(".jar")
}
