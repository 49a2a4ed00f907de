package org.apache.spark.sql.colocate.catalog.describe

import org.apache.spark.sql.catalyst.analysis.{ResolvedTable, UnresolvedPartitionSpec}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.DescribeWholeTable
import org.apache.spark.sql.colocate.declared.{GroupProperties, NativeTable, RangeEntry, RangeProperties}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.{BucketLayout, DeclaredTable}
import org.apache.spark.sql.connector.catalog.{Table, V1Table}
import org.apache.spark.sql.execution.command.DescribeTableCommand

/**
 * Matches: DESCRIBE, SHOW COLUMNS, SHOW PARTITIONS, SHOW CREATE TABLE and `spark.catalog.listColumns` of a bucketed
 * table.
 * Produces: what its CREATE statement declared: the user's columns and partitions, the bucket keys and count, the
 * group. Delta's own catalog would show the bucket column like any other column.
 * Not when: the table is not bucketed, or only a column or a partition is described.
 */
case class ShowAsDeclared(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case describe @ DescribeWholeTable(Clustered(resolved, layout), extended, output) =>
      val shown = describe.copy(relation = resolved.copy(table = new DeclaredTable(resolved.table)))
      if (extended) DescribeLayout(shown, information(resolved, layout), output) else shown

    case show @ ShowColumns(Clustered(resolved, _), _, _) =>
      show.copy(child = resolved.copy(table = new DeclaredTable(resolved.table)))

    case ShowPartitions(Clustered(resolved, _), pattern, _) =>
      val spec = pattern.collect { case UnresolvedPartitionSpec(values, _) => values }
      ShowDeclaredPartitions(resolved.name, resolved.table, spec.getOrElse(Map.empty))

    case ShowCreateTable(Clustered(resolved, layout), _, output) =>
      ShowCreateMember(DeclaredLayouts.ofDelta(resolved.name, resolved.table, layout), output)

    case ShowCreateTable(ResolvedTable(_, _, table: V1Table, _), false, output)
        if NativeTable.isMember(table.catalogTable) =>
      DeclaredLayouts.ofNative(table.catalogTable).fold(plan)(ShowCreateMember(_, output))

    case describe: DescribeTableCommand if describe.isExtended && describe.partitionSpec.isEmpty =>
      nativeInformation(describe).fold(plan)(DescribeLayout(describe, _, describe.output))

    // The root of a plan: spark.catalog.listColumns looks at the table itself.
    case Clustered(resolved, _) => resolved.copy(table = new DeclaredTable(resolved.table))

    case _ => plan
  }

  private def nativeInformation(describe: DescribeTableCommand): Option[LayoutInformation] = {
    val catalog = session.sessionState.catalog
    // A view is described by the same command.
    val table = Option.when(!catalog.isTempView(describe.table))(catalog.getTableRawMetadata(describe.table))
    for {
      found <- table
      group <- GroupProperties.group(found.properties)
      spec <- found.bucketSpec
    } yield LayoutInformation(
      Some(GroupProperties.fullName(group, found.database)), spec.bucketColumnNames, spec.numBuckets)
  }

  private def information(resolved: ResolvedTable, layout: Option[BucketLayout]): LayoutInformation = {
    val properties = scala.jdk.CollectionConverters.MapHasAsScala(resolved.table.properties()).asScala.toMap
    val db = resolved.identifier.namespace().lastOption.getOrElse(session.catalog.currentDatabase)
    val group = GroupProperties.group(properties).map(GroupProperties.fullName(_, db))
    LayoutInformation(
      group, layout.toSeq.flatMap(_.keys), layout.fold(0)(_.declared),
      if (DeltaTables.rangesOf(resolved.table).isDefined) RangeProperties.columns(properties) else Nil,
      RangeProperties.entries(properties))
  }

  /** A Delta table of the catalog that has hidden columns, and its buckets. */
  private object Clustered {
    def unapply(plan: LogicalPlan): Option[(ResolvedTable, Option[BucketLayout])] = plan match {
      case resolved @ ResolvedTable(_, _, table: Table, _) if DeltaTables.hidesColumns(session, table) =>
        Some(resolved -> DeltaTables.layoutOf(session, table))
      case _ => None
    }
  }
}

/** What DESCRIBE EXTENDED adds. */
case class LayoutInformation(
    group: Option[String],
    keys: Seq[String],
    buckets: Int,
    rangeColumns: Seq[String] = Nil,
    partitions: Seq[RangeEntry] = Nil) {

  def rows: Seq[(String, String)] = bucketRows ++ rangeRows

  private def bucketRows: Seq[(String, String)] =
    if (keys.isEmpty) Nil
    else Seq("" -> "", "# Colocation Information" -> "") ++ group.map("Colocation Group" -> _) ++
      Seq("Bucket Keys" -> keys.mkString(", "), "Buckets" -> buckets.toString)

  private def rangeRows: Seq[(String, String)] =
    if (rangeColumns.isEmpty) Nil
    else Seq("" -> "", "# Range Partitions" -> "", "Range Columns" -> rangeColumns.mkString(", ")) ++
      partitions.map(p => p.name -> p.described)
}
