package org.apache.spark.sql.execution.colocate.aggregate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution.colocate.shuffle.Fields
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CodegenSupport, PartitioningPreservingUnaryExecNode, SparkPlan, UnaryExecNode}

/**
 * The first step of an aggregate for rows that mostly follow others of their group: one buffer, for the run of rows of
 * one group that is just being read. A run's end gives one row, keys and buffer, to the final step above. Nothing is
 * looked up and nothing is kept; rows in any other order give more runs, and the same result.
 *
 * @param keys       columns of the child, of primitive types
 * @param aggregates as of a partial step, without filters; their buffers are primitives and decimals
 */
case class AggregateRunsExec(keys: Seq[Attribute], aggregates: Seq[AggregateExpression], child: SparkPlan)
    extends UnaryExecNode
    with CodegenSupport
    with PartitioningPreservingUnaryExecNode {

  private val functions: Seq[DeclarativeAggregate] =
    aggregates.map(_.aggregateFunction.asInstanceOf[DeclarativeAggregate])

  private def buffer: Seq[Attribute] = functions.flatMap(_.aggBufferAttributes)

  private def updates: Seq[Expression] = bindReferences(functions.flatMap(_.updateExpressions), buffer ++ child.output)

  private def initialValues: Seq[Expression] = functions.flatMap(_.initialValues)

  override def output: Seq[Attribute] = keys ++ functions.flatMap(_.inputAggBufferAttributes)

  override def producedAttributes: AttributeSet = AttributeSet(output) -- inputSet

  override protected def outputExpressions: Seq[NamedExpression] = output

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of runs"))

  override def usedInputs: AttributeSet = inputSet

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  private var inRun: String = _
  private var endRun: String = _
  private var keyVariables: Seq[ExprCode] = _
  private var bufferVariables: Seq[ExprCode] = _

  override protected def doProduce(ctx: CodegenContext): String = {
    inRun = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "inRun")
    keyVariables = Fields.declare(ctx, "key", keys)
    bufferVariables = Fields.declare(ctx, "buffer", buffer)
    ctx.INPUT_ROW = null
    val name = ctx.freshName("endRun")
    // What follows may be long, and a run ends in two places.
    endRun = ctx.addNewFunction(
      name,
      s"""
         |private void $name() throws java.io.IOException {
         |  $inRun = false;
         |  ${metricTerm(ctx, "numOutputRows")}.add(1);
         |  ${consume(ctx, keyVariables ++ bufferVariables)}
         |}
       """.stripMargin)
    s"""
       |${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |if ($inRun) $endRun();
     """.stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    ctx.INPUT_ROW = null
    ctx.currentVars = input
    val found = bindReferences[Expression](keys, child.output).map(_.genCode(ctx))
    val same = keys.indices.map(at => isSame(ctx, keys(at), found(at), keyVariables(at)))
    val initial = initialValues.map(_.genCode(ctx))
    ctx.currentVars = bufferVariables ++ input
    val updated = updates.map(_.genCode(ctx))
    s"""
       |${evaluateVariables(found)}
       |if (!($inRun && ${same.mkString(" && ")})) {
       |  if ($inRun) $endRun();
       |  $inRun = true;
       |  ${Fields.assign(keyVariables, found)}
       |  ${evaluateVariables(initial)}
       |  ${Fields.assign(bufferVariables, initial)}
       |}
       |${evaluateVariables(updated)}
       |${Fields.assign(bufferVariables, updated)}
     """.stripMargin
  }

  private def isSame(ctx: CodegenContext, key: Attribute, found: ExprCode, of: ExprCode): String =
    s"(${found.isNull} ? ${of.isNull} : (!${of.isNull} && ${ctx.genEqual(key.dataType, found.value, of.value)}))"

  /** Without generated code. */
  override protected def doExecute(): RDD[InternalRow] = {
    val numOutputRows = longMetric("numOutputRows")
    child.execute().mapPartitionsInternal { rows =>
      val runs = new Runs(rows)
      runs.map { run => numOutputRows += 1; run }
    }
  }

  private class Runs(rows: Iterator[InternalRow]) extends Iterator[InternalRow] {
    private val keyOf = UnsafeProjection.create(keys, child.output)
    private val initialize = MutableProjection.create(initialValues, Nil)
    private val update = MutableProjection.create(updates)
    private val result = UnsafeProjection.create(output, output)
    private val joined = new JoinedRow
    private var ahead: InternalRow = _ // the first row of the next run

    override def hasNext: Boolean = ahead != null || rows.hasNext

    override def next(): InternalRow = {
      var row = if (ahead == null) rows.next() else ahead
      ahead = null
      val key = keyOf(row).copy()
      val of = new SpecificInternalRow(buffer.map(_.dataType))
      initialize.target(of)(InternalRow.empty)
      update.target(of)
      while (row != null) {
        update(joined(of, row))
        row = if (rows.hasNext) rows.next() else null
        if (row != null && keyOf(row) != key) {
          ahead = row
          row = null
        }
      }
      result(joined(key, of))
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): AggregateRunsExec = copy(child = newChild)
}
