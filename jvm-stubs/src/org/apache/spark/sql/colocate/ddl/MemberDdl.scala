package org.apache.spark.sql.colocate.ddl

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, StagedTable, Table, TableInfo}

/** The catalog's statements on Delta tables with buckets. */
class MemberDdl(session: SparkSession) {

  def create(ident: Identifier, info: TableInfo)(work: TableInfo => Table): Table =
    work(layoutOf(info).fold(info)(DeltaLayout.applied(info, _)))

  def stage(ident: Identifier, info: TableInfo)(work: TableInfo => StagedTable): StagedTable =
    layoutOf(info) match {
      case None => work(info)
      case layout => new ColocatedStagedTable(work(DeltaLayout.applied(info, layout.get)), layout, Ticket.None)
    }

  private def layoutOf(info: TableInfo): Option[DeltaLayout] =
    if (DeltaLayout.isDelta(info.properties(), session.sessionState.conf)) DeltaLayout.of(info, session.sessionState.conf)
    else None
}
