package org.apache.spark.sql.colocate.bridge

import java.util.concurrent.FutureTask
import java.util.concurrent.atomic.{AtomicBoolean, AtomicReference}
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd}
import org.apache.spark.sql.classic.SparkSession

/** The one attachment of this JVM: made at the first use, and made again when its process has died. */
private[bridge] object Attachments extends Logging {
  @volatile private var current: Option[Attachment] = None

  /** The first try of an application, by its id. */
  @volatile private var firstTry: Option[(String, FutureTask[Unit])] = None
  private val tries = new Object
  private val watchedFor = new AtomicReference("")
  private val retrying = new AtomicBoolean(false)
  @volatile private var lastTry = 0L
  private val RetryNanos = 30L * 1000 * 1000 * 1000

  def living: Option[Attachment] = current.filter(_.isAlive)

  /** Starts the process if need be. Throws a ColocateException with the cause when it does not come up. */
  def get(session: SparkSession): Attachment = {
    val wanted = BridgeConfig.of(session)
    val found = living.getOrElse(synchronized(living.getOrElse(start(session, wanted))))
    if (found.config.store != wanted.store) throw BridgeErrors.otherStore(found.config.store, wanted.store)
    found
  }

  /** A new attachment instead of one that no longer answers. */
  def replace(session: SparkSession, broken: Attachment): Attachment = synchronized {
    if (current.contains(broken)) drop()
    get(session)
  }

  /** Starts the process in the background, at most once per application. */
  def prepare(session: SparkSession): Unit = first(session)

  /** Waits for the first try of the application; later only tries in the background, and seldom. Never throws. */
  def tryFor(session: SparkSession): Unit = {
    val tried = first(session)
    if (!tried.isDone) tried.get()
    else if (System.nanoTime() - lastTry > RetryNanos && retrying.compareAndSet(false, true)) {
      inBackground { () =>
        try startQuietly(session)
        finally retrying.set(false)
      }
    }
  }

  private def first(session: SparkSession): FutureTask[Unit] = {
    val application = session.sparkContext.applicationId
    tries.synchronized {
      firstTry.collect { case (`application`, tried) => tried }.getOrElse {
        val task = new FutureTask[Unit](() => startQuietly(session))
        firstTry = Some(application -> task)
        inBackground(task)
        task
      }
    }
  }

  private def inBackground(work: Runnable): Unit = {
    val thread = new Thread(work, "colocate-attach")
    thread.setDaemon(true)
    thread.start()
  }

  def close(): Unit = synchronized {
    drop()
    OpenTickets.clear()
    GroupState.reset()
  }

  private def drop(): Unit = {
    current.foreach(_.close())
    current = None
  }

  private def start(session: SparkSession, config: BridgeConfig): Attachment = {
    lastTry = System.nanoTime()
    drop()
    closeWith(session)
    val made =
      try Attachment.open(config, OpenTickets.all, callsOn(session))
      catch { case e: BridgeErrors.NotAttached => throw BridgeErrors.down(e.getMessage) }
    current = Some(made)
    made
  }

  private def callsOn(session: SparkSession): DriverCalls = new DriverCalls {
    override def hosts: LiveHosts = LiveHosts.of(session)
    override def run(task: String, args: String, jobGroup: String): String =
      DriverTasks.run(session, task, args, jobGroup)
    override def cancel(jobGroup: String): Unit = DriverTasks.cancel(session, jobGroup)
  }

  /** A query must not fail because Python is missing; a statement that needs Python fails with the reason. */
  private def startQuietly(session: SparkSession): Unit =
    try get(session)
    catch {
      case NonFatal(e) => logWarning(s"Queries go on without the state of colocation groups. ${e.getMessage}")
    }

  private def closeWith(session: SparkSession): Unit = {
    val application = session.sparkContext.applicationId
    if (watchedFor.getAndSet(application) != application) {
      session.sparkContext.addSparkListener(new SparkListener {
        override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = close()
      })
    }
  }
}
