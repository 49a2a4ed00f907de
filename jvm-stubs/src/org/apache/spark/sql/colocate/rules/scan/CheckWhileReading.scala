package org.apache.spark.sql.colocate.rules.scan

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.evidence.verify.OpenReads
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.{HashAggregateExec, ObjectHashAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.colocate.PassesRows
import org.apache.spark.sql.execution.colocate.aggregate.{AggregateRunsExec, AnyTypeHashAggregateExec}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, ShuffledJoin}
import org.apache.spark.sql.execution.window.{WindowExec, WindowGroupLimitExec}

/**
 * Matches: an Exchange above scans that read native files which were not checked yet.
 * Produces: tasks that check the rows while they read them. Each of these tasks ends before any of its rows goes on, so
 * one that finds a row in a wrong bucket fails the query before it returns anything.
 * Not when: no Exchange follows (a LIMIT, an iterator over the result, a cache): rows are returned before all are read,
 * so a separate check runs first, which reads the keys twice. Nor below operators that may not read all their input in
 * one thread, such as those of Python functions.
 */
object CheckWhileReading extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = Rewrite.ofBuckets("CheckWhileReading", _)(_.transformUp {
    case exchange: Exchange if !exchange.child.supportsColumnar => checked(exchange)
  })

  private def checked(exchange: Exchange): SparkPlan = {
    val inTasks = checked(exchange.child)
    if (inTasks eq exchange.child) exchange else exchange.withNewChildren(Seq(FinishChecksExec(inTasks)))
  }

  private def checked(plan: SparkPlan): SparkPlan = plan match {
    case scan: ColocatedScanExec if scan.mayCheckInTasks => scan.checkingInTasks
    case node if opensAll(node) => node.mapChildren(checked)
    case other => other
  }

  /**
   * Does each task of the node open its part of every child, whether it reads that to the end or not, and in its own
   * thread? Below other operators, such as those that hand rows to Python, the scans are checked before the query.
   */
  private def opensAll(node: SparkPlan): Boolean = node match {
    case _: ColumnarToRowExec | _: ProjectExec | _: FilterExec | _: SortExec | _: ExpandExec | _: GenerateExec => true
    case _: HashAggregateExec | _: ObjectHashAggregateExec | _: SortAggregateExec => true
    case _: AggregateRunsExec | _: AnyTypeHashAggregateExec => true
    case _: WindowExec | _: WindowGroupLimitExec => true
    case _: ShuffledJoin | _: BroadcastHashJoinExec | _: PassesRows => true
    case _ => false
  }
}

/** The last operator of tasks that check what they read: it also checks the rows that no operator above has read. */
case class FinishChecksExec(child: SparkPlan) extends PassesRows {

  override protected def doExecute(): RDD[InternalRow] = child.execute().mapPartitionsInternal(OpenReads.finishAfter(_))

  // An Exchange with checks can be reused for one of the same rows without checks.
  override protected def doCanonicalize(): SparkPlan = child.canonicalized

  override protected def withNewChildInternal(newChild: SparkPlan): FinishChecksExec = copy(child = newChild)
}
