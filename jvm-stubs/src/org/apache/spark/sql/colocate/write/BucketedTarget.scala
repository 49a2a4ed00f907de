package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2WriteCommand}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.columns.BucketColumn
import org.apache.spark.sql.colocate.evidence.BucketLayout
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.connector.expressions.{FieldReference, IdentityTransform}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** A bucketed Delta table that a statement writes to. */
case class BucketedTarget(relation: DataSourceV2Relation, layout: BucketLayout) {

  /** The partition columns that the user declared. */
  lazy val userPartitions: Seq[String] = relation.table.partitioning.toSeq.collect {
    case IdentityTransform(FieldReference(Seq(name))) if name != BucketColumn.Name => name
  }

  /** Are these the user's partition columns, in their order? Upper and lower case count as the session says. */
  def isPartitionedBy(columns: Seq[String]): Boolean =
    columns.size == userPartitions.size && columns.zip(userPartitions).forall(relation.conf.resolver.tupled)

  /** The bucket keys among a query's columns, as the table's types; None if the query lacks one. */
  def keysIn(columns: Seq[Attribute]): Option[Seq[Expression]] = {
    val resolver = relation.conf.resolver
    val keys = layout.keys.zip(layout.keyTypes).flatMap { case (key, keyType) =>
      columns.find(c => resolver(c.name, key)).map(c => if (c.dataType == keyType) c else Cast(c, keyType))
    }
    Option.when(keys.size == layout.keys.size)(keys)
  }

  /** The query's rows by bucket; a query that lacks a key stays as it is. */
  def byBucket(query: LogicalPlan): LogicalPlan =
    keysIn(query.output).fold(query)(BucketedWrite.over(query, _, layout.buckets))
}

object BucketedTarget {

  def of(session: SparkSession, write: V2WriteCommand): Option[BucketedTarget] = write.table match {
    case relation: DataSourceV2Relation =>
      DeltaTables.layoutOf(session, relation.table).map(BucketedTarget(relation, _))
    case _ => None
  }
}
