package org.apache.spark.sql.colocate.bridge

import java.nio.file.{Files, Path}
import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings

/** The Python that runs the control plane: the setting, the variables of PySpark, the driver's own, else python3. */
object PythonChoice {

  def of(session: SparkSession): String =
    absolute((setting(session).iterator ++ variables.iterator ++ driver.iterator).nextOption().getOrElse("python3"))

  /**
   * A path like `venv/bin/python` was typed in the folder that the driver was started in; it may have changed its
   * folder before it started this JVM. What is found nowhere is left as it is, for the error.
   */
  private def absolute(command: String): String =
    if (!command.contains('/') || Path.of(command).isAbsolute) command
    else folders.map(_.resolve(command)).find(Files.isExecutable(_)).fold(command)(_.toAbsolutePath.toString)

  private def folders: Iterator[Path] =
    parentAtStart("PWD").map(Path.of(_)).iterator ++ Iterator(Path.of(""))

  private def setting(session: SparkSession): Option[String] =
    Some(Settings.get(session.sessionState.conf, "spark.colocate.python").trim).filter(_.nonEmpty)

  /** PYSPARK_DRIVER_PYTHON may be ipython or jupyter, which can't run a module. */
  private def variables: Seq[String] =
    Seq("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON").flatMap(sys.env.get).filter(isPython)

  private def isPython(command: String): Boolean =
    command.nonEmpty && command.split('/').last.toLowerCase.matches("(python|pypy).*")

  /**
   * `python app.py` starts this JVM as its child: that Python has our package. `configure` names it in a variable; else
   * it is looked for.
   */
  private def driver: Option[String] =
    sys.env.get("COLOCATE_DRIVER_PYTHON").filter(_.nonEmpty).orElse(for {
      python <- parent
      command <- ofProcess(python, "cmdline").headOption.orElse(Option(python.info().command().orElse(null)))
      if isPython(command)
    } yield command)

  private def parent: Option[ProcessHandle] =
    Option(ProcessHandle.current().parent().orElse(null)).filter(_ =>
      sys.env.contains("_PYSPARK_DRIVER_CONN_INFO_PATH"))

  /** A variable of the driver as it was when that was started. */
  private def parentAtStart(variable: String): Option[String] =
    parent.toSeq.flatMap(ofProcess(_, "environ")).find(_.startsWith(s"$variable=")).map(_.drop(variable.length + 1))

  /** As typed: the Python of a virtual environment is a link, and the link's target does not have its packages. */
  private def ofProcess(process: ProcessHandle, file: String): Seq[String] =
    Try(new String(Files.readAllBytes(Path.of(s"/proc/${process.pid()}/$file")), "UTF-8").split('\u0000').toSeq)
      .getOrElse(Nil).filter(_.nonEmpty)
}
