package org.apache.spark.sql.colocate.ops.jobs

import org.apache.spark.sql.catalyst.expressions.{
  Alias, ExtractValue, FileSourceMetadataAttribute, Literal, NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.colocate.evidence.delta.RowTracking
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.Metadata

/** The row ids and row versions of a Delta table with row tracking, as columns that a rewrite copies. */
private[jobs] object KeptRowIds {

  /** The relation to read, and these columns. None without row tracking. */
  def of(relation: LogicalRelation, properties: Map[String, String]): (LogicalPlan, Seq[NamedExpression]) =
    if (!properties.get("delta.enableRowTracking").contains("true")) (relation, Nil)
    else {
      val rows = relation.withMetadataColumns()
      val metadata = rows.output.find(c => FileSourceMetadataAttribute.isValid(c.metadata)).get
      def kept(field: String, property: String, marked: String => Metadata) = {
        val name = properties(s"delta.rowTracking.$property")
        val value = ExtractValue(metadata, Literal(field), SQLConf.get.resolver)
        Alias(value, name)(explicitMetadata = Some(marked(name)))
      }
      (rows, Seq(
        kept(RowTracking.RowId, "materializedRowIdColumnName", RowTracking.rowIdMetadata),
        kept("row_commit_version", "materializedRowCommitVersionColumnName", RowTracking.rowVersionMetadata)))
    }
}
