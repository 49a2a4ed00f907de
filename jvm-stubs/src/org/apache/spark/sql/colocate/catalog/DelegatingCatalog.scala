package org.apache.spark.sql.colocate.catalog

import java.util

import org.apache.spark.sql.colocate.compat.{NewestCalls, SparkVersion, TableInfos}
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.types.StructType

/**
 * A session catalog that hands every call to another one. Composition, because Spark's `DelegatingCatalogExtension`
 * has a final `setDelegateCatalog` and Delta's catalog is itself a subclass of it.
 */
abstract class DelegatingCatalog extends CatalogExtension with NewestCalls {

  protected def inner: CatalogPlugin

  override protected def tables: TableCatalog = inner.asInstanceOf[TableCatalog]
  private def older: OlderCreates = new OlderCreates(inner)
  private def namespaces: SupportsNamespaces = inner.asInstanceOf[SupportsNamespaces]
  private def functions: FunctionCatalog = inner.asInstanceOf[FunctionCatalog]

  override def name(): String = inner.name()
  override def defaultNamespace(): Array[String] = inner.defaultNamespace()

  override def capabilities(): util.Set[TableCatalogCapability] = tables.capabilities()
  override def useNullableQuerySchema(): Boolean = tables.useNullableQuerySchema()
  override def listTables(namespace: Array[String]): Array[Identifier] = tables.listTables(namespace)
  override def loadTable(ident: Identifier): Table = tables.loadTable(ident)
  override def loadTable(ident: Identifier, privileges: util.Set[TableWritePrivilege]): Table =
    tables.loadTable(ident, privileges)
  override def loadTable(ident: Identifier, version: String): Table = tables.loadTable(ident, version)
  override def loadTable(ident: Identifier, timestamp: Long): Table = tables.loadTable(ident, timestamp)
  override def invalidateTable(ident: Identifier): Unit = tables.invalidateTable(ident)
  override def tableExists(ident: Identifier): Boolean = tables.tableExists(ident)
  override def createTable(ident: Identifier, info: TableInfo): Table = TableInfos.create(tables, ident, info)
  override def alterTable(ident: Identifier, changes: TableChange*): Table = tables.alterTable(ident, changes: _*)
  override def dropTable(ident: Identifier): Boolean = tables.dropTable(ident)
  override def purgeTable(ident: Identifier): Boolean = tables.purgeTable(ident)
  override def renameTable(from: Identifier, to: Identifier): Unit = tables.renameTable(from, to)

  // The older forms of CREATE, for callers other than Spark, lead to the one that carries a TableInfo. Another
  // Spark than the jar's may lack that.
  override def createTable(
      ident: Identifier, schema: StructType, partitions: Array[Transform],
      properties: util.Map[String, String]): Table =
    if (SparkVersion.isOther) older.create(ident, schema, partitions, properties)
    else createTable(ident, TableInfos.of(CatalogV2Util.structTypeToV2Columns(schema), partitions, properties))
  override def createTable(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform],
      properties: util.Map[String, String]): Table =
    if (SparkVersion.isOther) older.create(ident, columns, partitions, properties)
    else createTable(ident, TableInfos.of(columns, partitions, properties))
  override def stageCreate(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform],
      properties: util.Map[String, String]): StagedTable =
    if (SparkVersion.isOther) older.stageCreate(ident, columns, partitions, properties)
    else stageCreate(ident, TableInfos.of(columns, partitions, properties))
  override def stageReplace(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform],
      properties: util.Map[String, String]): StagedTable =
    if (SparkVersion.isOther) older.stageReplace(ident, columns, partitions, properties)
    else stageReplace(ident, TableInfos.of(columns, partitions, properties))
  override def stageCreateOrReplace(
      ident: Identifier, columns: Array[Column], partitions: Array[Transform],
      properties: util.Map[String, String]): StagedTable =
    if (SparkVersion.isOther) older.stageCreateOrReplace(ident, columns, partitions, properties)
    else stageCreateOrReplace(ident, TableInfos.of(columns, partitions, properties))

  // A catalog that can't stage (Spark's own) creates at once and returns null: Spark then loads the table, and drops
  // it if the query fails, as it does for any catalog without staging.
  override def stageCreate(ident: Identifier, info: TableInfo): StagedTable = inner match {
    case staging: StagingTableCatalog => TableInfos.stageCreate(staging, ident, info)
    case _ => TableInfos.create(tables, ident, info); null
  }
  override def stageReplace(ident: Identifier, info: TableInfo): StagedTable = inner match {
    case staging: StagingTableCatalog => TableInfos.stageReplace(staging, ident, info)
    case _ => tables.dropTable(ident); TableInfos.create(tables, ident, info); null
  }
  override def stageCreateOrReplace(ident: Identifier, info: TableInfo): StagedTable = inner match {
    case staging: StagingTableCatalog => TableInfos.stageCreateOrReplace(staging, ident, info)
    case _ => tables.dropTable(ident); TableInfos.create(tables, ident, info); null
  }
  override def supportedCustomMetrics(): Array[CustomMetric] = inner match {
    case staging: StagingTableCatalog => staging.supportedCustomMetrics()
    case _ => Array.empty
  }

  override def listNamespaces(): Array[Array[String]] = namespaces.listNamespaces()
  override def listNamespaces(namespace: Array[String]): Array[Array[String]] = namespaces.listNamespaces(namespace)
  override def namespaceExists(namespace: Array[String]): Boolean = namespaces.namespaceExists(namespace)
  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    namespaces.loadNamespaceMetadata(namespace)
  override def createNamespace(namespace: Array[String], metadata: util.Map[String, String]): Unit =
    namespaces.createNamespace(namespace, metadata)
  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    namespaces.alterNamespace(namespace, changes: _*)
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean =
    namespaces.dropNamespace(namespace, cascade)

  override def listFunctions(namespace: Array[String]): Array[Identifier] = functions.listFunctions(namespace)
  override def loadFunction(ident: Identifier): UnboundFunction = functions.loadFunction(ident)
  override def functionExists(ident: Identifier): Boolean = functions.functionExists(ident)

  override def loadProcedure(ident: Identifier): UnboundProcedure = inner match {
    case procedures: ProcedureCatalog => procedures.loadProcedure(ident)
    case _ => throw new UnsupportedOperationException(s"There is no procedure $ident")
  }
}
