package org.apache.spark.sql.colocate.ops.system

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.describe.{BucketedTable, DeclaredLayout, DeclaredLayouts, Unreadable}
import org.apache.spark.sql.colocate.declared.{GroupProperties, RowModels, TableSpec}
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, DeltaTables, SortedTags}
import org.apache.spark.sql.colocate.evidence.verify.FileTrust
import org.apache.spark.sql.colocate.layout.BucketFileName
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.{CharType, Metadata, VarcharType}

/**
 * Files of one bucket.
 *
 * @param bucket      None for strays
 * @param tablets     partitions of the table that have files in it
 * @param uncompacted files of a key model that may have several rows for a key
 */
private[system] case class InspectedBucket(
    bucket: Option[Int],
    files: Long,
    bytes: Long,
    tablets: Long,
    uncompacted: Long)

/** The tables' part of what doctor looks at, as arguments of the control plane's verb `doctor`. */
private[system] class InspectedTables(session: SparkSession) extends Logging {

  private type Facts = Map[String, Any]

  /** Facts of each table, and the names of those that could not be read, with `why`. */
  def of(tables: Seq[BucketedTable]): (Seq[Facts], Seq[Facts]) = tables.partitionMap { table =>
    try {
      Unreadable.plan(session, table)
      Left(facts(table))
    } catch {
      case NonFatal(e) =>
        logWarning(s"Doctor passes ${table.spec.name.unquotedString} over, because its files can't be read", e)
        Right(TableSpec.named(table.spec.name).toMap ++ Map(
          "why" -> Unreadable.why(e), "isBucketed" -> true, "readable" -> Unreadable.lastReadable(session, table)))
    }
  }

  private def facts(table: BucketedTable): Facts = {
    val (buckets, unchecked) = table.delta.fold(ofNative(table))(delta => (ofDelta(table, delta), 0))
    val (strays, placed) = buckets.partition(_.bucket.isEmpty)
    table.spec.facts.toMap ++ Map(
      "files" -> placed.map(bucket),
      "strays" -> strays.map(_.files).sum,
      "strayBytes" -> strays.map(_.bytes).sum,
      "unchecked" -> unchecked,
      "hasKeyModel" -> table.delta.exists(delta => Try(RowModels().of(delta).isDefined).getOrElse(true)),
      "isPlain" -> layout(table).exists(isPlain))
  }

  private def bucket(of: InspectedBucket): Facts = Map(
    "bucket" -> of.bucket.get,
    "files" -> of.files,
    "bytes" -> of.bytes,
    "tablets" -> of.tablets,
    "uncompacted" -> of.uncompacted)

  /** The buckets by Delta's log: counted by tablet, then by bucket. */
  private def ofDelta(table: BucketedTable, delta: Table): Seq[InspectedBucket] =
    DeltaTables.layoutOf(session, delta).toSeq.flatMap { layout =>
      val snapshot = DeltaIndexes.snapshotOfTable(delta)
      val bucket = MemberFiles.bucketOf(session, member(table, layout.most), snapshot)
      val mark = element_at(col("tags"), lit(SortedTags.Compacted))
      val isCompacted = col("marked") === col("files") && col("first") === col("last")
      DeltaIndexes.allFilesOf(snapshot)
        .groupBy(bucket.as("bucket"), array_sort(map_entries(col("partitionValues"))))
        .agg(
          count(lit(1)).as("files"), sum("size").as("bytes"),
          count(mark).as("marked"), min(mark).as("first"), max(mark).as("last"))
        .groupBy("bucket")
        .agg(sum("files"), sum("bytes"), count(lit(1)), sum(when(isCompacted, lit(0L)).otherwise(col("files"))))
        .collect().toSeq
        .map { row =>
          val known = Option.when(!row.isNullAt(0))(row.getInt(0)).filter(b => b >= 0 && b < layout.most)
          InspectedBucket(known, row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4))
        }
    }

  private def member(table: BucketedTable, buckets: Int): MemberFacts =
    MemberFacts(table.spec.group, "", table.spec.name.database.get, table.spec.name.table, "delta", buckets)

  /** The files of each bucket, and how many of all were never checked. */
  private def ofNative(table: BucketedTable): (Seq[InspectedBucket], Int) = {
    val known = FileTrust.known(session, table.entry)
    val files = MemberFiles.listed(session, table.entry)
      .map(file => (file, BucketFileName.bucketOf(file.getPath.getName, table.spec.buckets), known.of(file)))
    val buckets = files
      .groupBy { case (_, claimed, isStray) => claimed.filterNot(_ => isStray.contains(true)) }
      .map { case (bucket, found) =>
        val tablets = found.map(_._1.getPath.getParent).distinct.size
        InspectedBucket(bucket, found.size, found.map(_._1.getLen).sum, tablets, 0)
      }
    val isMember = table.spec.group.nonEmpty
    val unchecked = files.count { case (_, claimed, isStray) => isMember && claimed.isDefined && isStray.isEmpty }
    (buckets.toSeq, if (FileTrust.trustsNames(session.sessionState.conf)) 0 else unchecked)
  }

  private def layout(table: BucketedTable): Option[DeclaredLayout] = {
    val name = table.spec.name.unquotedString
    table.delta.fold(DeclaredLayouts.ofNative(table.entry)) { delta =>
      Some(DeclaredLayouts.ofDelta(name, delta, DeltaTables.layoutOf(session, delta)))
    }
  }

  /** Does CREATE TABLE AS SELECT make the table again without losing anything? */
  private def isPlain(table: DeclaredLayout): Boolean =
    table.partitions.isEmpty && table.comment.isEmpty && table.location.isEmpty && table.options.isEmpty &&
      table.buckets.forall(_.sortColumnNames.isEmpty) &&
      table.properties.keys.forall(InspectedTables.Given) &&
      table.columns.forall(column => column.nullable && column.metadata == Metadata.empty &&
        !column.dataType.existsRecursively(kind => kind.isInstanceOf[VarcharType] || kind.isInstanceOf[CharType]))
}

private[system] object InspectedTables {

  /** Properties that the new table gets as well. */
  private val Given = Set(GroupProperties.Group, GroupProperties.Replication, "parquet.block.size")
}
