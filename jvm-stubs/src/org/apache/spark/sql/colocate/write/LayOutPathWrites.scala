package org.apache.spark.sql.colocate.write

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.colocate.compat.delta.DeltaClasses
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.write.overwrite.{OverwriteMode, OverwriteUserPartitions}
import org.apache.spark.sql.colocate.write.target.{
  BucketedTarget, BucketedWrite, RowInSomeRange, WriteByPartitionsBuckets
}
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Identifier}
import org.apache.spark.sql.execution.datasources.DataSourceUtils.PARTITIONING_COLUMNS_KEY
import org.apache.spark.sql.execution.datasources.{DataSourceUtils, SaveIntoDataSourceCommand}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Matches: `df.write.format("delta").save(path)` into a bucketed table.
 * Produces: the same write with its rows distributed by bucket, and its dynamic overwrite replaces the partitions of
 * the user. A writer, also a stream's, may name the user's partition columns; a stream adds no column that a key model
 * has no place for.
 * Not when: the path holds no bucketed table, or the rows are distributed already.
 */
case class LayOutPathWrites(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case save: SaveIntoDataSourceCommand if isDelta(save) && save.query.resolved =>
      targetOf(save).fold(plan)(laidOut(save, _))
    case stream: WriteToStream if DeltaStreams.isSink(stream.sink) =>
      tableAt(absolute(DeltaStreams.path(stream.sink))).fold(plan)(ofStream(stream, _))
    case _ => plan
  }

  private def ofStream(stream: WriteToStream, target: BucketedTarget): LogicalPlan = {
    target.refuseNewColumns(stream.inputQuery)
    DeltaStreams.withoutPartitions(stream, target)
  }

  private def laidOut(save: SaveIntoDataSourceCommand, target: BucketedTarget): LogicalPlan = {
    target.model.foreach(_.refuseOptions(session, target.relation, save.options))
    val dynamic = save.mode == SaveMode.Overwrite && OverwriteMode.isDynamic(save.options, conf)
    val newSchema = OverwriteMode.flag(save.options, "overwriteSchema")
    if (!newSchema) {
      if (OverwriteMode.evolves(save.options, conf)) target.refuseWiderKeys(save.query)
      else target.refuseUnknown(save.query)
    }
    val query = if (newSchema) save.query else KeysAsStored(save.query, target)
    if (dynamic && target.userPartitions.nonEmpty) {
      OverwriteUserPartitions(target, target.prepared(query), save.options - "path", evolve = false)
    } else {
      val options = if (dynamic) OverwriteMode.static(save.options) else save.options
      val checked = if (newSchema) options else withoutPartitions(options, target)
      save.copy(query = target.byBucket(query), options = checked + ("optimizeWrite" -> "false"))
    }
  }

  /** Delta compares named partition columns with all of the table, the bucket column among them. */
  private def withoutPartitions(options: Map[String, String], target: BucketedTarget): Map[String, String] = {
    val named = options.get(PARTITIONING_COLUMNS_KEY).map(DataSourceUtils.decodePartitioningColumns)
    target.refuseOtherPartitions(named.filter(_.nonEmpty))
    options - PARTITIONING_COLUMNS_KEY
  }

  private def isDelta(save: SaveIntoDataSourceCommand): Boolean =
    DeltaClasses.is(save.dataSource, DeltaClasses.Source) && save.options.contains("path") &&
      (save.mode == SaveMode.Overwrite || save.mode == SaveMode.Append)

  private def absolute(name: String): String = {
    val path = new Path(name)
    path.getFileSystem(session.sessionState.newHadoopConf()).makeQualified(path).toString
  }

  private def targetOf(save: SaveIntoDataSourceCommand): Option[BucketedTarget] = save.query match {
    case _: BucketedWrite | Filter(_: RowInSomeRange, _) => None
    case done if WriteByPartitionsBuckets.isDone(done) => None
    case _ => tableAt(absolute(save.options("path")))
  }

  private def tableAt(path: String): Option[BucketedTarget] = {
    val catalog = session.sessionState.catalogManager.v2SessionCatalog
    val ident = Identifier.of(Array("delta"), path)
    CatalogV2Util.loadTable(catalog, ident)
      .flatMap(table => BucketedTarget.of(session, DataSourceV2Relation.create(table, Some(catalog), Some(ident))))
  }
}
