package org.apache.spark.sql.colocate.columns

import scala.util.Try

import org.apache.spark.sql.catalyst.AliasIdentifier
import org.apache.spark.sql.catalyst.analysis.UnresolvedSubqueryColumnAliases
import org.apache.spark.sql.catalyst.expressions.{In, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.layout.RangeColumn
import org.apache.spark.sql.colocate.write.target.RangedRows
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Doris' `FROM t PARTITION (p, q)`. To Spark's parser, PARTITION is another name of `t`, and `p` and `q` are names of
 * its columns, so it would read all of `t`.
 *
 * @param isSpark whether Spark's meaning is possible, too; it stays for relations that are not ours
 */
case class NamedPartitionsRead(names: Seq[String], child: LogicalPlan, isSpark: Boolean) {

  /** The rows of these partitions, without the hidden columns. */
  def limited(session: SparkSession, found: LogicalPlan): LogicalPlan = {
    val ranges = found.collectFirst { case relation: DataSourceV2Relation => relation.table }
      .flatMap(RangedRows.of(session, _))
    (ranges, found.output.find(_.name == RangeColumn.Name)) match {
      case (Some(ranged), Some(column)) =>
        VisibleColumns(Filter(In(column, ranged.named(names).map(Literal(_))), found))
      case _ => throw refused(NamedPartitionsRead.nameOf(found))
    }
  }

  def refused(what: String): Throwable = new ColocateException("RANGE_TABLE",
    s"Cannot read partition ${names.mkString(", ")} of $what: it is not a table with range partitions. Write the " +
      "rows to read into WHERE" +
      (if (isSpark) s", or AS `PARTITION` (${names.mkString(", ")}) for another name." else "."))
}

object NamedPartitionsRead {

  /** What Python's dialect writes where Spark's parser refuses Doris' text, as with another name behind it. */
  private val Translated = "_colocate_partition"

  private val Comment = """(?s)--[^\n]*|/\*.*?\*/""".r
  private val AsAlias = """(?is)(?:`|\bas\s*)partitions?\b""".r

  def unapply(plan: LogicalPlan): Option[NamedPartitionsRead] = plan match {
    case alias @ SubqueryAlias(AliasIdentifier(name, Nil), UnresolvedSubqueryColumnAliases(names, child)) =>
      if (name == Translated) Some(NamedPartitionsRead(names, child, isSpark = false))
      else Option.when(isWord(name) && !isWrittenAsAlias(alias.origin, child.origin))(
        NamedPartitionsRead(names, child, isSpark = true))
    case _ => None
  }

  /** In Doris, PARTITION is a reserved word: neither `AS PARTITION` nor quotes can stand before the names. */
  private def isWrittenAsAlias(alias: Origin, relation: Origin): Boolean = {
    val behind = for (text <- alias.sqlText; start <- relation.stopIndex; end <- alias.stopIndex)
      yield Try(text.substring(start + 1, end + 1)).getOrElse("")
    behind.exists(text => AsAlias.findFirstIn(Comment.replaceAllIn(text, " ")).isDefined)
  }

  private def isWord(name: String): Boolean =
    name.equalsIgnoreCase("partition") || name.equalsIgnoreCase("partitions")

  /** As the query writes it. */
  private def nameOf(found: LogicalPlan): String = found match {
    case SubqueryAlias(name, _) => (name.qualifier :+ name.name).filter(_ != "spark_catalog").mkString(".")
    case other => other.collectFirst { case SubqueryAlias(name, _) => name.name }.getOrElse("the relation")
  }
}
