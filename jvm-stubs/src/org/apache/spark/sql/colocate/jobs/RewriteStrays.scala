package org.apache.spark.sql.colocate.jobs

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Json.formats
import org.json4s.JValue

/** Writes the rows of a part's strays into files of their buckets. A second time it finds no strays. */
private[jobs] object RewriteStrays extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = synchronized {
    val scan = MemberScan.of(session, table)
    val part = (args \ "part").extract[String]
    val done = if (table.isDelta) DeltaRewrite(session, table, scan).run() else NativeRewrite(session, scan, part).run()
    session.catalog.refreshTable(table.quoted)
    Map("removed" -> done.removed, "added" -> done.added)
  }
}
