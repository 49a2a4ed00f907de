package org.apache.spark.sql.colocate.rules.aggregate

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.colocate.rules.join.JoinSides
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.HashAggregateExec
import org.apache.spark.sql.execution.colocate.aggregate.AggregateRunsExec
import org.apache.spark.sql.execution.joins.colocate.JoinInputExec
import org.apache.spark.sql.execution.joins.HashJoin
import org.apache.spark.sql.types._

/**
 * Matches: a hash aggregate in one step (mode Complete) over the rows of a member in the order of its files.
 * Produces: an operator below it that first aggregates runs: neighbouring rows of the same group. This saves the
 * look-up in the hash table for each row. Tables are mostly loaded in about the order of their keys, so the lines of an
 * order, or the readings of a device, are neighbours. The rule runs after the columnar transitions, so that all earlier
 * rules see Spark's own aggregate.
 * Not when: a sort or a shuffle has changed the order of the rows; a grouping key is not a column of a primitive type,
 * or is a FLOAT or DOUBLE; an aggregate's buffer has a column that is neither primitive nor DECIMAL; or an aggregate
 * has DISTINCT or FILTER.
 */
object AggregateRuns extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = Rewrite.ofBuckets("AggregateRuns", _)(_.transformUp {
    case all: HashAggregateExec if isSimple(all) && keepsOrder(all.child) => inRuns(all)
  })

  private def isSimple(all: HashAggregateExec): Boolean =
    all.groupingExpressions.nonEmpty &&
      all.groupingExpressions.forall(key => key.isInstanceOf[Attribute] && isKey(key.dataType)) &&
      all.aggregateExpressions.nonEmpty &&
      all.aggregateExpressions.forall(OneStep.isPlain) &&
      all.aggregateExpressions.map(_.aggregateFunction).forall {
        case declared: DeclarativeAggregate => declared.aggBufferAttributes.forall(a => isBuffer(a.dataType))
        case _ => false
      }

  /** Types whose values can be compared by `==` and kept without a copy of the row that they were read from. */
  private def isKey(of: DataType): Boolean = isBuffer(of) && (of match {
    case FloatType | DoubleType | _: DecimalType => false
    case _ => true
  })

  private def isBuffer(of: DataType): Boolean = CodeGenerator.isPrimitiveType(of) || of.isInstanceOf[DecimalType]

  /** Are the rows in the order of the scan's files? */
  private def keepsOrder(plan: SparkPlan): Boolean = plan match {
    case _: ColocatedScanExec => true
    case _: ProjectExec | _: FilterExec | _: ColumnarToRowExec | _: JoinInputExec => keepsOrder(plan.children.head)
    case join: HashJoin => keepsOrder(JoinSides.streamed(join))
    case _ => false
  }

  private def inRuns(all: HashAggregateExec): SparkPlan = {
    val keys = all.groupingExpressions.map(_.toAttribute)
    val runs = AggregateRunsExec(keys, all.aggregateExpressions.map(_.copy(mode = Partial)), whole = None, all.child)
    all.copy(
      requiredChildDistributionExpressions = Some(keys),
      groupingExpressions = keys: Seq[NamedExpression],
      aggregateExpressions = all.aggregateExpressions.map(_.copy(mode = Final)),
      initialInputBufferOffset = keys.size,
      child = runs)
  }
}
