package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.delta.actions.AddFile

/** A data file of a table, as Delta's log has it: Delta's AddFile for this package, these facts for all others. */
final class TableFile private[delta] (private[delta] val action: AddFile) {

  /** A relative or an absolute URI. */
  def path: String = action.path

  /** By physical names of the columns. */
  def partitionValues: Map[String, String] = action.partitionValues

  def bytes: Long = action.size

  /** Delta has null for none. */
  def tags: Map[String, String] = Option(action.tags).getOrElse(Map.empty)
}
