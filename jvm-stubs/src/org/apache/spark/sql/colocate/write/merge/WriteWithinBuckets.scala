package org.apache.spark.sql.colocate.write.merge

import org.apache.spark.sql.catalyst.expressions.{Attribute, Explode, Expression}
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, SinglePartition}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.evidence.delta.DeltaIndexes
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, Inlined}
import org.apache.spark.sql.colocate.write.target.BucketedWriteExec
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.exchange.{REPARTITION_BY_COL, REPARTITION_BY_NUM, ShuffleExchangeExec}

/**
 * Matches: the repartition by the table's partition columns before the write of a MERGE, UPDATE or DELETE
 * (`merge.repartitionBeforeWrite.enabled`, which stays as the session has it). Delta's writer puts each row into the
 * partition that its own column names, so only the number of files depends on this rule, never a row.
 * Produces: the write without the repartition, because the rows of one bucket are in one task already: every value that
 * the written bucket column can have is the bucket column of a colocated scan below, or `pmod(hash(keys), n)` of keys
 * by which the rows of the task are partitioned ([[TaskBucket]]).
 * Not when: an update moves rows to other buckets (`SET key = ...`), or the user's own query repartitions by bucket.
 * The shuffle to a single task of a delete-only MERGE into deletion vectors goes only if the bucket is always null,
 * that is if no row is written.
 */
object WriteWithinBuckets extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan match {
    case _ if plan.exists(p => p.isInstanceOf[BucketPerTaskExec] || p.isInstanceOf[BucketedWriteExec]) => plan
    case _ =>
      plan.output.find(_.name == BucketColumn.Name).filter(_ => isOfCommand(plan)).fold(plan) { bucket =>
        proven(bucket, plan).filter(pays(_, plan)).fold(plan)(wrapped(bucket, _, plan))
      }
  }

  /** A user's own repartition by the bucket column stays: the user may want its number of tasks. */
  private def isOfCommand(plan: SparkPlan): Boolean = plan.exists {
    case scan: ColocatedScanExec => DeltaIndexes.isDeltaIndex(scan.relation.location)
    case _ => false
  } && DeltaIndexes.inTransaction

  /** @param noRows the bucket column is null in every row, so no row can be written */
  private case class Proven(plan: SparkPlan, onePerTask: Boolean, noRows: Boolean)

  /** Without an Exchange to drop, whole buckets only save the writer's sort and small files. */
  private def pays(proven: Proven, plan: SparkPlan): Boolean =
    !(proven.plan eq plan) || TaskCount.isKept(plan)

  private def wrapped(bucket: Attribute, proven: Proven, plan: SparkPlan): SparkPlan = {
    val top = BucketPerTaskExec(bucket, proven.onePerTask, proven.plan)
    top.copyTagsFrom(plan)
    top
  }

  /** The plan without a repartition by bucket, if each bucket's rows then lie in one task. */
  private def proven(bucket: Expression, plan: SparkPlan): Option[Proven] = plan match {
    case ProjectExec(list, child) => below(plan, child, Inlined(bucket, list))
    case GenerateExec(Explode(array), _, false, Seq(element), child) =>
      below(plan, child, bucket.transform { case a: Attribute if a.exprId == element.exprId => AnyElement(array) })
    case _: FilterExec | _: SortExec => below(plan, plan.children.head, bucket)
    case ShuffleExchangeExec(HashPartitioning(by, _), child, REPARTITION_BY_COL | REPARTITION_BY_NUM, _)
        if by.exists(_.semanticEquals(bucket)) =>
      proven(bucket, child)
    case ShuffleExchangeExec(SinglePartition, child, REPARTITION_BY_COL | REPARTITION_BY_NUM, _) =>
      proven(bucket, child).filter(_.noRows)
    case _ =>
      TaskBucket.of(plan).filter(_.readsMember).flatMap { known =>
        val buckets = PossibleValues.of(bucket).map(known.bucketsOf)
        val onePerTask = buckets.flatten.forall(_ == known.tasks)
        Option.when(buckets.forall(_.isDefined))(Proven(plan, onePerTask, noRows = buckets.isEmpty))
      }
  }

  private def below(plan: SparkPlan, child: SparkPlan, bucket: Expression): Option[Proven] =
    proven(bucket, child).map(p => p.copy(plan = if (p.plan eq child) plan else plan.withNewChildren(Seq(p.plan))))
}
