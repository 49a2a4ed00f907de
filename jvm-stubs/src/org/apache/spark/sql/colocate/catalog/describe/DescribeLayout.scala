package org.apache.spark.sql.colocate.catalog.describe

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, DeltaTables}
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.execution.command.{LeafRunnableCommand, RunnableCommand}
import org.apache.spark.sql.functions.{col, element_at, lit}
import org.apache.spark.sql.{Row, SparkSession => AnySession}

/** Spark's DESCRIBE EXTENDED, then the group, its bucket keys and count. */
case class DescribeLayout(describe: LogicalPlan, layout: LayoutInformation, override val output: Seq[Attribute])
    extends LeafRunnableCommand {

  override def innerChildren: Seq[QueryPlan[_]] = Seq(describe)

  override def run(sparkSession: AnySession): Seq[Row] = {
    val rows = describe match {
      case command: RunnableCommand => command.run(sparkSession)
      case plan =>
        val state = castToImpl(sparkSession).sessionState
        state.executePlan(plan, CommandExecutionMode.SKIP).executedPlan.executeCollectPublic().toSeq
    }
    rows ++ layout.rows.map { case (name, value) => Row(name, value, "") }
  }
}

/** SHOW PARTITIONS by the user's partition columns, from Delta's log. */
case class ShowDeclaredPartitions(name: String, table: Table, spec: Map[String, String]) extends LeafRunnableCommand {

  private lazy val snapshot = DeltaIndexes.snapshotOfTable(table)

  private lazy val columns = HiddenColumns.without(snapshot.partitionSchema)

  override lazy val output: Seq[Attribute] = toAttributes(columns)

  override def run(sparkSession: AnySession): Seq[Row] = {
    if (columns.isEmpty) {
      if (DeltaTables.rangesOf(table).isDefined)
        refuse("it has range partitions and no partition columns", s"CALL system.show_partitions(table => '$name')")
      refuse("it has no partition columns, only buckets", "SELECT * FROM system.colocation_buckets lists those")
    }
    spec.keys.find(!columns.fieldNames.contains(_)).foreach { other =>
      refuse(s"$other is not a partition column (${columns.fieldNames.mkString(", ")})", "Name partition columns")
    }
    val values = columns.map { field =>
      element_at(col("partitionValues"), lit(snapshot.physicalName(field.name))).cast(field.dataType).as(field.name)
    }
    val partitions = DeltaIndexes.allFilesOf(snapshot).select(values: _*).distinct()
    spec
      .foldLeft(partitions) { case (found, (column, value)) => found.where(col(column) <=> lit(value)) }
      .collect().toSeq
  }

  private def refuse(why: String, cure: String): Nothing =
    throw new ColocateException("NO_PARTITIONS", s"Cannot show partitions of $name: $why. $cure.")
}
