package org.apache.spark.sql.colocate.compat

import java.io.{File, IOException}
import java.util.zip.ZipFile

/** A jar that was cut off while it was downloaded or copied: the JVM passes over it, and Spark misses its classes. */
object BrokenJars {

  /** The warning at the start, if there are any. */
  def warning: Option[String] = {
    val broken = jars.flatMap(jar => fault(jar).map(why => s"$jar ($why)"))
    Option.when(broken.nonEmpty)(
      s"Not a whole jar, so its classes are missing: ${broken.mkString(", ")}. Delete it, and fetch it again.")
  }

  /** Of users: Spark's own are not looked at. */
  private def jars: Seq[File] = {
    val spark = sys.env.get("SPARK_HOME").map(home => new File(home, "jars").getAbsolutePath)
    val classPath = System.getProperty("java.class.path", "").split(File.pathSeparator).toSeq.map(new File(_))
    (ExecutorJars.ofDriver ++ classPath.filter(_.getName.endsWith(".jar")))
      .filter(_.isFile).filterNot(jar => spark.contains(jar.getAbsoluteFile.getParent)).distinct
  }

  private def fault(jar: File): Option[String] =
    try { new ZipFile(jar).close(); None } catch { case e: IOException => Some(e.getMessage) }
}
