package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.delta.{DeltaSnapshot, PreparedScans}
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.evidence.verify.FileTrust
import org.apache.spark.sql.colocate.layout.{
  BucketColumn, BucketLayout, BucketSource, Evidence, EvidenceGap, KeyTypes, RangeColumn
}
import org.apache.spark.sql.execution.datasources.HadoopFsRelation

/** The proof of a Delta table's layout: the generation expression in the schema of the pinned snapshot. */
private[colocate] object DeltaEvidence {

  def of(
      files: HadoopFsRelation,
      table: Option[CatalogTable],
      streaming: Boolean): Option[Either[EvidenceGap, Evidence]] = {
    val ordinal = files.partitionSchema.fieldNames.indexOf(BucketColumn.Name)
    val name = Evidence.nameOf(table, files)
    if (ordinal < 0) None
    else if (!SelfCheck.has(DeltaHooks.PreparedScan)) Some(Left(EvidenceGap.of("NO_LAYOUT_PROOF", "table" -> name)))
    else if (streaming || !DeltaIndexes.isPinned(files.location)) {
      Some(Left(EvidenceGap.of("NOT_ONE_SNAPSHOT", "table" -> name)))
    } else {
      val damaged = EvidenceGap.of("DAMAGED", "table" -> name)
      Some(judge(files, table, name).filterOrElse(isReadable(files, _), damaged))
    }
  }

  /** For a check or a repair of the table itself, which also works where queries can't rely on the layout. */
  private[colocate] def forRepair(files: HadoopFsRelation, table: CatalogTable): Either[EvidenceGap, Evidence] =
    judge(files, Some(table), Evidence.nameOf(Some(table), files))

  /**
   * A changed row is written by the bucket of its file, which a row of a damaged file is not in. A clone of a damaged
   * table has no manifest, so which of its files are damaged is not known.
   */
  private def isReadable(files: HadoopFsRelation, evidence: Evidence): Boolean =
    !evidence.damaged || (!DeltaIndexes.isOfTransaction(files.location) &&
      FileTrust(files, evidence).seen.files.exists(_._2))

  private def judge(
      files: HadoopFsRelation,
      table: Option[CatalogTable],
      name: String): Either[EvidenceGap, Evidence] = {
    val snapshot = DeltaIndexes.snapshotOf(files.location)
    val columns = files.location.partitionSchema.fieldNames
    BucketColumn.layoutOf(SparkSession.active, snapshot.schema) match {
      case None => Left(EvidenceGap.of("NO_LAYOUT_PROOF", "table" -> name))
      case Some(layout) =>
        untrusted(files, snapshot, layout, name).toLeft {
          val location = DeltaIndexes.dataPath(files.location).toString
          val group = Evidence.groupOf(snapshot.properties.get("colocate_with"), table, location)
          val range = layout.partitions.map(_ => columns.indexOf(RangeColumn.Name)).filter(_ >= 0)
          val source = BucketSource.PartitionValue(columns.indexOf(BucketColumn.Name), range)
          Evidence(layout, source, group, name, location, isDamaged(snapshot, table, location))
        }
    }
  }

  /**
   * Has a check found files that are not of the bucket that they claim? The snapshot says so by a mark; of older
   * versions of a member, the registry.
   */
  private def isDamaged(snapshot: DeltaSnapshot, table: Option[CatalogTable], location: String): Boolean =
    DamageMark.isSet(snapshot) || Evidence.memberOf(table, location).exists(_.damaged)

  private def untrusted(
      files: HadoopFsRelation,
      snapshot: DeltaSnapshot,
      layout: BucketLayout,
      name: String): Option[EvidenceGap] = {
    val changed = layout.keys.find(k => snapshot.schema(k).metadata.contains("delta.typeChanges"))
    val unprovable = layout.keys.zip(layout.keyTypes).find { case (_, t) => !KeyTypes.provable(t) }
    if (changed.isDefined) Some(EvidenceGap.of("KEY_TYPE_CHANGED", "table" -> name, "key" -> changed.get))
    else if (unprovable.isDefined) {
      val (key, keyType) = unprovable.get
      Some(EvidenceGap.of("KEY_TYPE_UNSAFE", "table" -> name, "key" -> key, "type" -> keyType.simpleString))
    } else if (layout.keys.exists(files.partitionSchema.fieldNames.contains)) {
      // An empty text in a partition column was hashed as text and is read back as null.
      Some(EvidenceGap.of("NO_LAYOUT_PROOF", "table" -> name))
    } else if (PreparedScans.enforceGeneratedColumns(snapshot)) None
    else Some(EvidenceGap.of("NO_LAYOUT_PROOF", "table" -> name))
  }
}
