package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.{Row, SparkSession => ApiSession}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OverwriteByExpression}
import org.apache.spark.sql.catalyst.util.{CaseInsensitiveMap, QuotingUtils}
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.PartitionOverwriteMode
import org.apache.spark.sql.types.DataType
import org.apache.spark.storage.StorageLevel
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Delta's option `partitionOverwriteMode`, which the session's setting stands in for. */
object OverwriteMode {

  private val Key = "partitionOverwriteMode"

  def isDynamic(options: Map[String, String], conf: SQLConf): Boolean = {
    val named = CaseInsensitiveMap(options)
    !named.contains("replaceWhere") &&
      named.getOrElse(Key, conf.partitionOverwriteMode.toString).equalsIgnoreCase(PartitionOverwriteMode.DYNAMIC.toString)
  }

  def static(options: Map[String, String]): Map[String, String] =
    options.filterNot(_._1.equalsIgnoreCase(Key)) + (Key -> "static")
}

/**
 * Dynamic partition overwrite of a bucketed table that has partition columns of the user's: every partition that the
 * new rows touch is replaced in all of its buckets. Delta itself would count the bucket column in and leave old rows in
 * the buckets that got no new ones (traps S1.1).
 *
 * The rows are kept while their partitions are listed, so that a query is evaluated once; then Delta replaces these
 * partitions and writes the rows in one transaction.
 */
case class OverwriteUserPartitions(
    target: BucketedTarget,
    query: LogicalPlan,
    options: Map[String, String],
    evolve: Boolean)
    extends LeafRunnableCommand {

  override def innerChildren: Seq[QueryPlan[_]] = Seq(query)

  override def run(api: ApiSession): Seq[Row] = {
    val session = api.asInstanceOf[SparkSession]
    val rows = Dataset.ofRows(session, query).persist(StorageLevel.MEMORY_AND_DISK)
    try {
      partitionsOf(rows).foreach { partitions =>
        val replacing = OverwriteMode.static(options) + ("replaceWhere" -> partitions)
        val relation = target.relation.copy(options = CaseInsensitiveStringMap.empty())
        val write = OverwriteByExpression.byName(relation, query, Literal.TrueLiteral, replacing, evolve)
        new QueryExecution(session, write).assertCommandExecuted()
      }
    } finally rows.unpersist()
    Nil
  }

  /** The partitions of the new rows as a condition on the table; None if there are no rows, which replace nothing. */
  private def partitionsOf(rows: DataFrame): Option[String] = {
    val columns = target.userPartitions.map { name =>
      target.relation.output.find(a => conf.resolver(a.name, name)).get
    }
    val typed = columns.map(c => rows.col(QuotingUtils.quoteIdentifier(c.name)).cast(c.dataType))
    val conditions = rows.select(typed: _*).distinct().collect().toSeq.map { values =>
      columns.zipWithIndex.map { case (c, i) => condition(c.name, values.get(i), c.dataType) }.mkString("(", " AND ", ")")
    }
    Option.when(conditions.nonEmpty)(conditions.mkString(" OR "))
  }

  private def condition(column: String, value: Any, dataType: DataType): String = {
    val quoted = QuotingUtils.quoteIdentifier(column)
    if (value == null) s"$quoted IS NULL" else s"$quoted = ${Literal.create(value, dataType).sql}"
  }
}
