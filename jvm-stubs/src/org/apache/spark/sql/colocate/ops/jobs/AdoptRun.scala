package org.apache.spark.sql.colocate.ops.jobs

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.compat.delta.{LayoutChanges, OpenLayoutChange, TableFile}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.declared.{DeltaLayout, KeyDeclaration}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout}
import org.apache.spark.sql.types.{IntegerType, MetadataBuilder, StructField}
import org.json4s.JValue

/**
 * One look at a table that is being adopted: its newest version, and which of its files are written by bucket already.
 *
 * @param keys    the bucket keys, spelled as the table's columns, in order
 * @param buckets their number
 * @param added   the properties that the table gets
 */
private[jobs] class AdoptRun(
    val change: OpenLayoutChange,
    val staged: StagedParts,
    keys: Seq[String],
    buckets: Int,
    added: Map[String, String]) {

  private lazy val live: Seq[TableFile] = change.files

  private lazy val names: Map[String, TableFile] = live.map(file => LayoutChanges.versionOf(file) -> file).toMap

  /** The parts that are written, and that the table has not changed since. */
  lazy val parts: Seq[StagedPart] = if (isCommitted) Nil else staged.valid(names.keySet)

  /** The table's files that are in no part, those of a partition one after another. */
  lazy val left: Seq[TableFile] = if (isCommitted) Nil else {
    val done = parts.flatMap(_.sources).toSet
    names.filterNot(entry => done(entry._1)).values.toSeq.sortBy(f => (f.partitionValues.toSeq.sorted.toString, f.path))
  }

  def layout: BucketLayout =
    BucketLayout(keys, keys.map(key => change.snapshot.schema(key).dataType), buckets)

  /** Gives the transaction the columns and properties that the table is to have. */
  def addColumn(): Unit = change.add(AdoptRun.column(keys, buckets), added)

  /** Has the table got its buckets in a commit of this run already? */
  lazy val isCommitted: Boolean =
    change.noted(staged.note).contains(1L) || live.exists(file => staged.partOf(file.path).isDefined)

  /** Is there to be no commit any more, because the job was ended? */
  def isFenced: Boolean = change.noted(staged.note).contains(0L)

  def commit(): Unit = change.commit(live, parts.flatMap(_.added), staged.note)

  def progress: Map[String, Any] = Map[String, Any]("left_files" -> left.size, "left_bytes" -> left.map(_.bytes).sum)
}

private[jobs] object AdoptRun {

  /** Fails if the table is not what it was when the job began. part: the name of a part that is to be written. */
  def of(session: SparkSession, table: JobTable, args: JValue, part: String): AdoptRun = {
    if (!table.exists(session)) throw changed(table, "there is no table of this name any more")
    session.catalog.refreshTable(table.quoted)
    val loaded = table.load(session)
    SelfCheck.require(table.quoted, DeltaHooks.Adopt)
    if (!DeltaTables.isDelta(loaded)) throw changed(table, "it is no Delta table any more")
    val staged = StagedParts.of(session, table.root(session), (args \ "run").extract[String])
    val run = new AdoptRun(
      LayoutChanges.on(loaded, staged.folderOf(part)),
      staged,
      (args \ "keys").extract[Seq[String]],
      (args \ "buckets").extract[Int],
      (args \ "added").extract[Map[String, String]])
    if (!run.isCommitted && AdoptedShape(run.change.snapshot).digest != (args \ "shape").extract[String])
      throw changed(table, "its columns, its partitioning or its column mapping have changed, or it was made anew")
    run
  }

  /** The same column as CREATE TABLE ... CLUSTERED BY makes, of a table without a key model. */
  private def column(keys: Seq[String], buckets: Int): StructField = {
    val layout = DeltaLayout(keys, buckets)
    val metadata = new MetadataBuilder().withMetadata(KeyDeclaration.metadata(Map.empty))
      .putString(BucketColumn.GenerationKey, layout.expression(None)).build()
    StructField(BucketColumn.Name, IntegerType, nullable = true, metadata)
  }

  private def changed(table: JobTable, how: String): ColocateException = new ColocateException("ADOPT_CHANGED",
    s"Cannot go on adopting ${table.quoted}: $how since the job began. Nothing was changed; start it again with CALL " +
      "system.colocate(...) on the table as it is now.")
}
