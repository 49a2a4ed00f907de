package org.apache.spark.sql.colocate.scan

import scala.jdk.CollectionConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, Predicate, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.colocate.compat.TimesOfDay
import org.apache.spark.sql.execution.datasources.DataSourceStrategy
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.{RowToColumnarEvaluatorFactory, ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * The rows of strays, shuffled to the tasks of their buckets. The shuffle is a part of the scan and not an
 * operator of the plan: adaptive execution would take the size of an Exchange below the scan for the size of the whole
 * table, and broadcast it.
 *
 * @param read    the strays' files as the scan reads them, rows or batches
 * @param keys    bucket keys, among `output`
 * @param filters the scan's filters; what they reject is not shuffled
 */
private[colocate] case class StrayRows(
    read: RDD[InternalRow],
    output: Seq[Attribute],
    keys: Seq[Attribute],
    filters: Seq[Expression],
    metrics: Map[String, SQLMetric]) {

  /** Rows by task: `pmod(hash(keys), tasks)`, the partitioning of the bucketed files. */
  def byTask(tasks: Int): RDD[InternalRow] = {
    val dependency = ShuffleExchangeExec.prepareShuffleDependency(
      filtered, output, HashPartitioning(keys, tasks), new UnsafeRowSerializer(output.size), metrics)
    new ShuffledRowRDD(dependency, metrics)
  }

  /** The same as batches, for a scan that gives batches. */
  def batchesByTask(tasks: Int, offHeap: Boolean, batchRows: Int): RDD[InternalRow] = {
    val schema = DataTypeUtils.fromAttributes(output)
    val (rowsIn, batchesOut) = (metrics(StrayRows.Shuffled), metrics(StrayRows.Batches))
    byTask(tasks).mapPartitionsWithIndexInternal { (index, rows) =>
      val factory = new RowToColumnarEvaluatorFactory(offHeap, batchRows, schema, rowsIn, batchesOut)
      factory.createEvaluator().eval(index, rows).asInstanceOf[Iterator[InternalRow]]
    }
  }

  private def filtered: RDD[InternalRow] = {
    val (columns, condition) = (output, StrayRows.harmless(filters).reduceOption(And))
    val schema = DataTypeUtils.fromAttributes(output)
    read.mapPartitionsWithIndexInternal { (index, items) =>
      val toUnsafe = UnsafeProjection.create(schema)
      toUnsafe.initialize(index)
      val rows = StrayRows.rowsOf(items)
      val kept = condition.fold(rows) { c =>
        val predicate = Predicate.create(c, columns)
        predicate.initialize(index)
        rows.filter(predicate.eval)
      }
      kept.map(toUnsafe)
    }
  }
}

private[colocate] object StrayRows {

  val Shuffled = "strayRows"
  val Batches = "strayBatches"

  /** Can rows of these columns be put into batches? */
  def fitBatches(schema: StructType): Boolean = !schema.existsRecursively(TimesOfDay.isOne(_))

  /** Comparisons that data sources know: they are evaluated again above the scan, and none of them can fail. */
  private def harmless(filters: Seq[Expression]): Seq[Expression] = filters.filter { f =>
    f.deterministic && DataSourceStrategy.translateFilter(f, supportNestedPredicatePushdown = false).isDefined
  }

  private def rowsOf(items: Iterator[Any]): Iterator[InternalRow] = items.flatMap {
    case batch: ColumnarBatch => batch.rowIterator().asScala
    case row => Iterator.single(row.asInstanceOf[InternalRow])
  }
}
