package org.apache.spark.sql.colocate.write.target

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.colocate.declared.DeltaLayout
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * "The row is in one of these range partitions", as a condition of DELETE that ResolveNamedPartitions replaces once
 * the table is known. Where it stays, the statement fails: it is never resolved.
 */
case class InNamedPartitions(names: Seq[String]) extends LeafExpression with Predicate with Unevaluable {
  override lazy val resolved: Boolean = false
  override def nullable: Boolean = false
  override def sql: String = names.mkString("PARTITION (", ", ", ")")
}

/**
 * The range partitions that an INSERT INTO or OVERWRITE names: an option of the relation it writes to, until
 * LayOutWrites reads it.
 */
object NamedPartitions {

  private val Key = "colocate.range.partitions"

  def of(relation: DataSourceV2Relation): Seq[String] =
    Option(relation.options.get(Key)).toSeq.flatMap(_.split(","))

  def on(relation: DataSourceV2Relation, names: Seq[String]): DataSourceV2Relation = {
    val options = relation.options.asCaseSensitiveMap().asScala.toMap + (Key -> names.mkString(","))
    relation.copy(options = new CaseInsensitiveStringMap(options.asJava))
  }

  /** What is true of the rows of the named partitions. */
  def rowsOf(relation: DataSourceV2Relation): Expression = {
    val column = relation.output.find(_.name == RangeColumn.Name).get
    In(column, of(relation).map(Literal(_)))
  }

  def without(options: Map[String, String]): Map[String, String] =
    options.filterNot { case (key, _) => key.equalsIgnoreCase(Key) }

  /** The columns that Spark's own PARTITION clause may name. */
  def columns(table: Table): Seq[String] = DeltaLayout.partitionColumns(table.partitioning.toSeq)
}
