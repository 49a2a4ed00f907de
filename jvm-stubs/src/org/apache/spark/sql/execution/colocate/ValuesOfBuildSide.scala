package org.apache.spark.sql.execution.colocate

import scala.collection.mutable

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.{BaseSubqueryExec, SparkPlan, UnaryExecNode}

/**
 * Values of the keys of a broadcast join's build side, such as their buckets, from the relation that the join probes.
 * It ends as soon as all possible values were found, so a build side with many keys costs little.
 *
 * @param buildKeys all keys of the join's build side
 * @param value     computed for each key; BoundReference(i) in it is the build key i
 * @param values    how many different values there are
 * @param child     what broadcasts the build side
 */
case class ValuesOfBuildSide(name: String, buildKeys: Seq[Expression], value: Expression, values: Int, child: SparkPlan)
    extends BaseSubqueryExec with UnaryExecNode {

  // Never used: InSubqueryExec only counts the columns.
  override def output: Seq[Attribute] = Seq(AttributeReference("value", value.dataType)())

  private lazy val found: Array[InternalRow] = {
    val side = BroadcastKeys(child, buildKeys)
    val computed = value.transformUp { case BoundReference(at, _, _) => side.key(at) }
    val seen = mutable.HashSet.empty[Any]
    val rows = side.rows
    while (seen.size < values && rows.hasNext) {
      val one = computed.eval(rows.next())
      if (one != null) seen += one
    }
    seen.iterator.map(InternalRow(_)).toArray
  }

  override def executeCollect(): Array[InternalRow] = found

  override protected def doExecute(): RDD[InternalRow] =
    throw SparkException.internalError(s"$nodeName gives its rows to the driver alone")

  override def doCanonicalize(): SparkPlan =
    copy("", buildKeys.map(QueryPlan.normalizeExpressions(_, child.output)), child = child.canonicalized)

  override protected def withNewChildInternal(newChild: SparkPlan): ValuesOfBuildSide = copy(child = newChild)
}
