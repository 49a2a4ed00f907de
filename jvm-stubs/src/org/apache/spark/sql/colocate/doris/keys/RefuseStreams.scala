package org.apache.spark.sql.colocate.doris.keys

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.StreamedSource
import org.apache.spark.sql.colocate.compat.delta.DeltaClasses
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Identifier, Table}

/**
 * Matches: a stream that reads a Delta table with AGGREGATE KEY or UNIQUE KEY.
 * Produces: an error. The stream would give the rows of each load, several of them for one key.
 * Not when: the table is the stream's target.
 */
case class RefuseStreams(session: SparkSession) extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = if (plan.isStreaming) plan.foreach {
    case relation: StreamingRelationV2 => refuse(relation.table)
    case StreamedSource(source) if source.providingClass.getName == DeltaClasses.Source =>
      val path = source.catalogTable.map(table => new Path(table.location)).orElse(
        source.options.get("path").map(new Path(_)))
      path.flatMap(tableAt).foreach(refuse)
    case _ =>
  }

  private def tableAt(path: Path): Option[Table] = {
    val whole = path.getFileSystem(session.sessionState.newHadoopConf()).makeQualified(path)
    CatalogV2Util.loadTable(
      session.sessionState.catalogManager.v2SessionCatalog, Identifier.of(Array("delta"), whole.toString))
  }

  private def refuse(table: Table): Unit = KeyModel.of(table).foreach { model =>
    throw new ColocateException("KEY_MODEL_STREAM",
      s"Cannot read ${table.name.stripPrefix("spark_catalog.")} as a stream: it has ${model.clause}, and a stream " +
        "gives the rows of each load as they come, several for one key. Read it with a query, or keep the loaded " +
        "rows in a table with DUPLICATE KEY and stream that one.")
  }
}
