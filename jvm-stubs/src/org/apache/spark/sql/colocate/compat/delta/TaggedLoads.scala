package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.commands.DMLUtils.TaggedCommitData
import org.apache.spark.sql.delta.commands.WriteIntoDelta
import org.apache.spark.sql.delta.skipping.clustering.temp.ClusterBySpec
import org.apache.spark.sql.delta.{ColumnWithDefaultExprUtils, DeltaOptions, OptimisticTransaction}
import org.apache.spark.sql.{DataFrame, SaveMode, SparkSession => AnySession}

/** An INSERT of Delta's own whose new files get tags. */
private[colocate] object TaggedLoads {

  def run(
      session: SparkSession,
      table: Table,
      mode: SaveMode,
      tags: Map[String, String],
      rows: DataFrame,
      options: Map[String, String]): Unit = {
    val into = table.asInstanceOf[DeltaTableV2]
    val parsed = new DeltaOptions(options ++ nullAsDefault(session), session.sessionState.conf)
    new TaggedLoad(into, mode, parsed, rows, tags).run(session)
    session.sharedState.cacheManager.recacheByPlan(session, into.toLogicalRelation)
  }

  private def nullAsDefault(session: SparkSession): Option[(String, String)] =
    Option.when(session.sessionState.conf.useNullsForMissingDefaultColumnValues)(
      ColumnWithDefaultExprUtils.USE_NULL_AS_DEFAULT_DELTA_OPTION -> "true")
}

/** Delta's command, which commits what this method gives. */
private class TaggedLoad(
    table: DeltaTableV2, mode: SaveMode, options: DeltaOptions, rows: DataFrame, tags: Map[String, String])
    extends WriteIntoDelta(
      table.deltaLog,
      mode,
      options,
      Nil,
      table.deltaLog.unsafeVolatileSnapshot.metadata.configuration,
      rows,
      table.catalogTable) {

  override def writeAndReturnCommitData(
      transaction: OptimisticTransaction,
      session: AnySession,
      clusterBy: Option[ClusterBySpec],
      isReplacing: Boolean): TaggedCommitData[Action] = {
    val written = super.writeAndReturnCommitData(transaction, session, clusterBy, isReplacing)
    written.copy(actions = written.actions.map {
      case file: AddFile => file.copy(tags = new TableFile(file).tags ++ tags)
      case other => other
    })
  }
}
