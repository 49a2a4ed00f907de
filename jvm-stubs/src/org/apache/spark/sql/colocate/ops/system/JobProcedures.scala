package org.apache.spark.sql.colocate.ops.system

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.{ControlPlane, LocalRows}
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types._
import org.json4s.JValue

/** The result of a call on a job: a short row of `system.colocation_jobs`. */
private object JobAnswer {
  val Columns = "job_id INT, kind STRING, target STRING, state STRING, steps INT, steps_done INT, " +
    "findings ARRAY<STRING>, error STRING"
  private val schema = StructType.fromDDL(Columns)

  def of(job: JValue): Row = LocalRows.row(job, schema)
}

/**
 * A call that starts a job on one table or on a group, and answers at once, or with `wait => true` when the job has
 * ended. With `dry_run => true` it answers with the steps that the job would have.
 */
abstract class JobProcedure(kind: String, help: String) extends SystemProcedure(kind, help, JobAnswer.Columns) {

  private val Steps = StructType.fromDDL("step INT, label STRING, buckets INT, bytes BIGINT")

  /** The options of this kind of job; all are strings. */
  protected def options: Seq[ProcedureParameter] = Nil

  /** Is there such a job on one table alone? */
  protected def ofTables: Boolean = true

  override def parameters(): Array[ProcedureParameter] =
    (Seq(optional("table", StringType, "''"), optional("group", StringType, "''")) ++ options ++
      Seq(optional("wait", BooleanType, "false"), optional("dry_run", BooleanType, "false"))).toArray

  override protected def rows(session: SparkSession, input: InternalRow): LocalRows = {
    val dryRun = input.getBoolean(3 + options.size)
    if (!dryRun) super.rows(session, input)
    else {
      val steps = ControlPlane.call(session, "rehearse_job", wanted(session, input): _*).children
      new LocalRows(Steps, steps.map(LocalRows.row(_, Steps)))
    }
  }

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val job = ControlPlane.call(session, "start_job", wanted(session, input): _*)
    Seq(JobAnswer.of(if (input.getBoolean(2 + options.size)) WaitForJob(session, job) else job))
  }

  private def wanted(session: SparkSession, input: InternalRow): Seq[(String, Any)] = {
    val asked = options.zipWithIndex.map { case (option, i) => option.name -> input.getString(2 + i) }
    Seq(
      "kind" -> kind,
      "target" -> target(input.getString(0), input.getString(1)),
      "db" -> session.catalog.currentDatabase,
      "options" -> asked.toMap)
  }

  private def target(table: String, group: String): String = (table, group) match {
    case (named, "") if named.nonEmpty => s"table:$named"
    case ("", named) if named.nonEmpty => s"group:$named"
    case _ => throw new ColocateException("JOB_TARGET",
        if (ofTables) s"Cannot $kind: name either a table or a group. CALL system.$kind(group => 'db.g') is for all " +
          s"tables of a group, CALL system.$kind(table => 'db.t') for one."
        else s"Cannot $kind: name a group, and no table. CALL system.$kind(group => 'db.g').")
  }
}

object Verify extends JobProcedure(
      "verify",
      "Checks whether the rows of each file are in the bucket that the file claims. mode: rows, sample or metadata.") {
  override protected def options: Seq[ProcedureParameter] = Seq(optional("mode", StringType, "'rows'"))
}

object Repair extends JobProcedure(
      "repair",
      "Gives the buckets of lost hosts to others, moves blocks on HDFS to the hosts of their buckets, and writes the " +
        "rows of strays into files of their buckets.")

object Balance extends JobProcedure(
      "balance",
      "Evens the bytes that hosts hold of a group, by moving buckets one at a time.") {
  override protected def ofTables: Boolean = false
}

/**
 * Makes a Delta table as it is a member of a group. With `dry_run => true` it says what the table would become, what
 * that takes, and what sessions without the extension would see.
 */
