package org.apache.spark.sql.colocate.bridge

import java.io.{BufferedReader, InputStreamReader, IOException}
import java.util.concurrent.{CompletableFuture, TimeUnit}
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.internal.Logging

/**
 * The Python process. Its stdin stays open as long as this JVM lives: when the pipe ends, by a clean stop or by
 * `kill -9` of the driver, the process ends itself. The last lines of its stderr are kept for error messages.
 */
class ChildProcess(python: String) extends Logging {
  private val tail = mutable.Queue.empty[String]
  private val process = start()
  private val reader = drain()

  def pid: Long = process.pid()

  def isAlive: Boolean = process.isAlive

  def onExit: CompletableFuture[Process] = process.onExit()

  /** The first line has the address and the token, so that no list of processes shows them or a password. */
  def greet(line: String): Unit = {
    val pipe = process.getOutputStream
    try {
      pipe.write((line + "\n").getBytes("UTF-8"))
      pipe.flush()
    } catch {
      // It ended before it read anything: its exit code and its last lines explain more than a broken pipe.
      case e: IOException => logDebug("The control plane did not listen", e)
    }
  }

  /** The last lines of its output, which say why it ended. */
  def lastWords: String = {
    reader.join(1000)
    val lines = tail.synchronized(tail.toList)
    val exit = if (process.isAlive) "is running" else s"ended with exit code ${process.exitValue()}"
    s"$python $exit" + lines.lastOption.fold("")(line => s": $line")
  }

  /** Closes the pipe; a process that does not follow within `seconds` is ended. */
  def close(seconds: Long): Unit = {
    try process.getOutputStream.close()
    catch { case e: IOException => logDebug("The pipe to the control plane was closed already", e) }
    if (!process.waitFor(seconds, TimeUnit.SECONDS)) process.destroyForcibly()
  }

  private def start(): Process = {
    val builder = new ProcessBuilder(python, "-m", "spark_colocate.bridge")
    // The process must not connect to the gateway of a PySpark driver.
    builder.environment().keySet().removeAll(ChildProcess.NotInherited)
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
  }

  private def drain(): Thread = {
    val thread = new Thread(() => readLines(), "colocate-control-plane-stderr")
    thread.setDaemon(true)
    thread.start()
    thread
  }

  private def readLines(): Unit = {
    val lines = new BufferedReader(new InputStreamReader(process.getErrorStream, "UTF-8"))
    Iterator.continually(lines.readLine()).takeWhile(_ != null).filter(_.trim.nonEmpty).foreach { line =>
      logInfo(s"Control plane: $line")
      tail.synchronized {
        tail.enqueue(line.trim)
        if (tail.size > ChildProcess.TailLines) tail.dequeue()
      }
    }
  }
}

object ChildProcess {
  private val TailLines = 40
  private val NotInherited =
    Set("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "_PYSPARK_DRIVER_CONN_INFO_PATH").asJava
}
