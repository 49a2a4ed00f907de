package org.apache.spark.sql.colocate.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.colocate.bridge.{GroupState, MemberInfo}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, PartitionedFile}

/** Where the proof of a file's bucket comes from. */
sealed trait BucketSource

object BucketSource {

  /**
   * Delta: the value of the partition column at this position of the file's partition values.
   *
   * @param range the position of the range partition's name, if partitions have different numbers of buckets
   */
  case class PartitionValue(ordinal: Int, range: Option[Int] = None) extends BucketSource

  /** Native: the id in a file name of Spark's full pattern. */
  case object FileName extends BucketSource
}

/**
 * What a scan's own metadata proves about its files.
 *
 * @param layout  keys and bucket count
 * @param source  where each file's bucket id is found
 * @param group   full name of the colocation group, if the table is in one
 * @param table   the table's name for messages
 * @param root    the table's folder, which has its manifest
 * @param damaged a check of a Delta table has found files that are not of the bucket that they claim
 */
case class Evidence(
    layout: BucketLayout,
    source: BucketSource,
    group: Option[String],
    table: String,
    root: String = "",
    damaged: Boolean = false) {

  /** May files have rows of other buckets than they claim? Which ones is in the manifest of the table. */
  def mayHaveStrays: Boolean = source == BucketSource.FileName || damaged

  /** The bucket that a file claims to hold, if it names one of this layout. */
  def bucketOf(file: PartitionedFile): Option[Int] = source match {
    case BucketSource.FileName => BucketFileName.bucketOf(file.toPath.getName, layout.buckets)
    // The null check comes first: getInt of a null gives 0.
    case BucketSource.PartitionValue(ordinal, _) =>
      Option
        .when(!file.partitionValues.isNullAt(ordinal))(file.partitionValues.getInt(ordinal))
        .flatMap(layout.bucketOf(rangeOf(file.partitionValues), _))
  }

  /**
   * Can the file have rows whose keys have this hash, by the number of buckets of its own range partition? Also if it
   * names no bucket: then whoever reads the files refuses it.
   */
  def mayHold(file: PartitionedFile, hash: Int): Boolean = source match {
    case BucketSource.PartitionValue(ordinal, Some(_)) if bucketOf(file).isDefined =>
      val number = layout.partitions.flatMap(_.of(rangeOf(file.partitionValues)))
      number.forall(Math.floorMod(hash, _) == file.partitionValues.getInt(ordinal))
    case _ => true
  }

  /** The range partition of files with these partition values, where partitions have different numbers of buckets. */
  def rangeOf(values: InternalRow): Option[String] = source match {
    case BucketSource.PartitionValue(_, Some(range)) if !values.isNullAt(range) => Some(values.getString(range))
    case _ => None
  }
}

/** Why a scan of a table that has, or claims, a layout proves nothing: a code of conf/reasons.json, its arguments. */
case class EvidenceGap(code: String, args: Map[String, String])

object EvidenceGap {
  def of(code: String, args: (String, String)*): EvidenceGap = EvidenceGap(code, args.toMap)
}

/** Names in what is proven of a table: of its group, and its own. */
object Evidence {

  /** The full group name: as the registry knows the table, else by the property and the table's database. */
  private[colocate] def groupOf(
      property: Option[String],
      table: Option[CatalogTable],
      location: => String): Option[String] =
    property.filter(_.nonEmpty).map { name =>
      memberOf(table, location).map(_.group).getOrElse(fullName(name, table.flatMap(_.identifier.database)))
    }

  /** The table as the registry knows it, by its name or, if it is read by path, by its location. */
  private[colocate] def memberOf(table: Option[CatalogTable], location: => String): Option[MemberInfo] = {
    val state = GroupState.current
    table
      .flatMap(t => t.identifier.database.map(_ -> t.identifier.table))
      .flatMap(state.memberByTable.get)
      .orElse(state.memberByLocation.get(location))
  }

  /** `db.table` as users write it, or the path of a table that is read by path. */
  private[colocate] def nameOf(table: Option[CatalogTable], files: HadoopFsRelation): String =
    table.fold(files.location.rootPaths.mkString(","))(_.identifier.copy(catalog = None).unquotedString)

  private def fullName(name: String, database: Option[String]): String =
    if (name.startsWith("__global__")) name else database.fold(name)(db => s"$db.$name")
}