object Colocate extends SystemProcedure(
      "colocate",
      "Makes a Delta table as it is a member of a group, in a job. Its files are written anew by bucket while others " +
        "read and write it.",
      JobAnswer.Columns) {

  private val Facts = StructType.fromDDL("fact STRING, value STRING")

  override def parameters(): Array[ProcedureParameter] = Array(
    required("table", StringType),
    required("group", StringType),
    required("keys", ArrayType(StringType)),
    optional("buckets", IntegerType, "0"),
    optional("wait", BooleanType, "false"),
    optional("dry_run", BooleanType, "false"))

  override protected def rows(session: SparkSession, input: InternalRow): LocalRows =
    if (!input.getBoolean(5)) super.rows(session, input)
    else {
      val facts = ControlPlane.call(session, "rehearse_job", wanted(session, input): _*).children
      new LocalRows(Facts, facts.map(LocalRows.row(_, Facts)))
    }

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val job = ControlPlane.call(session, "start_job", wanted(session, input): _*)
    Seq(JobAnswer.of(if (input.getBoolean(4)) WaitForJob(session, job) else job))
  }

  private def wanted(session: SparkSession, input: InternalRow): Seq[(String, Any)] = {
    val keys = input.getArray(2)
    refuseTemporary(session, input.getString(0))
    Seq(
      "kind" -> "adopt",
      "target" -> input.getString(0),
      "group" -> input.getString(1),
      "db" -> session.catalog.currentDatabase,
      "options" -> Map[String, Any](
        "keys" -> (0 until keys.numElements()).map(i => if (keys.isNullAt(i)) "" else keys.getUTF8String(i).toString),
        "buckets" -> input.getInt(3)))
  }

  /** The job runs in a session of its own, which would take a table of this name for the view. */
  private def refuseTemporary(session: SparkSession, table: String): Unit = {
    val parts = session.sessionState.sqlParser.parseMultipartIdentifier(table)
    if (session.sessionState.catalog.isTempView(parts)) throw new ColocateException("ADOPT_REFUSED",
      s"Cannot adopt $table: it is a temporary view of this session, and only a table has files that can be written " +
        "anew. Name the Delta table that the view reads, as db.t.")
  }
}

/** A call on a job by its id. */
abstract class JobCall(title: String, help: String) extends SystemProcedure(title, help, JobAnswer.Columns) {

  override def parameters(): Array[ProcedureParameter] = Array(required("job_id", LongType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] =
    Seq(JobAnswer.of(answer(session, input.getLong(0))))

  protected def answer(session: SparkSession, id: Long): JValue = ControlPlane.call(session, title, "job_id" -> id)
}

object PauseJob extends JobCall("pause_job", "Stops a job after its running step.")

object ResumeJob extends JobCall("resume_job", "Lets a paused job go on.")

object CancelJob extends JobCall("cancel_job", "Ends a job, and stops its running step. What is done stays.")

object WaitJob extends JobCall("wait_job", "Waits until a job has ended.") {
  override protected def answer(session: SparkSession, id: Long): JValue =
    WaitForJob(session, ControlPlane.call(session, "job", "job_id" -> id))
}

/** Waits for the end of a job. Whoever stops waiting does not stop the job. */
private object WaitForJob {
  private val PollMillis = 500L
  private val TellMillis = 10000L
  private val Ends = Set("done", "failed", "cancelled", "paused")

  def apply(session: SparkSession, started: JValue): JValue = {
    val id = (started \ "job_id").extract[Long]
    var (job, told) = (started, System.currentTimeMillis())
    while (!Ends(text(job, "state"))) {
      Thread.sleep(PollMillis)
      job = ControlPlane.call(session, "job", "job_id" -> id)
      if (System.currentTimeMillis() - told >= TellMillis) {
        told += TellMillis
        System.err.println(progress(job))
      }
    }
    if (text(job, "state") == "failed") throw new ColocateException("JOB_FAILED",
      s"Job $id (${text(job, "kind")} ${text(job, "target")}) has failed: ${text(job, "error")}")
    job
  }

  private def progress(job: JValue): String = {
    def number(name: String) = (job \ name).extractOpt[Long].getOrElse(0L)
    s"job ${number("job_id")} (${text(job, "kind")} ${text(job, "target")}): ${text(job, "state")}, " +
      s"${number("steps_done")} of ${number("steps")} steps, ${number("bytes_done")} of ${number("bytes")} bytes" +
      (job \ "error").extractOpt[String].filter(_.nonEmpty).fold("")(why => s". $why")
  }

  private def text(job: JValue, field: String): String = (job \ field).extract[String]
}
