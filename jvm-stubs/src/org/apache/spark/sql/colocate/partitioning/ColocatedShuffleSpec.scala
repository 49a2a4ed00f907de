package org.apache.spark.sql.colocate.partitioning

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Coalesce, Expression, If, IsNull, Literal}
import org.apache.spark.sql.catalyst.plans.physical._

/**
 * A HashShuffleSpec, so that both sides of a comparison know it. Stock Spark shuffles both sides when the
 * join keys are a superset of the hash keys, for fear of skew; here the layout was declared.
 */
class ColocatedShuffleSpec(partitioning: HashPartitioning, distribution: ClusteredDistribution)
    extends HashShuffleSpec(partitioning, distribution) {

  private val clustering = distribution.clustering

  private lazy val plain: Seq[mutable.BitSet] = HashShuffleSpec(partitioning, distribution).hashKeyPositions

  private lazy val pairs: Seq[Option[(Int, Int)]] = partitioning.expressions.map(NullSafeKey.in(clustering, _))

  /** Null-safe pairs count as positions of their own, behind the plain ones, so that only equal pairs match. */
  override lazy val hashKeyPositions: Seq[mutable.BitSet] = plain.zip(pairs).map { case (positions, pair) =>
    positions ++ pair.map { case (value, isNull) => (value + 1) * clustering.size + isNull }
  }

  override def canCreatePartitioning: Boolean = hashKeyPositions.forall(_.nonEmpty)

  override def createPartitioning(otherClustering: Seq[Expression]): Partitioning = {
    val keys = plain.zip(pairs).map {
      case (positions, _) if positions.nonEmpty => otherClustering(positions.head)
      case (_, Some((value, isNull))) => NullSafeKey.rebuilt(otherClustering(value), otherClustering(isNull))
      case _ => throw new IllegalStateException("a key without a position creates no partitioning")
    }
    if (plain.forall(_.nonEmpty)) HashPartitioning(keys, numPartitions)
    else new NullSafeHashPartitioning(keys, numPartitions)
  }
}

/**
 * Spark plans `l <=> r` as the two equalities `coalesce(l, d) = coalesce(r, d)` and `isnull(l) = isnull(r)` with the
 * type's default `d`. Rows that agree in both agree in the column itself, null included, and null hashes alike.
 */
object NullSafeKey {

  /** Is the key's value a function of the clustering's values? Then equal clusterings lie in one bucket. */
  def isFixedBy(key: Expression, clustering: Seq[Expression]): Boolean =
    clustering.exists(_.semanticEquals(key)) || in(clustering, key).isDefined

  /** Positions of the pair (coalesce, isnull) that stands for `key`, if the clustering has both. */
  def in(clustering: Seq[Expression], key: Expression): Option[(Int, Int)] = {
    val (value, isNull) = key match {
      case If(predicate, Literal(null, _), value) =>
        (clustering.indexWhere(_.semanticEquals(value)), clustering.indexWhere(_.semanticEquals(predicate)))
      case column => (clustering.indexWhere(isDefaulted(_, column)), clustering.indexWhere(isNullOf(_, column)))
    }
    Option.when(value >= 0 && isNull >= 0)((value, isNull))
  }

  /** The other side's key: what it must be, wherever both equalities hold. */
  def rebuilt(value: Expression, isNull: Expression): Expression = If(isNull, Literal(null, value.dataType), value)

  private def isDefaulted(e: Expression, column: Expression): Boolean = e match {
    case Coalesce(Seq(c, default: Literal)) => c.semanticEquals(column) && default == Literal.default(column.dataType)
    case _ => false
  }

  private def isNullOf(e: Expression, column: Expression): Boolean = e match {
    case IsNull(c) => c.semanticEquals(column)
    case _ => false
  }
}
