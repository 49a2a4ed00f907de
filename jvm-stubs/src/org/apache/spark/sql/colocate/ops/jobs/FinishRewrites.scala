package org.apache.spark.sql.colocate.ops.jobs

import java.util.UUID
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.GroupState
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, LogicalRelationWithTable}

/**
 * Matches: a statement that reads a native table in whose folder a repair has begun to move files, and whose driver may
 * have ended. Between the moves the folder has rows twice, and the driver that goes on with the repair removes files
 * that the statement has listed.
 * Produces: the same plan; the table's files are listed again when the moves are done. That is soon if a living driver
 * runs the job. After some seconds the statement does the moves itself, as a successor in the job would.
 * Not when: no repair has begun to move files since the last one ended, which the groups' state says.
 */
case class FinishRewrites(session: SparkSession) extends (LogicalPlan => Unit) with Logging {
  import FinishRewrites._

  override def apply(plan: LogicalPlan): Unit = {
    val rewriting = GroupState.current.rewriting
    if (rewriting.nonEmpty && !ofRepair.get) plan.foreachWithSubqueries {
      case relation @ LogicalRelationWithTable(files: HadoopFsRelation, Some(table))
          if table.identifier.database.exists(db => rewriting(db -> table.identifier.table)) =>
        try finish(relation.asInstanceOf[LogicalRelation], files, new Path(table.location))
        catch { case NonFatal(e) => logWarning(s"The moves in ${table.identifier} could not be finished", e) }
      case _ =>
    }
  }

  private def finish(relation: LogicalRelation, files: HadoopFsRelation, root: Path): Unit = {
    val fs = root.getFileSystem(session.sessionState.newHadoopConfWithOptions(files.options))
    val qualified = fs.makeQualified(root)
    val deadline = System.nanoTime() + WaitNanos
    while (RewriteFolder.areMoving(fs, qualified) && System.nanoTime() < deadline) Thread.sleep(PollMillis)
    if (RewriteFolder.areMoving(fs, qualified)) {
      val mine = RewriteFolder.of(fs, qualified, s"0-${UUID.randomUUID()}")
      mine.open()
      try mine.others.foreach(mine.takeOver) finally mine.removeIfDone()
    }
    // This analyzes the table, too.
    relation.catalogTable.foreach { table =>
      without(session.catalog.refreshTable(table.identifier.quotedString))
    }
    files.location.refresh()
  }
}

private[colocate] object FinishRewrites {

  /** True in a thread that skips this rule: a repair finishes moves itself, as the owner of its job. */
  private val ofRepair = ThreadLocal.withInitial[Boolean](() => false)

  def without[A](act: => A): A = {
    val before = ofRepair.get
    ofRepair.set(true)
    try act finally ofRepair.set(before)
  }

  private val PollMillis = 100L
  private val WaitNanos = 5L * 1000 * 1000 * 1000
}
