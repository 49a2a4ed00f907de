package org.apache.spark.sql.colocate.testing.doris

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.doris.ranges.{ColumnValues, RangeColumns, RangeSearch}
import org.apache.spark.sql.colocate.layout.PartitionExpression
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** Asks RangeSearch about conditions, and compares with what the conditions say of many rows. */
object RangeProbe {

  /**
   * @param columns   of the rows, as in CREATE TABLE; types of range columns only
   * @param partition the expression of a row's partition
   * @param rows      each on a line, with the numbers by which Spark keeps the columns' values, or `null`
   * @return for each condition the partitions that were found, or "all"; and after a bar a row in another partition for
   *         which the condition is true, if there is one
   */
  def search(
      session: SparkSession,
      columns: String,
      partition: String,
      conditions: java.util.List[String],
      rows: String): Array[String] = {
    val output = StructType.fromDDL(columns).map(f => AttributeReference(f.name, f.dataType)())
    val relation = LocalRelation(output, Seq(new GenericInternalRow(output.size)), isStreaming = false)
    val computed = analyzed(session, relation, partition)
    val types = relation.output.map(_.dataType).toIndexedSeq
    val stored = rows.linesIterator.toSeq.map { row =>
      InternalRow.fromSeq(row.split(",").toSeq.zip(types).map { case (value, dataType) =>
        if (value == "null") null else ColumnValues.stored(value.toLong, dataType)
      })
    }
    val search = new RangeSearch(
      new PartitionExpression(computed), RangeColumns(types, relation.output.map(_.exprId).zipWithIndex.toMap))
    val partitions = stored.map(BindReferences.bindReference(computed, relation.output).eval(_))
    conditions.asScala.map { text =>
      val condition = optimized(session, relation, text)
      val found = search.partitions(condition)
      val bound = BindReferences.bindReference(condition, relation.output)
      val missed = stored.zip(partitions).find { case (row, name) =>
        name != null && found.exists(!_.contains(name.toString)) && holds(bound, row)
      }
      found.fold("all")(_.sorted.mkString(",")) + "|" + missed.fold("")(_.toString)
    }.toArray
  }

  private def holds(condition: Expression, row: InternalRow): Boolean =
    try condition.eval(row) == true catch { case _: RuntimeException => false }

  private def analyzed(session: SparkSession, relation: LocalRelation, text: String): Expression = {
    val parsed = session.sessionState.sqlParser.parseExpression(text)
    session.sessionState.analyzer.execute(Project(Seq(Alias(parsed, "p")()), relation)).expressions.head.children.head
  }

  /** Literals as the planner's rules see them. The rules that would run the filter are left out. */
  private def optimized(session: SparkSession, relation: LocalRelation, text: String): Expression = {
    val parsed = Filter(session.sessionState.sqlParser.parseExpression(text), relation)
    val conf = session.sessionState.conf.clone()
    conf.setConfString(SQLConf.OPTIMIZER_EXCLUDED_RULES.key, ConvertToLocalRelation.ruleName)
    val plan = SQLConf.withExistingConf(conf)(
      session.sessionState.optimizer.execute(session.sessionState.analyzer.execute(parsed)))
    plan match {
      case Filter(condition, _) => condition
      case LocalRelation(_, Nil, _, _) => Literal.FalseLiteral
      case _ => Literal.TrueLiteral
    }
  }
}
