package org.apache.spark.sql.colocate.bridge

import java.nio.file.{Files, Path}
import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings

/** The Python that runs the control plane: the setting, the variables of PySpark, the driver's own, else python3. */
object PythonChoice {

  def of(session: SparkSession): String =
    (setting(session).iterator ++ variables.iterator ++ driver.iterator).nextOption().getOrElse("python3")

  private def setting(session: SparkSession): Option[String] =
    Some(Settings.get(session.sessionState.conf, "spark.colocate.python").trim).filter(_.nonEmpty)

  /** PYSPARK_DRIVER_PYTHON may be ipython or jupyter, which can't run a module. */
  private def variables: Seq[String] =
    Seq("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON").flatMap(sys.env.get).filter(isPython)

  private def isPython(command: String): Boolean =
    command.nonEmpty && command.split('/').last.toLowerCase.matches("(python|pypy).*")

  /** `python app.py` starts this JVM as its child: that Python has our package, although no variable names it. */
  private def driver: Option[String] =
    for {
      parent <- Option(ProcessHandle.current().parent().orElse(null))
      command <- firstArgument(parent.pid()).orElse(Option(parent.info().command().orElse(null)))
      if sys.env.contains("_PYSPARK_DRIVER_CONN_INFO_PATH") && isPython(command)
    } yield command

  /** As typed: the Python of a virtual environment is a link, and the link's target does not have its packages. */
  private def firstArgument(pid: Long): Option[String] =
    Try(new String(Files.readAllBytes(Path.of(s"/proc/$pid/cmdline")), "UTF-8").takeWhile(_ != '\u0000')).toOption
      .filter(_.nonEmpty)
}
