package org.apache.spark.sql.colocate.bridge

import java.net.InetAddress
import java.security.SecureRandom
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}
import javax.net.SocketFactory

import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.BridgeErrors.NotAttached
import org.apache.spark.sql.colocate.conf.RuleEntry
import org.apache.spark.sql.colocate.rules.RuleTable
import py4j.{CallbackClient, GatewayServer, Protocol}

/** The calls that Python offers to the JVM. */
trait ControlPlaneVerbs {
  def call(verb: String, argsJson: String): String
}

/** What the JVM offers to Python. Public, because Py4J calls it by reflection. */
class ControlPlaneListener private[bridge] (attach: Int => Unit, driver: DriverCalls) {

  def attached(port: Int, rules: String, snapshot: String): Unit = {
    RuleTable.register(Json.parse(rules).extract[Seq[RuleEntry]])
    push(snapshot)
    attach(port)
  }

  /**
   * The store has changed, by this driver or by another one. `null` in JSON means that the store is empty. Returns
   * false if these changes don't follow the version that is here; then the sender must send everything.
   */
  def push(changes: String): Boolean = changes == "null" || GroupState.update(GroupChanges.fromJson(changes))

  /** The hosts that buckets can be assigned to now, as JSON. */
  def hosts(): String = Json.write(driver.hosts.toMap)

  /** A task of a job, in this driver. The answer and every error are JSON; see JobTasks. */
  def run(task: String, args: String, jobGroup: String): String = driver.run(task, args, jobGroup)

  def cancel(jobGroup: String): Unit = driver.cancel(jobGroup)
}

/** What the control plane asks of its driver. */
private[bridge] trait DriverCalls {
  def hosts: LiveHosts
  def run(task: String, args: String, jobGroup: String): String
  def cancel(jobGroup: String): Unit
}

/**
 * One Python process and the two directions of Py4J to it, on loopback, under a random token. PySpark's own gateway in
 * this JVM is another server with another token. All threads are daemons, so they never keep the JVM running.
 */
class Attachment private (val config: BridgeConfig, tickets: Seq[String], driver: DriverCalls) {
  private val token = Attachment.randomToken()
  private val loopback = InetAddress.getByName("127.0.0.1")
  private val port = new CompletableFuture[Int]()
  private val server = startServer()
  private val child = startChild()

  private lazy val verbs: ControlPlaneVerbs = {
    val gateway = server.getGateway
    gateway.resetCallbackClient(loopback, port.join())
    val face = classOf[ControlPlaneVerbs]
    gateway
      .createProxy(face.getClassLoader, Array[Class[_]](face), Protocol.ENTRY_POINT_OBJECT_ID)
      .asInstanceOf[ControlPlaneVerbs]
  }

  def isAlive: Boolean = child.isAlive

  def pid: Long = child.pid

  def call(verb: String, argsJson: String): String = verbs.call(verb, argsJson)

  /** Waits until Python has attached, at most the configured time. */
  private def await(): Unit = {
    child.onExit.thenRun(() => port.completeExceptionally(new NotAttached(child.lastWords)))
    try port.get(config.timeoutSeconds, TimeUnit.SECONDS)
    catch {
      case _: TimeoutException =>
        throw new NotAttached(s"no answer within ${config.timeoutSeconds} seconds; ${child.lastWords}")
      case e: ExecutionException => throw new NotAttached(e.getCause.getMessage)
    }
  }

  def close(): Unit = {
    child.close(Attachment.CloseSeconds)
    server.shutdown(true)
  }

  private def startServer(): GatewayServer = {
    // No minimal connection time: with one, the client would start a thread that is not a daemon.
    val client = new CallbackClient(
      0, loopback, token, 0L, TimeUnit.SECONDS, SocketFactory.getDefault, false, Attachment.AnswerMillis)
    val server = new GatewayServer.GatewayServerBuilder(new ControlPlaneListener(port.complete(_), driver))
      .javaPort(0)
      .javaAddress(loopback)
      .authToken(token)
      .callbackClient(client)
      .build()
    val starter = new Thread(() => server.start(), "colocate-bridge")
    starter.setDaemon(true) // Inherited by every thread that the server starts.
    starter.start()
    starter.join()
    server
  }

  private def startChild(): ChildProcess =
    try {
      val started = new ChildProcess(config.python)
      started.greet(greeting)
      started
    } catch {
      case e: java.io.IOException =>
        server.shutdown(true)
        throw new NotAttached(e.getMessage)
    }

  private def greeting: String = Json.write(
    Map[String, Any](
      "port" -> server.getListeningPort,
      "token" -> token,
      "pid" -> ProcessHandle.current().pid(),
      "catalog" -> config.catalog,
      "ephemeral" -> config.ephemeral,
      "store" -> config.store,
      "passwordFile" -> config.passwordFile,
      "tokenFile" -> config.tokenFile,
      "warehouse" -> config.warehouse,
      "storeTimeout" -> config.storeTimeoutSeconds,
      "hostGrace" -> config.hostGraceSeconds,
      "intervals" -> config.jobIntervalSeconds,
      "tickets" -> tickets.toSeq))
}

object Attachment {

  /** Starts a process and waits for it. Throws NotAttached with the reason if it does not start. */
  private[bridge] def open(config: BridgeConfig, tickets: Seq[String], driver: DriverCalls): Attachment = {
    val made = new Attachment(config, tickets, driver)
    try made.await()
    catch {
      case e: NotAttached =>
        made.close()
        throw e
    }
    made
  }

  private val CloseSeconds = 5L

  /** Python bounds its own waits for the store; this one is for a process that hangs. */
  private val AnswerMillis = 120000

  private def randomToken(): String = {
    val bytes = new Array[Byte](32)
    new SecureRandom().nextBytes(bytes)
    bytes.map(b => f"$b%02x").mkString
  }
}
