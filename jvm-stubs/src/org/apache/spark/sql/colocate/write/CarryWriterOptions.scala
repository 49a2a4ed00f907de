package org.apache.spark.sql.colocate.write

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.V1Writers
import org.apache.spark.sql.colocate.declared.{
  DeltaLayout, GroupProperties, KeyProperties, RangeProperties, ReservedProperties, RowModels, TableName
}
import org.apache.spark.sql.colocate.write.overwrite.{OverwriteMode, V1Overwrite}
import org.apache.spark.sql.colocate.write.target.BucketedTarget
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits._
import org.apache.spark.sql.connector.catalog.CatalogV2Util
import org.apache.spark.sql.connector.expressions._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.IntegerType

/**
 * Matches: `df.write...saveAsTable(t)` of a Delta table.
 * Produces: a statement in which options that are named as properties of ours (`colocate_with`, `key_model`; see
 * conf/properties.json) are table properties. An overwrite of a bucketed table keeps that part of the layout that the
 * writer does not name. An append goes to the table itself.
 * Not when: the writer names another layout or other properties than the table has: then the statement replaces the
 * table, as for a native table. If it names no group, and the table has one, that is an error.
 */
case class CarryWriterOptions(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case append: AppendData => append.table match {
        case relation: DataSourceV2Relation =>
          AppendTarget.unwrapped(relation).fold[LogicalPlan](append)(table => append.copy(table = table))
        case _ => append
      }
    case create: CreateTableAsSelect
        if isDelta(create.tableSpec) && ReservedProperties.carried(create.writeOptions).nonEmpty =>
      create.copy(
        tableSpec = carried(create.tableSpec, create.writeOptions),
        writeOptions = ReservedProperties.withoutCarried(create.writeOptions))
    case replace: ReplaceTableAsSelect if isDelta(replace.tableSpec) && !isMarked(replace) =>
      val overwrite = target(replace).fold(replace)(overwriting(replace, _))
      val options = overwrite.writeOptions
      if (!isMarked(overwrite)) refuseLeaving(overwrite)
      if (ReservedProperties.carried(options).isEmpty) overwrite
      else overwrite.copy(
        // An overwrite of rows alone leaves the table's properties as they are.
        tableSpec =
          if (isMarked(overwrite)) overwrite.tableSpec
          else adding(overwrite.tableSpec, ReservedProperties.carried(options)),
        writeOptions = ReservedProperties.withoutCarried(options))
  }

  /** The bucketed or to be bucketed table that a V1 writer overwrites. */
  private def target(replace: ReplaceTableAsSelect): Option[Option[BucketedTarget]] = replace.name match {
    case ResolvedIdentifier(catalog, ident) if V1Writers.isOverwrite(replace) =>
      CatalogV2Util.loadTable(catalog, ident).map(V1Overwrite.target(session, catalog.asTableCatalog, ident, _))
    case _ => None
  }

  private def overwriting(replace: ReplaceTableAsSelect, found: Option[BucketedTarget]): ReplaceTableAsSelect = {
    val (buckets, others) = replace.partitioning.partition { case BucketTransform(_, _, _) => true; case _ => false }
    val newSchema = OverwriteMode.flag(replace.writeOptions, "overwriteSchema")
    (buckets.headOption, found) match {
      case (None, None) => replace
      case (None, Some(table)) if keeps(replace, table) && newSchema =>
        marked(replace.copy(tableSpec = adding(replace.tableSpec, kept(replace, table))), others ++ bucketing(table))
      case (None, Some(table)) if keeps(replace, table) =>
        table.refuseOtherPartitions(transformed(others))
        marked(replace, Nil)
      case (Some(same), Some(table)) if !newSchema && isSame(same, table) && isPartitioned(table, others) &&
            keeps(replace, table) => marked(replace, Nil)
      // Other properties than the table's, but its buckets.
      case (None, Some(table)) =>
        val shown = table.shownPartitions.map(name => IdentityTransform(FieldReference(Seq(name))))
        replaced(replace.copy(partitioning = (if (others.isEmpty) shown else others) ++ bucketing(table)), found)
      // Another layout than the table's: the statement replaces the table, as it does for a native one.
      case _ => replaced(replace, found)
    }
  }

  private def transformed(others: Seq[Transform]): Option[Seq[String]] =
    Option.when(others.nonEmpty)(others.map(_.references().map(_.fieldNames().mkString(".")).mkString(", ")))

  private def replaced(replace: ReplaceTableAsSelect, found: Option[BucketedTarget]): ReplaceTableAsSelect =
    replace.copy(
      tableSpec = adding(replace.tableSpec, found.fold(Map.empty[String, String])(kept(replace, _))),
      writeOptions = V1Writers.asReplace(replace.writeOptions))

  /** Ranges and key model of the table that a writer replaces, unless it names others. */
  private def kept(replace: ReplaceTableAsSelect, table: BucketedTarget): Map[String, String] = {
    val options = replace.writeOptions.keys
    (if (RangeProperties.mentions(options)) Map.empty[String, String] else rangesOf(table)) ++
      (if (options.exists(KeyProperties.isProperty)) Map.empty[String, String] else modelOf(table, replace.query))
  }

  /** SQL declares a whole table, its group included. A program that writes may not know of groups. */
  private def refuseLeaving(replace: ReplaceTableAsSelect): Unit = replace.name match {
    case ResolvedIdentifier(catalog, ident) if !namesGroup(replace) => for {
        table <- CatalogV2Util.loadTable(catalog, ident)
        group <- GroupProperties.group(table.properties().asScala.toMap)
        if isByWriter
      } throw new ColocateException("WRITER_LEAVES_GROUP",
        s"Cannot replace ${TableName.shown(session, ident)}: it is in group $group, and the writer names no " +
          "group, so the table would leave it. mode(\"overwrite\") and saveAsTable without bucketBy keep buckets and " +
          s"group; option(\"colocate_with\", \"$group\") keeps the group with the buckets that the writer names; " +
          "option(\"colocate_with\", \"\") lets the table leave it. writeTo has tableProperty for that.")
    case _ =>
  }

  /** The plans of SQL and of both writers are alike. */
  private def isByWriter: Boolean = StackWalker.getInstance().walk { frames =>
    frames.anyMatch(_.getClassName.startsWith("org.apache.spark.sql.classic.DataFrameWriter"))
  }

  private def namesGroup(replace: ReplaceTableAsSelect): Boolean =
    (replace.writeOptions.keys ++ properties(replace.tableSpec).keys).exists(_.equalsIgnoreCase(GroupProperties.Group))

  private def marked(replace: ReplaceTableAsSelect, partitioning: Seq[Transform]): ReplaceTableAsSelect =
    replace.copy(partitioning = partitioning, tableSpec = adding(replace.tableSpec, V1Overwrite.mark))

  private def isMarked(replace: ReplaceTableAsSelect): Boolean =
    V1Overwrite.isMarked(properties(replace.tableSpec))

  private def bucketing(table: BucketedTarget): Option[Transform] = table.layout.map { layout =>
    BucketTransform(LiteralValue(layout.declared, IntegerType), layout.keys.map(key => FieldReference(Seq(key))))
  }

  private def rangesOf(table: BucketedTarget): Map[String, String] =
    table.ranges.fold(Map.empty[String, String]) { _ =>
      val properties = table.relation.table.properties().asScala.toMap
      properties.filter { case (key, _) => RangeProperties.isOne(key) }
    }

  /** The key model with aggregations of the columns that are left; whether it fits is checked before the write. */
  private def modelOf(table: BucketedTarget, query: LogicalPlan): Map[String, String] =
    table.model.fold(RowModels().declaration(table.relation.table)) { model =>
      table.refuseOtherColumns(query)
      model.propertiesOf(query.output.map(_.name))
    }

  private def isPartitioned(table: BucketedTarget, others: Seq[Transform]): Boolean =
    others.isEmpty || others == table.shownPartitions.map(name => IdentityTransform(FieldReference(Seq(name))))

  private def isSame(bucket: Transform, table: BucketedTarget): Boolean = bucket match {
    case BucketTransform(buckets, keys, _) =>
      table.layout.exists(l => l.declared == buckets && l.keys == keys.map(_.fieldNames().mkString(".")))
    case _ => false
  }

  /** Are the properties that the writer names those of the table? */
  private def keeps(replace: ReplaceTableAsSelect, table: BucketedTarget): Boolean = {
    val held = table.relation.table.properties().asScala.toMap ++ RowModels().declaration(table.relation.table)
    ReservedProperties.carried(replace.writeOptions).forall { case (key, value) =>
      GroupProperties.value(held, key).getOrElse("").trim == value.trim
    }
  }

  private def isDelta(spec: TableSpecBase): Boolean =
    DeltaLayout.isDelta(spec match {
      case s: UnresolvedTableSpec => s.provider
      case s: TableSpec => s.provider
      case _ => None
    }, conf)

  private def carried(spec: TableSpecBase, options: Map[String, String]): TableSpecBase =
    adding(spec, GroupProperties.normal(ReservedProperties.carried(options)))

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
