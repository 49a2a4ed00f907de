package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.colocate.compat.TableInfos.TableInfo
import org.apache.spark.sql.connector.catalog._

/**
 * What the catalog does around a statement, which is `work`. Here it is nothing: in another Spark than the jar's, and
 * the base of [[MemberDdl]].
 */
class Ddl {

  def create(ident: Identifier, info: TableInfo)(work: TableInfo => Table): Table = work(info)

  def like(ident: Identifier, info: TableInfo, source: Table)(work: => Table): Table = work

  def stage(ident: Identifier, info: TableInfo, replace: Boolean)(work: TableInfo => StagedTable): StagedTable =
    work(info)

  def alter(ident: Identifier, changes: Seq[TableChange])(work: Seq[TableChange] => Table): Table = work(changes)

  def drop(ident: Identifier, purge: Boolean)(work: => Boolean): Boolean = work

  def rename(from: Identifier, to: Identifier)(work: => Unit): Unit = work

  def dropNamespace(namespace: Array[String], cascade: Boolean)(work: => Boolean): Boolean = work
}
