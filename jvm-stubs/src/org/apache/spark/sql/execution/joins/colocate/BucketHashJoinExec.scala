package org.apache.spark.sql.execution.joins.colocate

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.TaskContext
import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftExistence}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.joins._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}
import org.apache.spark.sql.types.LongType

/**
 * Spark's hash join of two sides with the same partitioning, where the streamed side is not a shuffle but a scan: that
 * side is a part of the join's generated code, as in a broadcast join, so its rows are never written out between the
 * two. Spark's own operator is made for the rows of a shuffle, which are there anyway, and has each side in generated
 * code of its own. The join's code is Spark's, but for KeepsBuiltRows; its build side is a LongKeyTable where that
 * fits, else Spark's relation.
 *
 * @param unequal   the condition of a pair of rows besides equal keys
 * @param isBounded all rows of the build side surely fit the task's memory
 */
case class BucketHashJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    buildSide: BuildSide,
    unequal: Option[Expression],
    left: SparkPlan,
    right: SparkPlan,
    isBounded: Boolean,
    isSkewJoin: Boolean)
    extends KeepsBuiltRows
    with ShuffledJoin {

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "buildDataSize" -> SQLMetrics.createSizeMetric(sparkContext, "data size of build side"),
    "gathered" -> SQLMetrics.createMetric(sparkContext, "tasks that put rows of a key side by side"),
    "buildTime" -> SQLMetrics.createTimingMetric(sparkContext, "time to build hash map"))

  override def output: Seq[Attribute] = super[ShuffledJoin].output

  override def outputPartitioning: Partitioning = super[ShuffledJoin].outputPartitioning

  override def outputOrdering: Seq[SortOrder] = if (keepsBuilt) Nil else super[KeepsBuiltRows].outputOrdering

  /** Names of variables in generated code begin with it: Spark's "(skew=true)" behind the name would not compile. */
  override val nodeName: String = "BucketHashJoin"

  override def stringArgs: Iterator[Any] =
    super.stringArgs.toSeq.dropRight(1).iterator ++ Option.when(isSkewJoin)("skew=true")

  /** Only where all rows fit: of rows with the same hash none can be left out. */
  private lazy val hashesKeys: Boolean =
    isBounded && !isOneLong(HashJoin.rewriteKeyExpr(leftKeys)) && HashedKeys.supports(leftKeys ++ rightKeys)

  private def isOneLong(keys: Seq[Expression]): Boolean = keys.size == 1 && keys.head.dataType == LongType

  private def longKeys(keys: Seq[Expression]): Seq[Expression] =
    if (hashesKeys) Seq(HashedKeys.of(keys)) else HashJoin.rewriteKeyExpr(keys)

  @transient override protected lazy val buildBoundKeys: Seq[Expression] =
    bindReferences(longKeys(buildKeys), buildOutput)

  @transient override protected lazy val streamedBoundKeys: Seq[Expression] =
    bindReferences(longKeys(streamedKeys), streamedOutput)

  override lazy val condition: Option[Expression] =
    if (hashesKeys) Some((HashedKeys.areEqual(leftKeys, rightKeys) +: unequal.toSeq).reduce(And(_, _))) else unequal

  private lazy val wanted: LongKeyTable.Wanted = joinType match {
    case LeftExistence(_) if condition.isEmpty => LongKeyTable.AnyOfKey
    case _ => if (keepsBuilt) LongKeyTable.Every else LongKeyTable.WithKey
  }

  /** As in Spark's operator: does the join only need to know if there is a partner, so that any row will do? */
  private lazy val anyOfKeyAnswers: Boolean = joinType match {
    case LeftExistence(_) =>
      !hashesKeys && condition.forall(_.references.subsetOf(AttributeSet(streamedOutput ++ buildKeys)))
    case _ => false
  }

  /**
   * Is the build side a LongKeyTable? Where any row of a key answers, Spark's relation drops the second ones as they
   * come; ours only neighbours, so all rows must be known to fit.
   */
  lazy val hasOwnTable: Boolean = isOneLong(buildBoundKeys) && (isBounded || !anyOfKeyAnswers)

  /** Called by generated code. */
  def buildTable(rows: Iterator[InternalRow]): LongKeyTable = built { memory =>
    val table = LongKeyTable.build(rows, buildBoundKeys.head, buildOutput.size, wanted, memory)
    (table, table.getUsed, () => close(table))
  }

  private def close(table: LongKeyTable): Unit = {
    if (table.isGathered) longMetric("gathered") += 1
    table.close()
  }

  /** Called by generated code. */
  def buildRelation(rows: Iterator[InternalRow]): HashedRelation = built { memory =>
    val relation =
      HashedRelation(rows, buildBoundKeys, taskMemoryManager = memory, ignoresDuplicatedKey = anyOfKeyAnswers)
    (relation, relation.estimatedSize, () => relation.close())
  }

  private def built[A](make: TaskMemoryManager => (A, Long, () => Unit)): A = {
    val start = System.nanoTime()
    val context = TaskContext.get()
    val (made, bytes, close) = make(context.taskMemoryManager())
    longMetric("buildTime") += NANOSECONDS.toMillis(System.nanoTime() - start)
    longMetric("buildDataSize") += bytes
    context.addTaskCompletionListener[Unit](_ => close())
    made
  }

  /** Without generated code Spark's operator does the same. */
  override protected def doExecute(): RDD[InternalRow] =
    ShuffledHashJoinExec(leftKeys, rightKeys, joinType, buildSide, unequal, left, right, isSkewJoin).execute()

  /** Generated code takes two inputs at most: FuseHashJoins sees to it that the streamed side is one. */
  override def inputRDDs(): Seq[RDD[InternalRow]] =
    streamedPlan.asInstanceOf[CodegenSupport].inputRDDs() :+ buildPlan.execute()

  override def needCopyResult: Boolean = true

  override protected def prepareRelation(ctx: CodegenContext): HashedRelationInfo = {
    val join = ctx.addReferenceObj("join", this)
    val (of, build) =
      if (hasOwnTable) (classOf[LongKeyTable].getName, "buildTable")
      else (classOf[HashedRelation].getName, "buildRelation")
    val term = ctx.addMutableState(of, "relation", v => s"$v = $join.$build(inputs[1]);", forceInline = true)
    HashedRelationInfo(term, keyIsUnique = false, isEmpty = false)
  }

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): BucketHashJoinExec =
    copy(left = newLeft, right = newRight)
}

object BucketHashJoinExec {

  /** A tag on a hash join that was chosen because its whole build side fits. */
  val IsBounded: TreeNodeTag[Unit] = TreeNodeTag[Unit]("colocate.bounded")

  def of(join: ShuffledHashJoinExec): BucketHashJoinExec = BucketHashJoinExec(
    join.leftKeys,
    join.rightKeys,
    join.joinType,
    join.buildSide,
    join.condition,
    join.left,
    join.right,
    join.getTagValue(IsBounded).isDefined,
    join.isSkewJoin)
}
