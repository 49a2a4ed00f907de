package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.{DeltaClauses, DeltaIndexes}
import org.apache.spark.sql.colocate.layout.{BucketColumn, BucketLayout, RangeColumn}
import org.apache.spark.sql.colocate.write.target.{RangedRows, WriteByPartitionsBuckets}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelationWithTable}

/**
 * Matches: Delta's command for MERGE, by SQL or by the DeltaTable API, when it has a value of the right type for each
 * column of a new row.
 * Produces: the same with the bucket column computed from these values, and the column of range partitions, too, which
 * fails with our error for a row of no range partition. Delta computes both from values before they are cast, and
 * would refuse a BIGINT that becomes an INT key.
 * Not when: a value is a subquery or changes from call to call; then Delta computes the columns and checks them. Or a
 * user's function stands for Spark's in the bucket column's text; CheckComputedBuckets finds it in what Delta computes.
 */
case class HiddenColumnsOfMerge(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.nodeName != "MergeIntoCommand") plan
    else targetOf(plan).fold(plan)(target => DeltaClauses.changed(plan)(computed(target, _)))

  /** @param columns of the old row */
  private case class Target(columns: AttributeSet, layout: Option[BucketLayout], ranges: Option[RangedRows])

  private def computed(target: Target, values: Map[String, Expression]): Map[String, Expression] =
    (target.layout.flatMap(bucket(_, target, values)).map(BucketColumn.Name -> _) ++
      target.ranges.flatMap(range(_, target, values)).map(RangeColumn.Name -> _)).toMap

  private def bucket(layout: BucketLayout, target: Target, values: Map[String, Expression]): Option[Expression] = {
    val keys = layout.keys.flatMap(valueOf(_, values))
    val used = layout.keys ++ layout.partitions.toSeq.flatMap(_.number.references.map(_.name))
    for {
      number <- WriteByPartitionsBuckets.numberOf(layout, valueOf(_, values))
      if keys.map(_.dataType) == layout.keyTypes && changes(target, used.flatMap(valueOf(_, values)))
    } yield BucketColumn.idOf(keys, number)
  }

  private def range(ranges: RangedRows, target: Target, values: Map[String, Expression]): Option[Expression] =
    if (!changes(target, ranges.columnNames.flatMap(valueOf(_, values)))) None
    else ranges.checkedPartition(valueOf(_, values))

  /** Not in an UPDATE that leaves the columns as they are. */
  private def changes(target: Target, values: Seq[Expression]): Boolean =
    values.forall(DeltaClauses.isRepeatable) && values.exists {
      case column: Attribute => !target.columns.contains(column)
      case _ => true
    }

  private def valueOf(name: String, values: Map[String, Expression]): Option[Expression] =
    values.collectFirst { case (column, value) if conf.resolver(column, name) => value }

  private def targetOf(merge: LogicalPlan): Option[Target] =
    DeltaClauses.target(merge).flatMap { plan =>
      plan.collectFirst { case LogicalRelationWithTable(files: HadoopFsRelation, table) =>
        val layout = BucketColumn.layoutOf(session, DeltaIndexes.schemaOf(files))
        Target(plan.outputSet, layout, RangedRows.of(session, files, table))
      }
    }.filter(_.layout.isEmpty || BucketColumn.isSparksOwn(session))
}
