package org.apache.spark.sql.colocate.ops.hosts

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.colocate.declared.{GroupProperties, NativeTable}
import org.apache.spark.sql.colocate.evidence.delta.DeltaWrites
import org.apache.spark.sql.colocate.layout.Evidence
import org.apache.spark.sql.execution.SparkPlan

/**
 * A member of a group that is written to, and whose files have blocks on hosts.
 *
 * @param group its full name
 * @param root  the path of the table's folder, without file system and name node
 */
case class WrittenMember(group: String, root: String)

private[colocate] object WrittenMember {

  /** The member that a command of Delta writes to with this plan. */
  def ofDelta(plan: SparkPlan): Option[WrittenMember] = DeltaWrites.table(plan).flatMap { written =>
    of(GroupProperties.group(written.properties), written.entry, written.root)
  }

  def ofNative(table: CatalogTable): Option[WrittenMember] =
    if (!NativeTable.isMember(table) || table.storage.locationUri.isEmpty) None
    else of(GroupProperties.group(table.properties), Some(table), new Path(table.location))

  private def of(property: Option[String], entry: Option[CatalogTable], root: Path): Option[WrittenMember] =
    if (isHdfs(root)) Evidence.groupOf(property, entry, root.toString).map(WrittenMember(_, root.toUri.getPath))
    else None

  // On object stores and shared disks it does not matter to the files which task writes them.
  private[colocate] def isHdfs(root: Path): Boolean = Set("hdfs", "viewfs").contains(root.toUri.getScheme)
}
