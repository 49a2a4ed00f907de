package org.apache.spark.sql.colocate.write.overwrite

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.SchemaEvolution
import org.apache.spark.sql.colocate.write.target.{BucketedTarget, MaterializedQuery}
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{Row, SparkSession => ApiSession}

/**
 * Dynamic partition overwrite of a bucketed table that has partition columns of the user's: every partition that the
 * new rows touch is replaced in all of its buckets. Delta itself would use the bucket column, too, and leave old rows
 * in the buckets without new ones.
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
    val kept = new MaterializedQuery(session, query)
    try UserPartitions.of(target, kept.rows).foreach { partitions =>
      val relation = target.relation.copy(options = CaseInsensitiveStringMap.empty())
      val write = SchemaEvolution.overwrite(
        relation, kept.plan, Literal.TrueLiteral, OverwriteMode.where(options, partitions), evolve)
      new QueryExecution(session, write).assertCommandExecuted()
    }
    finally kept.release()
    Nil
  }
}
