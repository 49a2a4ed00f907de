package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical._

/**
 * `B(plan, keys, n)` of the design: every row lies in the task numbered `pmod(hash(expressions), numPartitions)`, as
 * under Spark's HashPartitioning, but join keys may be a superset of the bucket keys.
 */
case class ColocatedPartitioning(expressions: Seq[Expression], numPartitions: Int) extends HashPartitioningLike {

  // A stateful operator pins its partitioning for the life of the query; a table's layout may change meanwhile.
  override def satisfies0(required: Distribution): Boolean = required match {
    case _: StatefulOpClusteredDistribution => false
    case _ => super.satisfies0(required)
  }

  override def createShuffleSpec(distribution: ClusteredDistribution): ShuffleSpec =
    new ColocatedShuffleSpec(HashPartitioning(expressions, numPartitions), distribution)

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): ColocatedPartitioning =
    copy(expressions = children)
}

/**
 * A HashShuffleSpec, so that both sides of a comparison know it (traps S3.1). Stock Spark shuffles both sides when the
 * join keys are a superset of the hash keys, for fear of skew; a declared layout is no accident.
 */
class ColocatedShuffleSpec(partitioning: HashPartitioning, distribution: ClusteredDistribution)
    extends HashShuffleSpec(partitioning, distribution) {

  override def canCreatePartitioning: Boolean = hashKeyPositions.forall(_.nonEmpty)
}
