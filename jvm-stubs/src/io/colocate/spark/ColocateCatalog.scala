package io.colocate.spark

import java.util

import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.catalog.{Ddl, DelegatingCatalog, MemberDdl}
import org.apache.spark.sql.colocate.compat.SparkVersion
import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.colocate.parts.Part
import org.apache.spark.sql.colocate.system.Procedures
import org.apache.spark.sql.colocate.write.AppendTarget
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * The session catalog with colocation groups: `spark.sql.catalog.spark_catalog=io.colocate.spark.ColocateCatalog`.
 * It wraps Delta's catalog where Delta is on the class path, else Spark's own;
 * `spark.sql.catalog.spark_catalog.inner` names another one. What it adds is in the package `catalog`.
 */
class ColocateCatalog extends DelegatingCatalog {

  private val DeltaCatalog = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
  private val System = "system"

  private var wrapped: Option[CatalogPlugin] = None
  private var session: Option[CatalogPlugin] = None
  private lazy val procedures = new Procedures(Part.all.flatMap(_.procedures))
  private lazy val ddl = if (SparkVersion.isOther) new Ddl else new MemberDdl(SparkSession.active, tables)

  override protected def inner: CatalogPlugin = wrapped.orElse(session).get

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    wrapped = innerClass(options).map(_.getDeclaredConstructor().newInstance().asInstanceOf[CatalogPlugin])
    wrapped.foreach(_.initialize(name, options))
  }

  override def setDelegateCatalog(delegate: CatalogPlugin): Unit = {
    session = Some(delegate)
    wrapped.foreach {
      case extension: CatalogExtension => extension.setDelegateCatalog(delegate)
      case _ =>
    }
  }

  private def innerClass(options: CaseInsensitiveStringMap): Option[Class[_]] = {
    val loader = Option(Thread.currentThread().getContextClassLoader).getOrElse(getClass.getClassLoader)
    Option(options.get("inner")).map(loader.loadClass(_): Class[_]).orElse(Try(loader.loadClass(DeltaCatalog)).toOption)
  }

  override def createTable(ident: Identifier, info: TableInfo): Table =
    ddl.create(ident, info)(super.createTable(ident, _))

  override def createTableLike(ident: Identifier, info: TableInfo, source: Table): Table =
    ddl.like(ident, info, source)(super.createTableLike(ident, info, source))

  override def stageCreate(ident: Identifier, info: TableInfo): StagedTable =
    ddl.stage(ident, info, replace = false)(super.stageCreate(ident, _))

  override def stageReplace(ident: Identifier, info: TableInfo): StagedTable =
    ddl.stage(ident, info, replace = true)(super.stageReplace(ident, _))

  override def stageCreateOrReplace(ident: Identifier, info: TableInfo): StagedTable =
    ddl.stage(ident, info, replace = true)(super.stageCreateOrReplace(ident, _))

  override def alterTable(ident: Identifier, changes: TableChange*): Table =
    ddl.alter(ident, changes)(wanted => super.alterTable(ident, wanted: _*))

  override def dropTable(ident: Identifier): Boolean = ddl.drop(ident, purge = false)(super.dropTable(ident))

  override def purgeTable(ident: Identifier): Boolean = ddl.drop(ident, purge = true)(super.purgeTable(ident))

  override def renameTable(from: Identifier, to: Identifier): Unit = ddl.rename(from, to)(super.renameTable(from, to))

  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean =
    ddl.dropNamespace(namespace, cascade)(super.dropNamespace(namespace, cascade))

  override def loadTable(ident: Identifier): Table = systemTable(ident).getOrElse(super.loadTable(ident))

  override def loadTable(ident: Identifier, privileges: util.Set[TableWritePrivilege]): Table =
    if (SparkVersion.isOther) super.loadTable(ident, privileges)
    else AppendTarget.forWriter(SparkSession.active, super.loadTable(ident, privileges))

  override def tableExists(ident: Identifier): Boolean = systemTable(ident).isDefined || super.tableExists(ident)

  override def loadProcedure(ident: Identifier): UnboundProcedure =
    (if (isSystem(ident.namespace())) procedures.load(ident) else None).getOrElse(super.loadProcedure(ident))

  override def listProcedures(namespace: Array[String]): Array[Identifier] =
    if (isSystem(namespace)) procedures.list.toArray ++ super.listProcedures(namespace)
    else super.listProcedures(namespace)

  private def systemTable(ident: Identifier): Option[Table] =
    if (!isSystem(ident.namespace())) None
    else Part.all.flatMap(_.tables).find(_.name.equalsIgnoreCase(ident.name())).map(_.table(ident.name()))

  private def isSystem(namespace: Array[String]): Boolean =
    namespace.length == 1 && namespace.head.equalsIgnoreCase(System) && !SparkVersion.isOther
}
