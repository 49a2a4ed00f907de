package org.apache.spark.sql.colocate.partitioning

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

/**
 * Each row is in the task numbered `pmod(hash(expressions), numPartitions)`, as with Spark's HashPartitioning. It
 * serves two more kinds of joins without a shuffle: those whose keys are a superset of the bucket keys, and those by `k
 * <=> x`, which Spark turns into a pair of equalities (see [[NullSafeKey]]).
 */
case class ColocatedPartitioning(expressions: Seq[Expression], numPartitions: Int) extends HashPartitioningLike {

  override def satisfies0(required: Distribution): Boolean = required match {
    // A streaming query's state keeps its partitioning over restarts, but the table's buckets may have changed by then.
    case _: StatefulOpClusteredDistribution => false
    // A cached plan keeps this partitioning, and may be used by a session where colocation is off.
    case _: ClusteredDistribution if !Settings.joinEnabled(SQLConf.get) => false
    case ClusteredDistribution(clustering, false, _) => expressions.forall(NullSafeKey.isFixedBy(_, clustering))
    case _ => super.satisfies0(required)
  }

  override def createShuffleSpec(distribution: ClusteredDistribution): ShuffleSpec =
    new ColocatedShuffleSpec(HashPartitioning(expressions, numPartitions), distribution)

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): ColocatedPartitioning =
    copy(expressions = children)

  // UNION ALL compares the partitionings of its children. A key that only differs in nullability counts as equal.
  override def equals(other: Any): Boolean = other match {
    case that: ColocatedPartitioning => numPartitions == that.numPartitions && ids == that.ids
    case _ => false
  }

  override def hashCode(): Int = (ids, numPartitions).hashCode()

  private def ids: Seq[Expression] = expressions.map(_.canonicalized)
}

object ColocatedPartitioning {

  /** The bucket partitioning of a plan's output. */
  def of(plan: SparkPlan): Option[ColocatedPartitioning] = all(plan.outputPartitioning).headOption

  def all(partitioning: Partitioning): Seq[ColocatedPartitioning] = partitioning match {
    case colocated: ColocatedPartitioning => Seq(colocated)
    case PartitioningCollection(several) => several.flatMap(all)
    case _ => Nil
  }

  /** Are these the same keys in the same order? The hash of a row depends on the order. */
  def sameKeys(some: Seq[Expression], others: Seq[Expression]): Boolean =
    some.size == others.size && some.zip(others).forall { case (a, b) => a.semanticEquals(b) }
}

/** The partitioning of an Exchange that shuffles rows to the buckets of a member in a join by `<=>`. */
class NullSafeHashPartitioning(expressions: Seq[Expression], numPartitions: Int)
    extends HashPartitioning(expressions, numPartitions) {

  override def satisfies0(required: Distribution): Boolean = required match {
    case ClusteredDistribution(clustering, false, _) => expressions.forall(NullSafeKey.isFixedBy(_, clustering))
    case _ => super.satisfies0(required)
  }

  override def createShuffleSpec(distribution: ClusteredDistribution): ShuffleSpec =
    new ColocatedShuffleSpec(this, distribution)

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): HashPartitioning =
    new NullSafeHashPartitioning(children, numPartitions)
}
