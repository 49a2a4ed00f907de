package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.colocate.evidence.TableEvidence
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** The files of a Delta table that has columns which users do not see, as a view and Delta's own rules read it. */
private[columns] object HidingRelation {

  def matches(relation: LogicalRelation): Boolean = relation.relation match {
    case files: HadoopFsRelation if DeltaIndexes.isDeltaIndex(files.location) =>
      TableEvidence.of(relation).isDefined || files.partitionSchema.fieldNames.contains(RangeColumn.Name)
    case _ => false
  }
}
