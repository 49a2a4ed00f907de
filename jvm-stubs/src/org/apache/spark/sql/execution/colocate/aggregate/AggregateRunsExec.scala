package org.apache.spark.sql.execution.colocate.aggregate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution.colocate.shuffle.Fields
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CodegenSupport, PartitioningPreservingUnaryExecNode, SparkPlan, UnaryExecNode}

/**
 * An aggregate of rows that mostly follow others of their group: one buffer, for the run of rows of one group that is
 * just being read. A run's end gives one row. Nothing is looked up and nothing is kept.
 *
 * As the first step of an aggregate, it gives keys and buffer to the final step above; rows in any other order give
 * more runs, and the same result. It is the whole aggregate where all rows of a group are neighbours.
 *
 * @param keys       columns of the child; values that are equal have equal bytes
 * @param aggregates without filters; of a first step, their buffers are primitives and decimals
 * @param whole      what the whole aggregate gives, over `keys` and the aggregates' results; None for a first step
 */
case class AggregateRunsExec(
    keys: Seq[Attribute], aggregates: Seq[AggregateExpression], whole: Option[Seq[NamedExpression]], child: SparkPlan)
    extends UnaryExecNode
    with CodegenSupport
    with PartitioningPreservingUnaryExecNode {

  private val buffers: Seq[GroupBuffer] =
    if (whole.isDefined) GroupBuffer.of(aggregates) else aggregates.map(GroupBuffer.ofFunction)

  private def buffer: Seq[Attribute] = buffers.flatMap(_.columns)

  private def firstBuffer: Seq[Expression] = bindReferences(buffers.flatMap(_.first), child.output)

  private def nextBuffer: Seq[Expression] = bindReferences(buffers.flatMap(_.next), buffer ++ child.output)

  /** What a run gives, over its keys and its buffer. */
  private def results: Seq[Expression] = whole.fold[Seq[Expression]](keys ++ buffer) { columns =>
    val values = buffers.flatMap(_.results).toMap
    val byAttribute = AttributeMap(aggregates.map(a => a.resultAttribute -> values(a.resultId)))
    columns.map(_.transform { case a: Attribute => byAttribute.getOrElse(a, a) })
  }

  override protected def outputExpressions: Seq[NamedExpression] =
    whole.getOrElse(keys ++ buffers.flatMap(_.others))

  override def output: Seq[Attribute] = outputExpressions.map(_.toAttribute)

  override def producedAttributes: AttributeSet = AttributeSet(output ++ aggregates.map(_.resultAttribute)) -- inputSet

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
         |  ${consume(ctx, resultsOfRun(ctx))}
         |}
       """.stripMargin)
    s"""
       |${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |if ($inRun) $endRun();
     """.stripMargin
  }

  private def resultsOfRun(ctx: CodegenContext): Seq[ExprCode] = {
    ctx.currentVars = keyVariables ++ bufferVariables
    bindReferences(results, keys ++ buffer).map(_.genCode(ctx))
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    ctx.INPUT_ROW = null
    ctx.currentVars = input
    val found = bindReferences[Expression](keys, child.output).map(_.genCode(ctx))
    val same = keys.indices.map(at => isSame(ctx, keys(at), found(at), keyVariables(at)))
    val begun = firstBuffer.map(_.genCode(ctx))
    ctx.currentVars = bufferVariables ++ input
    val updated = nextBuffer.map(_.genCode(ctx))
    s"""
       |${evaluateVariables(found)}
       |if ($inRun && ${same.mkString(" && ")}) {
       |  ${evaluateVariables(updated)}
       |  ${Fields.keep(bufferVariables, updated, buffer)}
       |} else {
       |  if ($inRun) $endRun();
       |  $inRun = true;
       |  ${Fields.keep(keyVariables, found, keys)}
       |  ${evaluateVariables(begun)}
       |  ${Fields.keep(bufferVariables, begun, buffer)}
       |}
     """.stripMargin
  }

  private def isSame(ctx: CodegenContext, key: Attribute, found: ExprCode, of: ExprCode): String =
    s"(${found.isNull} ? ${of.isNull} : (!${of.isNull} && ${ctx.genEqual(key.dataType, found.value, of.value)}))"

  /** Without generated code. */
  override protected def doExecute(): RDD[InternalRow] = {
    val numOutputRows = longMetric("numOutputRows")
    child.execute().mapPartitionsWithIndexInternal { (task, rows) =>
      val runs = new Runs(rows, task)
      runs.map { run => numOutputRows += 1; run }
    }
  }

  private class Runs(rows: Iterator[InternalRow], task: Int) extends Iterator[InternalRow] {
    private val keyOf = UnsafeProjection.create(keys, child.output)
    private val begin = MutableProjection.create(firstBuffer)
    private val update = MutableProjection.create(nextBuffer)
    private val result = UnsafeProjection.create(results, keys ++ buffer)
    result.initialize(task)
    private val joined = new JoinedRow
    private var ahead: InternalRow = _ // the first row of the next run

    override def hasNext: Boolean = ahead != null || rows.hasNext

    override def next(): InternalRow = {
      var row = if (ahead == null) rows.next() else ahead
      val key = keyOf(row).copy()
      val of = new SpecificInternalRow(buffer.map(_.dataType))
      begin.target(of)(row)
      update.target(of)
      row = following()
      while (row != null && keyOf(row) == key) {
        update(joined(of, row))
        row = following()
      }
      ahead = row
      result(joined(key, of))
    }

    private def following(): InternalRow = if (rows.hasNext) rows.next() else null
  }

  override protected def withNewChildInternal(newChild: SparkPlan): AggregateRunsExec = copy(child = newChild)
}
