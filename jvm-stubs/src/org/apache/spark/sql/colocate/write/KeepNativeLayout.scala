package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.catalog.{BucketSpec, CatalogTable}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.declared.NativeTable
import org.apache.spark.sql.colocate.evidence.manifest.RecordedInsert
import org.apache.spark.sql.colocate.layout.KeyTypes
import org.apache.spark.sql.colocate.rules.{Rewrite, RuleTable}
import org.apache.spark.sql.colocate.write.target.BucketedWrite
import org.apache.spark.sql.execution.command.DataWritingCommand
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand

/**
 * Matches: INSERT INTO and INSERT OVERWRITE of a native member.
 * Produces: a write whose rows are first brought to the task of their bucket, and whose files are recorded in the
 * table's manifest.
 * Not when: the rows of a CREATE TABLE AS SELECT are distributed already; or a key has a type without a hash, which is
 * refused later.
 */
object KeepNativeLayout extends Rule[LogicalPlan] {

  // Without it Spark writes the rows, and the files are checked when they are first read.
  override def apply(plan: LogicalPlan): LogicalPlan = Rewrite.orElse("KeepNativeLayout", plan)(laidOut(plan))

  private def laidOut(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case recorded: RecordedInsert => recorded
    case insert: InsertIntoHadoopFsRelationCommand if insert.query.resolved && isMembers(insert) =>
      insert.bucketSpec.fold(insert) { spec =>
        val laidOut = insert.copy(query = layOut(insert.query, insert.outputColumnNames, spec, insert.catalogTable))
        if (RuleTable.isActive("RecordedInsert")) RecordedInsert(laidOut) else laidOut
      }
  }

  private def isMembers(insert: InsertIntoHadoopFsRelationCommand): Boolean =
    insert.catalogTable.exists(NativeTable.isMember) || insert.query.isInstanceOf[BucketedWrite]

  /** The query below a [[BucketedWrite]], once; its columns are found by the names that the table gives them. */
  def layOut(
      query: LogicalPlan,
      names: Seq[String],
      spec: BucketSpec,
      table: Option[CatalogTable]): LogicalPlan = query match {
    case done: BucketedWrite => done
    case _ =>
      val columns = DataWritingCommand.logicalPlanOutputWithNames(query, names)
      def find(name: String) = query.output(columns.indexWhere(_.name == name))
      val keys = spec.bucketColumnNames.map(find)
      // A refused key may have no hash at all; the statement ends with the refusal before anything is written.
      if (!keys.forall(k => KeyTypes.provable(k.dataType))) query
      else BucketedWrite.native(query, keys, spec.numBuckets, spec.sortColumnNames.map(find), table)
  }
}
