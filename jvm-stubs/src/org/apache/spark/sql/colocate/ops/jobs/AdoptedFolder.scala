package org.apache.spark.sql.colocate.ops.jobs

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.compat.delta.{LayoutChanges, OpenLayoutChange}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.connector.catalog.Identifier
import org.json4s.JValue

/** The folder in which an adoption has written files, whatever name its table has by now. */
private[jobs] class AdoptedFolder(session: SparkSession, root: Path, val staged: StagedParts) {

  /** The newest version of the table; None if its log is gone. */
  def change: Option[OpenLayoutChange] = {
    val log = new Path(root, "_delta_log")
    val isThere = log.getFileSystem(session.sessionState.newHadoopConf()).exists(log)
    Option.when(isThere)(
      LayoutChanges.on(DeltaTables.load(session, Identifier.of(Array("delta"), root.toString)), folder = ""))
  }

  /**
   * Was the adoption committed? The commit has noted it; where the table forgets such notes after a while, its files
   * still say it.
   */
  def isCommitted: Boolean =
    change.exists(now => now.noted(staged.note).contains(1L) || now.files.exists(f => staged.partOf(f.path).isDefined))

  /** Is it known that there was a commit, or that there will be none? */
  def isSettled: Boolean = change.forall(_.noted(staged.note).isDefined)

  /** Keeps the parts with files of the table, also of its older versions, as long as its log names them. */
  def finish(): Unit =
    change.foreach(now => staged.finish(LayoutChanges.pathsOf(now).flatMap(staged.partOf)))
}

private[jobs] object AdoptedFolder {

  /**
   * The folder of the table, or the one that it had when the job began, or that of another table of the database: a
   * managed table that is renamed takes its folder along. None if none has files of the adoption.
   */
  def find(session: SparkSession, table: JobTable, args: JValue): Option[AdoptedFolder] = {
    val run = (args \ "run").extract[String]
    val before = new Path((args \ "location").extract[String])
    val now = if (table.exists(session)) Seq(table.root(session)) else Nil
    (now.iterator ++ Iterator(before) ++ others(session, table))
      .map(root => new AdoptedFolder(session, root, StagedParts.of(session, root, run))).find(_.staged.isThere)
  }

  private def others(session: SparkSession, table: JobTable): Iterator[Path] = {
    val catalog = session.sessionState.catalog
    if (!catalog.databaseExists(table.db)) Iterator.empty
    else catalog.listTables(table.db).iterator.filter(_.database.isDefined)
      .map(catalog.getTableMetadata).flatMap(_.storage.locationUri).map(new Path(_))
  }
}
