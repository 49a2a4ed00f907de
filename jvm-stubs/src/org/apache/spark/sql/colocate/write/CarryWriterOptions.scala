package org.apache.spark.sql.colocate.write

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.{DeltaLayout, GroupProperties, RangeProperties}
import org.apache.spark.sql.colocate.write.overwrite.{OverwriteMode, V1Overwrite}
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits._
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, SupportsV1OverwriteWithSaveAsTable}
import org.apache.spark.sql.connector.expressions._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.IntegerType

/**
 * Matches: `df.write...saveAsTable(t)` of a Delta table.
 * Produces: a statement in which the options `colocate_with` and `replication_num` are table properties. An overwrite
 * of a bucketed table keeps that part of the layout that the writer does not name. An append goes to the table itself.
 * Not when: the writer names another layout than the table has: then the statement replaces the table, as for a native
 * table.
 */
case class CarryWriterOptions(session: SparkSession) extends Rule[LogicalPlan] {

  private val V1 = SupportsV1OverwriteWithSaveAsTable.OPTION_NAME

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case append @ AppendData(relation: DataSourceV2Relation, _, _, _, _, _, _) =>
      AppendTarget.unwrapped(relation).fold[LogicalPlan](append)(table => append.copy(table = table))
    case create: CreateTableAsSelect
        if isDelta(create.tableSpec) && GroupProperties.mentions(create.writeOptions.keys) =>
      create.copy(
        tableSpec = carried(create.tableSpec, create.writeOptions),
        writeOptions = GroupProperties.without(create.writeOptions))
    case replace: ReplaceTableAsSelect if isDelta(replace.tableSpec) && !isMarked(replace) =>
      val overwrite = target(replace).fold(replace)(overwriting(replace, _))
      val options = overwrite.writeOptions
      if (!GroupProperties.mentions(options.keys)) overwrite
      else overwrite.copy(
        // An overwrite of rows alone leaves the table's properties as they are.
        tableSpec = if (isMarked(overwrite)) overwrite.tableSpec else carried(overwrite.tableSpec, options),
        writeOptions = GroupProperties.without(options))
  }

  /** The bucketed or to be bucketed table that a V1 writer overwrites. */
  private def target(replace: ReplaceTableAsSelect): Option[Option[BucketedTarget]] = replace.name match {
    case ResolvedIdentifier(catalog, ident) if replace.writeOptions.contains(V1) =>
      CatalogV2Util.loadTable(catalog, ident).map(V1Overwrite.target(session, catalog.asTableCatalog, ident, _))
    case _ => None
  }

  private def overwriting(replace: ReplaceTableAsSelect, found: Option[BucketedTarget]): ReplaceTableAsSelect = {
    val (buckets, others) = replace.partitioning.partition { case BucketTransform(_, _, _) => true; case _ => false }
    val newSchema = OverwriteMode.flag(replace.writeOptions, "overwriteSchema")
    (buckets.headOption, found) match {
      case (None, None) => replace
      case (None, Some(table)) if newSchema =>
        marked(replace.copy(tableSpec = adding(replace.tableSpec, rangesOf(table))), others ++ bucketing(table))
      case (None, Some(table)) => marked(replace, if (isPartitioned(table, others)) Nil else others)
      case (Some(same), Some(table)) if !newSchema && isSame(same, table) && isPartitioned(table, others) &&
            keepsGroup(replace, table) => marked(replace, Nil)
      // Another layout than the table's: the statement replaces the table, as it does for a native one.
      case _ =>
        val ranges = found.fold(Map.empty[String, String])(rangesOf)
        replace.copy(tableSpec = adding(replace.tableSpec, ranges), writeOptions = replace.writeOptions - V1)
    }
  }

  private def marked(replace: ReplaceTableAsSelect, partitioning: Seq[Transform]): ReplaceTableAsSelect =
    replace.copy(partitioning = partitioning, tableSpec = adding(replace.tableSpec, Map(V1Overwrite.Mark -> "true")))

  private def isMarked(replace: ReplaceTableAsSelect): Boolean =
    properties(replace.tableSpec).contains(V1Overwrite.Mark)

  private def bucketing(table: BucketedTarget): Option[Transform] = table.layout.map { layout =>
    BucketTransform(LiteralValue(layout.declared, IntegerType), layout.keys.map(key => FieldReference(Seq(key))))
  }

  private def rangesOf(table: BucketedTarget): Map[String, String] =
    table.ranges.fold(Map.empty[String, String]) { _ =>
      val properties = table.relation.table.properties().asScala.toMap
      properties.filter { case (key, _) => RangeProperties.isOne(key) }
    }

  private def isPartitioned(table: BucketedTarget, others: Seq[Transform]): Boolean =
    others.isEmpty || others == table.shownPartitions.map(name => IdentityTransform(FieldReference(Seq(name))))

  private def isSame(bucket: Transform, table: BucketedTarget): Boolean = bucket match {
    case BucketTransform(buckets, keys, _) =>
      table.layout.exists(l => l.declared == buckets && l.keys == keys.map(_.fieldNames().mkString(".")))
    case _ => false
  }

  private def keepsGroup(replace: ReplaceTableAsSelect, table: BucketedTarget): Boolean =
    GroupProperties.group(replace.writeOptions).forall { wanted =>
      Option(table.relation.table.properties().get(GroupProperties.Group)).contains(wanted)
    }

  private def isDelta(spec: TableSpecBase): Boolean =
    DeltaLayout.isDelta(spec match {
      case s: UnresolvedTableSpec => s.provider
      case s: TableSpec => s.provider
      case _ => None
    }, conf)

  private def carried(spec: TableSpecBase, options: Map[String, String]): TableSpecBase =
    adding(spec, GroupProperties.normal(options.filter { case (key, _) => GroupProperties.mentions(Seq(key)) }))

  private def properties(spec: TableSpecBase): Map[String, String] = spec match {
    case s: UnresolvedTableSpec => s.properties
    case s: TableSpec => s.properties
    case _ => Map.empty
  }

  private def adding(spec: TableSpecBase, more: Map[String, String]): TableSpecBase = spec match {
    case s: UnresolvedTableSpec => s.copy(properties = s.properties ++ more)
    case s: TableSpec => s.copy(properties = s.properties ++ more)
    case other => other
  }
}
