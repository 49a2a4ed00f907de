package org.apache.spark.sql.colocate.columns

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, TableNames}
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}

/**
 * Refuses a DataFrame or a temporary view that is older than its table, which was replaced. Delta refuses it if the
 * columns differ, with an error that lists the hidden ones.
 */
private[columns] object RefuseStaleSchema {

  private val Changed = "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS"

  def apply(plan: LogicalPlan): Unit = plan.foreach {
    case relation: LogicalRelation => relation.relation match {
        case files: HadoopFsRelation if files.partitionSchema.exists(f => HiddenColumns.contains(f.name)) =>
          if (isOther(files)) refuse(relation, files.location)
        case _ =>
      }
    case _ =>
  }

  /** Reads no log: if another driver has replaced the table, Delta fails later with an error of its own. */
  private def isOther(files: HadoopFsRelation): Boolean =
    DeltaIndexes.isOfTable(files.location) &&
      DeltaIndexes.newestSchema(files.location).exists(_ != DeltaIndexes.schemaOf(files))

  private def refuse(relation: LogicalRelation, index: FileIndex): Unit =
    try DeltaIndexes.checkNewest(index)
    catch {
      case changed: SparkThrowable if changed.getCondition == Changed =>
        throw new ColocateException("SCHEMA_CHANGED",
          s"Cannot read ${TableNames.of(relation)} by a DataFrame or a view that was made before the table's " +
            "columns were changed or replaced. Make the DataFrame or the view anew.")
      case NonFatal(_) => // Delta says it itself, when the files are chosen.
    }
}
