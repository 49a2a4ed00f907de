package org.apache.spark.sql.colocate.ops.system

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.orc.OrcFile
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.colocate.compat.delta.DeltaSnapshot
import org.apache.spark.sql.colocate.evidence.delta.{DamageMark, DeltaIndexes, DeltaTables}
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.{NoSuchDatabaseException, NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.verify.FileTrust
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketFileName}
import org.apache.spark.sql.colocate.ops.jobs.{JobTable, MemberScan}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex
import org.apache.spark.sql.functions.{col, count, element_at, get_json_object, lit, sum, udf, when}
import org.apache.spark.util.ThreadUtils

/** A member as the control plane lists it. */
case class MemberFacts(group: String, groupId: String, db: String, table: String, format: String, buckets: Int)

/**
 * Files of one bucket.
 *
 * @param bucket `None` for strays: files whose bucket is unknown or not trusted
 * @param rows   `None` if not counted
 */
case class BucketStats(bucket: Option[Int], files: Long, bytes: Long, rows: Option[Long]) {
  def +(other: BucketStats): BucketStats = copy(
    files = files + other.files,
    bytes = bytes + other.bytes,
    rows = rows.zip(other.rows).map { case (mine, theirs) => mine + theirs })
}

/** Files, bytes and rows of each bucket of a member: from Delta's log, or from the folder of a native table. */
object MemberFiles {

  private val FooterThreads = 8

  /**
   * None: the catalog does not have the table any more, or another one of its name: it was dropped by a session without
   * us (`system.reconcile`).
   */
  def of(session: SparkSession, member: MemberFacts, rows: Boolean): Option[Seq[BucketStats]] =
    try if (member.format == "delta") ofDelta(session, member) else Some(ofNative(session, member, rows))
    catch { case _: NoSuchTableException | _: NoSuchDatabaseException | _: NoSuchNamespaceException => None }

  private def ofDelta(session: SparkSession, member: MemberFacts): Option[Seq[BucketStats]] = {
    val table = JobTable(member.db, member.table, member.format).load(session)
    Option.when(DeltaTables.isDelta(table))(ofSnapshot(session, member, table))
  }

  private def ofSnapshot(session: SparkSession, member: MemberFacts, table: Table): Seq[BucketStats] = {
    val snapshot = DeltaIndexes.snapshotOfTable(table)
    val bucket = bucketOf(session, member, snapshot)
    val counted = get_json_object(col("stats"), "$.numRecords").cast("long")
    DeltaIndexes.allFilesOf(snapshot)
      .groupBy(bucket.as("bucket"))
      .agg(count(lit(1)), sum("size"), sum(counted), count(counted))
      .collect().toSeq
      .map { row =>
        val known = Option.when(!row.isNullAt(0))(row.getInt(0)).filter(b => b >= 0 && b < member.buckets)
        val complete = row.getLong(4) == row.getLong(1)
        BucketStats(known, row.getLong(1), row.getLong(2), Option.when(complete)(row.getLong(3)))
      }
  }

  /** The bucket of the file of a row of Delta's log; null for a stray. */
  private[system] def bucketOf(session: SparkSession, member: MemberFacts, snapshot: DeltaSnapshot): Column = {
    val named = element_at(col("partitionValues"), lit(snapshot.physicalName(BucketColumn.Name))).cast("int")
    val strays = strayFiles(session, member, snapshot)
    val isStray = if (strays.isEmpty) lit(false) else udf(strays.contains(_: String)).apply(col("path"))
    when(!isStray, named)
  }

  /** Files that a check has found damaged, as the log names them. */
  private def strayFiles(session: SparkSession, member: MemberFacts, snapshot: DeltaSnapshot): Set[String] =
    if (!DamageMark.isSet(snapshot)) Set.empty
    else {
      val scan = MemberScan.of(session, JobTable(member.db, member.table, member.format))
      DeltaIndexes.preparedFiles(scan.relation.location).map(_.path).filter(scan.isStray).toSet
    }

  private def ofNative(session: SparkSession, member: MemberFacts, rows: Boolean): Seq[BucketStats] = {
    val table = session.sessionState.catalog.getTableMetadata(TableIdentifier(member.table, Some(member.db)))
    val files = listed(session, table)
    val known = FileTrust.known(session, table)
    val counts = if (rows) counted(session, member.format, files).map(Some(_)) else files.map(_ => None)
    files.zip(counts).map { case (file, count) =>
      val bucket = BucketFileName.bucketOf(file.getPath.getName, member.buckets)
        .filterNot(_ => known.of(file).contains(true))
      BucketStats(bucket, 1, file.getLen, count)
    }
  }

  private[system] def listed(session: SparkSession, table: CatalogTable): Seq[FileStatus] = {
    val catalog = session.sessionState.catalog
    val root = new Path(table.location)
    // A partition may have a location outside of the table.
    val partitions = if (table.tracksPartitionsInCatalog) catalog.listPartitions(table.identifier) else Nil
    val elsewhere = partitions.map(p => new Path(p.location)).filterNot(_.toString.startsWith(s"$root/"))
    new InMemoryFileIndex(session, root +: elsewhere, table.storage.properties, Some(table.schema)).allFiles()
  }

  /** Row counts from the files' footers: no Spark job, a few reads at a time. */
  private def counted(session: SparkSession, format: String, files: Seq[FileStatus]): Seq[Long] = {
    val conf = session.sessionState.newHadoopConf()
    ThreadUtils.parmap(files, "colocate-footers", FooterThreads) { file =>
      if (format == "orc") {
        val reader = OrcFile.createReader(file.getPath, OrcFile.readerOptions(conf))
        try reader.getNumberOfRows finally reader.close()
      } else {
        val reader = ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf))
        try reader.getRecordCount finally reader.close()
      }
    }
  }
}
