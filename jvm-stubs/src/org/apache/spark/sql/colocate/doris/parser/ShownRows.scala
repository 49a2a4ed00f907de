package org.apache.spark.sql.colocate.doris.parser

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.{Row, SparkSession => AnySession}

/**
 * A statement that lists something, and a query of its rows, as in `SHOW PARTITIONS FROM t WHERE ... LIMIT 1`. The
 * query names the rows as the table `shown`.
 */
case class ShownRows(listing: LogicalPlan, query: LogicalPlan) extends LeafRunnableCommand {

  // The columns are known when the listing has run. It changes nothing, and runs once.
  @transient private lazy val answer = {
    val session = SparkSession.active
    val listed = Dataset.ofRows(session, listing)
    val rows = LocalRelation.fromExternalRows(toAttributes(listed.schema), listed.collect().toSeq)
    Dataset.ofRows(session, query.transform {
      case UnresolvedRelation(Seq("shown"), _, _) => SubqueryAlias("shown", rows)
    })
  }

  override lazy val output: Seq[Attribute] = toAttributes(answer.schema)

  override def run(session: AnySession): Seq[Row] = answer.collect().toSeq
}
