package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.colocate.scan.UsesBuckets
import org.apache.spark.sql.execution.colocate.PassesRows
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}

/**
 * Declares what Spark can't know about its child: rows with equal `group` are in one task ([[RowOrigin]] proves it).
 * Rows pass unchanged. As a node of the plan it lets the aggregate above keep its requirement, so that
 * ValidateRequirements, and later rules that would split or repeat tasks, see it.
 */
case class WithinTaskExec(group: Attribute, madeFrom: RowOrigin, child: SparkPlan)
    extends PassesRows
    with CodegenSupport
    with UsesBuckets {

  override def usesBuckets: Boolean = madeFrom == RowOrigin.ScannedFile

  override def outputPartitioning: Partitioning = {
    val within = WithinTaskPartitioning(Seq(group), child.outputPartitioning.numPartitions)
    child.outputPartitioning match {
      case PartitioningCollection(partitionings) => PartitioningCollection(partitionings :+ within)
      case _: UnknownPartitioning => within
      case other => PartitioningCollection(Seq(other, within))
    }
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  override def supportCodegen: Boolean = child.isInstanceOf[CodegenSupport]

  override protected def doProduce(context: CodegenContext): String =
    child.asInstanceOf[CodegenSupport].produce(context, this)

  override def doConsume(context: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = consume(context, input)

  override protected def withNewChildInternal(newChild: SparkPlan): WithinTaskExec = copy(child = newChild)
}

/** Rows with equal values are in one task, but which one is not known: enough for grouping, not for a join. */
case class WithinTaskPartitioning(expressions: Seq[Expression], numPartitions: Int)
    extends Expression
    with Partitioning
    with Unevaluable {

  override def children: Seq[Expression] = expressions
  override def nullable: Boolean = false
  override def dataType: org.apache.spark.sql.types.DataType = org.apache.spark.sql.types.IntegerType

  override def satisfies0(required: Distribution): Boolean = super.satisfies0(required) || (required match {
    case _: StatefulOpClusteredDistribution => false
    case ClusteredDistribution(clustering, false, _) => expressions.forall(e => clustering.exists(_.semanticEquals(e)))
    case _ => false
  })

  override def createShuffleSpec(distribution: ClusteredDistribution): ShuffleSpec = WithinTaskSpec(numPartitions)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): WithinTaskPartitioning =
    copy(expressions = newChildren)
}

private case class WithinTaskSpec(numPartitions: Int) extends ShuffleSpec {
  override def isCompatibleWith(other: ShuffleSpec): Boolean = false
  override def canCreatePartitioning: Boolean = false
}
