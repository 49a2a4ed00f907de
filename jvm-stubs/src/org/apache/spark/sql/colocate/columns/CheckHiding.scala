package org.apache.spark.sql.colocate.columns

import org.apache.spark.sql.catalyst.analysis.UnresolvedStar
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.IntegerType

/**
 * A placeholder for a relation with a bucket column. Only HideBucketColumn resolves it, just as it resolves table
 * names.
 */
case object HidingProbe extends LeafNode {

  override def output: Seq[Attribute] = Nil

  override lazy val resolved: Boolean = false

  def found: LogicalPlan =
    VisibleColumns(LocalRelation(Seq("k", BucketColumn.Name).map(AttributeReference(_, IntegerType)())))
}

/**
 * Matches: the first plan of a session that reads or writes a bucketed Delta table.
 * Produces: the same plan, if a `SELECT *` that this session analyses leaves the bucket column out; else an error.
 * Not when: an earlier plan of the session has passed; the analyzer of a session does not change.
 */
case class CheckHiding(session: SparkSession) extends Rule[LogicalPlan] {

  @volatile private var acts = false

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!acts && plan.exists(usesBuckets)) {
      if (!isHiding) throw notHidden
      acts = true
    }
    plan
  }

  private def usesBuckets(plan: LogicalPlan): Boolean = plan match {
    case relation: DataSourceV2Relation => DeltaTables.hidesColumns(session, relation.table)
    case write: V2WriteCommand => usesBuckets(write.table)
    case _ => false
  }

  private def isHiding: Boolean = {
    val shown = session.sessionState.analyzer.execute(Project(Seq(UnresolvedStar(None)), HidingProbe))
    shown.resolved && shown.output.map(_.name) == Seq("k")
  }

  private def notHidden: Throwable = {
    val cause = HintHook.obstacle(session)
    new ColocateException("HIDING",
      "Cannot read or write bucketed Delta tables in this session: their column " +
        s"${BucketColumn.Name} would be shown, since the rule that hides it does not run in the session's analyzer" +
        s"${cause.fold("")(c => s" and can't be put there ($c)")}. Ask again in a session of the Spark version that " +
        "spark-colocate was built for, with io.colocate.spark.ColocateExtensions in spark.sql.extensions from its " +
        "start; or set spark.sql.catalogImplementation=in-memory, whose analyzer takes the rule by itself.",
      cause)
  }
}
