package org.apache.spark.sql.execution.colocate.aggregate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.LongType

/**
 * A hash aggregate whose buffers may have values of any length, such as strings. Spark's own takes types of a fixed
 * length only, and sorts all rows for other ones. The arguments are Spark's, for an aggregate in one step (mode
 * Complete) with grouping keys.
 */
case class AnyTypeHashAggregateExec(
    requiredChildDistributionExpressions: Option[Seq[Expression]],
    isStreaming: Boolean,
    numShufflePartitions: Option[Int],
    groupingExpressions: Seq[NamedExpression],
    aggregateExpressions: Seq[AggregateExpression],
    aggregateAttributes: Seq[Attribute],
    initialInputBufferOffset: Int,
    resultExpressions: Seq[NamedExpression],
    child: SparkPlan)
    extends BaseAggregateExec {

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"),
    "aggTime" -> SQLMetrics.createTimingMetric(sparkContext, "time in aggregation build"))

  override protected def outputExpressions: Seq[NamedExpression] = resultExpressions

  override protected def doExecute(): RDD[InternalRow] = {
    val (rows, time) = (longMetric("numOutputRows"), longMetric("aggTime"))
    val (memory, spilled) = (longMetric("peakMemory"), longMetric("spillSize"))
    val projections = new GroupProjections(groupingExpressions, aggregateExpressions, results, child.output)
    val most = AnyTypeHashAggregateExec.mostGroups(conf)
    child.execute().mapPartitionsWithIndexInternal { (partition, input) =>
      if (!input.hasNext) Iterator.empty
      else {
        val groups = new HashedGroups(projections, partition, most, memory, spilled)
        val start = System.nanoTime()
        groups.addAll(input)
        time += (System.nanoTime() - start) / 1000000
        groups.results.map { row => rows += 1; row }
      }
    }
  }

  /** The result columns, with each function's result over the columns of its buffer. */
  private def results(buffers: Seq[GroupBuffer]): Seq[Expression] = {
    val values = buffers.flatMap(_.results).toMap
    val byAttribute = AttributeMap(aggregateAttributes.zip(aggregateExpressions.map(a => values(a.resultId))))
    resultExpressions.map(_.transform { case a: Attribute if byAttribute.contains(a) => byAttribute(a) })
  }

  override def verboseString(maxFields: Int): String = simpleString(maxFields)

  override def simpleString(maxFields: Int): String = {
    def list(of: Seq[Any]) = org.apache.spark.sql.catalyst.util.truncatedString(of, "[", ", ", "]", maxFields)
    s"AnyTypeHashAggregate(keys=${list(groupingExpressions)}, functions=${list(aggregateExpressions)})"
  }

  override protected def withNewChildInternal(newChild: SparkPlan): AnyTypeHashAggregateExec = copy(child = newChild)
}

object AnyTypeHashAggregateExec {

  /** For tests: the number of groups that counts as full memory. Spark's own hash aggregate has the same setting. */
  private def mostGroups(conf: org.apache.spark.sql.internal.SQLConf): Int =
    Option(conf.getConfString("spark.sql.TungstenAggregate.testFallbackStartsAt", null))
      .fold(Int.MaxValue)(_.split(",").last.trim.toInt)
}

/** What the tasks compute. Serializable; the projections themselves are made in the task. */
class GroupProjections(
    grouping: Seq[NamedExpression],
    aggregates: Seq[AggregateExpression],
    resultsOf: Seq[GroupBuffer] => Seq[Expression],
    input: Seq[Attribute])
    extends Serializable {

  private val buffers = GroupBuffer.of(aggregates)
  private val results = resultsOf(buffers)

  // The first column says that the buffer counts: 0 in one that had to move because it got longer.
  private val counts = Literal(1L)
  private def buffer(columns: GroupBuffer => Seq[Attribute]): Seq[Attribute] =
    AttributeReference("counts", LongType, nullable = false)() +: buffers.flatMap(columns)
  private val (columns, others) = (buffer(_.columns), buffer(_.others))

  val keyTypes: Seq[Attribute] = grouping.map(_.toAttribute)
  val bufferTypes: Seq[Attribute] = columns

  type InTask = Int => UnsafeProjection
  def key: InTask = made(grouping, input)
  def first: InTask = made(counts +: buffers.flatMap(_.first), input)
  def next: InTask = made(counts +: buffers.flatMap(_.next), columns ++ input)
  def merged: InTask = made(counts +: buffers.flatMap(_.merged), columns ++ others)
  def result: InTask = made(results, keyTypes ++ columns)

  /** rand() and the like begin with the number of the task. */
  private def made(expressions: Seq[Expression], of: Seq[Attribute])(partition: Int): UnsafeProjection = {
    val projection = UnsafeProjection.create(expressions, of)
    projection.initialize(partition)
    projection
  }
}
