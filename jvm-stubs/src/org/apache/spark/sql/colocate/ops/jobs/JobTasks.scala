package org.apache.spark.sql.colocate.ops.jobs

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTableType
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.DriverTasks
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.{ColocateException, Json}
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.json4s.JValue

/** A member that a task works on, as the control plane knows it. */
case class JobTable(db: String, table: String, format: String) {
  def quoted: String = quoteNameParts(Seq(db, table))
  def isDelta: Boolean = format == "delta"

  def load(session: SparkSession): Table = DeltaTables.load(session, Identifier.of(Array(db), table))

  /** Is there a table of this name, and no view? */
  def exists(session: SparkSession): Boolean = {
    val catalog = session.sessionState.catalog
    catalog.databaseExists(db) && catalog.tableExists(name) &&
    catalog.getTableMetadata(name).tableType != CatalogTableType.VIEW
  }

  /** The folder of its files. */
  def root(session: SparkSession): Path = new Path(session.sessionState.catalog.getTableMetadata(name).location)

  private def name: TableIdentifier = TableIdentifier(table, Some(db))
}

/** The tasks as the bridge finds them: as a service, which is a class. */
class FoundJobTasks extends DriverTasks {
  override def run(session: SparkSession, task: String, args: String, jobGroup: String): String =
    JobTasks.run(session, task, args, jobGroup)

  override def cancel(session: SparkSession, jobGroup: String): Unit = JobTasks.cancel(session, jobGroup)
}

/** A part of a job on the files of one table. It may be repeated: what it did before, it finds done. */
trait JobTask {
  def run(session: SparkSession, table: JobTable, args: JValue): Any
}

/**
 * The tasks that jobs of the control plane ask for, by name (`engine/protocol.py`). Each runs in a session of its own,
 * so users' settings and temporary views do not reach it.
 */
private[colocate] object JobTasks {

  private val all: Map[String, JobTask] = Map(
    "bucket_sizes" -> BucketSizes,
    "verify_buckets" -> VerifyBuckets,
    "clear_damage" -> ClearDamage,
    "strays" -> StrayParts,
    "open_rewrite" -> OpenRewrite,
    "rewrite_strays" -> RewriteStrays,
    "misplaced_blocks" -> MisplacedBlocks,
    "move_blocks" -> MoveBlocks,
    "adopt_facts" -> AdoptFacts,
    "adopt_part" -> AdoptPart,
    "adopt_keep" -> AdoptKeep,
    "adopt_mark" -> AdoptMark,
    "adopt_commit" -> AdoptCommit,
    "adopt_finish" -> AdoptFinish,
    "adopt_drop" -> AdoptDrop,
    "adopt_discard" -> AdoptDiscard)

  /** The answer as JSON: `ok`, or `error` with its message and whether it is final. */
  def run(parent: SparkSession, name: String, args: String, jobGroup: String): String = {
    val session = parent.newSession()
    // A file that can't be read must fail the task: its rows would be taken for checked, or lost.
    Seq("ignoreCorruptFiles", "ignoreMissingFiles").foreach(key => session.conf.set(s"spark.sql.files.$key", "false"))
    val before = SparkSession.getActiveSession
    SparkSession.setActiveSession(session)
    session.sparkContext.setJobGroup(jobGroup, s"colocate: $name", interruptOnCancel = true)
    try Json.write(Map("ok" -> done(session, name, Json.parse(args))))
    catch {
      case NonFatal(e) => failed(e)
      case e: InterruptedException => failed(e)
    } finally {
      session.sparkContext.clearJobGroup()
      before.fold(SparkSession.clearActiveSession())(SparkSession.setActiveSession)
    }
  }

  /** What runs under a job group ends with an error, and so does what it would still start. */
  def cancel(session: SparkSession, jobGroup: String): Unit =
    session.sparkContext.cancelJobGroupAndFutureJobs(jobGroup)

  private def done(session: SparkSession, name: String, args: JValue): Any = {
    val task = all.getOrElse(name, throw new ColocateException("VERB_UNKNOWN",
      s"This driver has no task $name (tasks: ${all.keys.toSeq.sorted.mkString(", ")}). The jar and the Python " +
        "package are of different versions: install the same one for both."))
    val table = JobTable(
      (args \ "db").extract[String],
      (args \ "table").extract[String],
      (args \ "format").extract[String])
    task.run(session, table, args)
  }

  private def failed(e: Throwable): String =
    Json.write(Map("error" -> Map[String, Any]("message" -> message(e), "final" -> isFinal(e))))

  private def message(e: Throwable): String = Option(root(e).getMessage).getOrElse(e.toString)

  @tailrec
  private def root(e: Throwable): Throwable = e match {
    case known: ColocateException => known
    case wrapped if wrapped.getCause != null && wrapped.getCause != wrapped => root(wrapped.getCause)
    case _ => e
  }

  /** A statement that can't be analyzed fails again; a lost executor or a commit in between does not. */
  private def isFinal(e: Throwable): Boolean = e match {
    case _: ColocateException | _: AnalysisException => true
    case _ => false
  }
}
