package org.apache.spark.sql.colocate.testing

import scala.collection.concurrent.TrieMap

import PlanWrongScans.{isAsking, seen}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Expand, LogicalPlan}
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.layout.BucketLayout
import org.apache.spark.sql.colocate.rules.aggregate.ExpandWithinBuckets
import org.apache.spark.sql.colocate.rules.scan.PlanColocatedScans
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, MemberScans, ReadMode}
import org.apache.spark.sql.execution.{ExpandExec, SparkPlan}

/** Our scans, as a wrong planner makes them. */
case class PlanWrongScans(session: SparkSession) extends Strategy {

  private val right = PlanColocatedScans(session)
  // Our strategy asks all others, this one too, for the ordinary scan.
  override def apply(plan: LogicalPlan): Seq[SparkPlan] =
    if (PlantedBugs.planted.isEmpty || isAsking.get) Nil
    else {
      isAsking.set(true)
      try right(plan).map(_.transformUp { case scan: ColocatedScanExec => wrong(scan) })
      finally isAsking.set(false)
    }

  private def wrong(scan: ColocatedScanExec): ColocatedScanExec = PlantedBugs.planted match {
    case Some("subset_key") => scan.copy(keys = scan.keys.take(1))
    case Some("key_order") => scan.copy(keys = scan.keys.sortBy(_.name))
    case Some("wrong_divisor") => scan.copy(mode = ReadMode.ByBucket(WrongFiles.WrongDivisor))
    case Some("other_snapshot") =>
      withLayout(scan, seen.getOrElseUpdate(scan.evidence.table, scan.evidence.layout))
    case Some("partition_filter_lost") =>
      scan.copy(scan = scan.scan.copy(partitionFilters = Nil), partitionFilters = Nil)
    case Some("most_buckets_promised") =>
      val layout = scan.evidence.layout
      withLayout(scan, layout.copy(buckets = layout.most, partitions = None))
    case _ => scan
  }

  private def withLayout(scan: ColocatedScanExec, layout: BucketLayout): ColocatedScanExec =
    scan.copy(evidence = scan.evidence.copy(layout = layout), mode = ReadMode.ByBucket(layout.buckets))
}

object PlanWrongScans {
  private val seen = TrieMap.empty[String, BucketLayout]

  // Spark makes its strategies anew for each plan.
  private val isAsking = ThreadLocal.withInitial[Boolean](() => false)
}

/** A column is taken for the key that only some of the projections fill with it. */
class WrongExpand(projections: Seq[Seq[Expression]], output: Seq[Attribute], child: SparkPlan)
    extends ExpandWithinBuckets(projections, output, child) {

  override protected def fills(each: Seq[Boolean]): Boolean = each.exists(identity)

  override protected def withNewChildInternal(newChild: SparkPlan): ExpandExec =
    new WrongExpand(projections, output, newChild)
}

case class PlanWrongExpands(session: SparkSession) extends Strategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case expand @ Expand(projections, output, child)
        if PlantedBugs.is("expand_key_nulled") && MemberScans.concernsPlan(session, expand) =>
      new WrongExpand(projections, output, planLater(child)) :: Nil
    case _ => Nil
  }
}
