package org.apache.spark.sql.colocate.evidence

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.colocate.evidence.delta.{DeltaEvidence, DeltaIndexes}
import org.apache.spark.sql.colocate.evidence.files.NativeEvidence
import org.apache.spark.sql.colocate.layout.{Evidence, EvidenceGap}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, LogicalRelationWithTable}

/** Decides, from the very snapshot that is read, whether the files of a relation lie in proven buckets. */
object TableEvidence {

  /** None: not a table of ours. Left: it has a layout that can't be relied on here. Right: proven. */
  def of(relation: LogicalRelation): Option[Either[EvidenceGap, Evidence]] = relation match {
    case LogicalRelationWithTable(files: HadoopFsRelation, table) => of(files, table, relation.isStreaming)
    case _ => None
  }

  def of(
      files: HadoopFsRelation,
      table: Option[CatalogTable],
      streaming: Boolean): Option[Either[EvidenceGap, Evidence]] =
    if (DeltaIndexes.isDeltaIndex(files.location)) DeltaEvidence.of(files, table, streaming)
    else if (files.bucketSpec.isDefined) NativeEvidence.of(files, table)
    else None
}
