package org.apache.spark.sql.colocate.bridge

import java.security.MessageDigest

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.{Exposed, Settings}
import org.apache.spark.sql.internal.StaticSQLConf

/**
 * The arguments with which the control plane of an application is started.
 *
 * @param catalog   identity of the catalog: the key of every row in the store
 * @param ephemeral the catalog ends with the application (Spark's in-memory one), and so do its rows
 * @param store     SQLAlchemy URL; empty when none is set and the warehouse is not on a local disk
 * @param passwordFile file with the store's password; empty without one
 * @param tokenFile file with the token of sessions that have none of their own; empty without one
 */
case class BridgeConfig(
    catalog: String,
    ephemeral: Boolean,
    store: String,
    passwordFile: String,
    tokenFile: String,
    warehouse: String,
    storeTimeoutSeconds: Long,
    timeoutSeconds: Long,
    hostGraceSeconds: Long,
    jobIntervalSeconds: Map[String, Long],
    python: String)

object BridgeConfig {

  private val JobKinds = Seq("verify", "repair", "balance")

  def of(session: SparkSession): BridgeConfig = {
    val conf = session.sessionState.conf
    val warehouse = conf.warehousePath
    BridgeConfig(
      catalog = identity(session),
      ephemeral = isEphemeral(session),
      store = Some(Settings.get(conf, Exposed.Store).trim).filter(_.nonEmpty).getOrElse(local(warehouse)),
      passwordFile = Settings.get(conf, s"${Exposed.Store}.passwordFile").trim,
      tokenFile = Settings.get(conf, s"${Exposed.Token}File").trim,
      warehouse = warehouse,
      storeTimeoutSeconds = Settings.number(conf, "spark.colocate.store.timeout"),
      timeoutSeconds = Settings.number(conf, "spark.colocate.bridge.timeout"),
      hostGraceSeconds = Settings.number(conf, "spark.colocate.hosts.grace"),
      jobIntervalSeconds = JobKinds.map(kind => kind -> Settings.number(conf, s"spark.colocate.$kind.interval")).toMap,
      python = PythonChoice.of(session))
  }

  private def local(warehouse: String): String = {
    val uri = new Path(warehouse).toUri
    val isLocal = uri.getScheme == null || uri.getScheme == "file"
    if (isLocal) s"sqlite:///${new java.io.File(uri.getPath).getAbsolutePath}/_colocate/store.sqlite" else ""
  }

  private def inner(session: SparkSession): Map[String, String] =
    session.sessionState.conf.getAllConfs.filter(_._1.startsWith("spark.sql.catalog.spark_catalog.inner"))

  private def isHive(session: SparkSession): Boolean =
    session.sessionState.conf.getConf(StaticSQLConf.CATALOG_IMPLEMENTATION) == "hive"

  private def isEphemeral(session: SparkSession): Boolean = inner(session).isEmpty && !isHive(session)

  /** Two drivers on the same catalog have the same identity, two catalogs never. It holds no secret. */
  private def identity(session: SparkSession): String = {
    val context = session.sparkContext
    if (inner(session).nonEmpty) s"inner:${digest(inner(session).toSeq.sorted.mkString("\n"))}"
    else if (isHive(session)) s"hive:${metastore(session)}"
    else s"in-memory:${context.applicationId}:${context.startTime}:${ProcessHandle.current().pid()}"
  }

  private def metastore(session: SparkSession): String = {
    val hadoop = session.sessionState.newHadoopConf()
    val uris = hadoop.getTrimmed("hive.metastore.uris", hadoop.getTrimmed("spark.hadoop.hive.metastore.uris", ""))
    val key = "javax.jdo.option.ConnectionURL"
    val database = hadoop.getTrimmed(key, hadoop.getTrimmed(s"spark.hadoop.$key", "metastore_db"))
    // An embedded Derby is named relative to the folder that the driver was started in.
    val folder = if (database.matches(".*databaseName=/.*|jdbc:(?!derby).*")) "" else derbyHome
    if (uris.nonEmpty) uris else digest(database + "\n" + folder)
  }

  private def derbyHome: String = sys.props.getOrElse("derby.system.home", sys.props("user.dir"))

  private def digest(text: String): String =
    MessageDigest.getInstance("SHA-256").digest(text.getBytes("UTF-8")).take(8).map(b => f"$b%02x").mkString
}
