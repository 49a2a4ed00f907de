package org.apache.spark.sql.colocate.ops.jobs

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.json4s.JValue

/**
 * Creates the work folder of a rewrite of a native table, and returns the names of those of other claims. After it, the
 * control plane asks the store whether the job is still its own, see [[RewriteFolder]].
 */
private[jobs] object OpenRewrite extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val scan = FinishRewrites.without(MemberScan.of(session, table))
    val fs = UnfinishedRewrites.fileSystem(session, scan)
    val folder = RewriteFolder.of(fs, scan.root, (args \ "token").extract[String])
    folder.open()
    Map("others" -> folder.others)
  }
}

/**
 * Writes the rows of a part's strays into files of their buckets. A second time it finds no strays. Of a native table,
 * it first takes over the work folders of the other claims.
 */
private[jobs] object RewriteStrays extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val scan = FinishRewrites.without(MemberScan.of(session, table))
    val done =
      if (table.isDelta) DeltaRewrite(session, table, scan).run()
      else {
        val (part, token) = ((args \ "part").extract[String], (args \ "token").extract[String])
        NativeRewrite(session, scan, part, token).run((args \ "others").extract[Seq[String]])
      }
    session.catalog.refreshTable(table.quoted)
    Map("removed" -> done.removed, "added" -> done.added)
  }
}
