package org.apache.spark.sql.colocate.scan

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.colocate.write.BucketedWrite
import org.apache.spark.sql.execution.colocate.BroadcastKeys
import org.apache.spark.sql.execution.{BaseSubqueryExec, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.util.collection.BitSet

/**
 * The buckets in which a broadcast join's build side has keys, from the same relation that the join probes. It ends
 * as soon as all buckets were seen, so a build side with many keys costs nothing.
 *
 * @param buildKeys all keys of the join's build side
 * @param positions for each bucket key, in its order, which of `buildKeys` it is
 * @param child     what broadcasts the build side
 */
case class BucketsOfBuildSide(
    name: String,
    buildKeys: Seq[Expression],
    positions: Seq[Int],
    buckets: Int,
    child: SparkPlan)
    extends BaseSubqueryExec with UnaryExecNode {

  // Never used: InSubqueryExec only counts the columns.
  override def output: Seq[Attribute] = Seq(AttributeReference("bucket", IntegerType, nullable = false)())

  private lazy val found: Array[InternalRow] = {
    val side = BroadcastKeys(child, buildKeys)
    val bucket = BucketedWrite.bucketId(positions.map(side.key), buckets)
    val seen = new BitSet(buckets)
    var left = buckets
    val rows = side.rows
    while (left > 0 && rows.hasNext) {
      val one = bucket.eval(rows.next()).asInstanceOf[Int]
      if (!seen.get(one)) {
        seen.set(one)
        left -= 1
      }
    }
    seen.iterator.map(InternalRow(_)).toArray
  }

  override def executeCollect(): Array[InternalRow] = found

  override protected def doExecute(): RDD[InternalRow] =
    throw SparkException.internalError(s"$nodeName gives its rows to the driver alone")

  override def doCanonicalize(): SparkPlan =
    BucketsOfBuildSide(
      "",
      buildKeys.map(QueryPlan.normalizeExpressions(_, child.output)),
      positions,
      buckets,
      child.canonicalized)

  override protected def withNewChildInternal(newChild: SparkPlan): BucketsOfBuildSide = copy(child = newChild)
}
