package org.apache.spark.sql.colocate.explain

import org.apache.spark.sql.catalyst.plans.{FullOuter, LeftOuter, RightOuter}
import org.apache.spark.sql.colocate.rules.PlanWalk
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.colocate.aggregate.AggregateRunsExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.window.{WindowExecBase, WindowGroupLimitExec}

/** Finds the operator between an Exchange and a member's scan that does not keep the rows in their buckets. */
private[explain] object LostLayout {

  def reason(member: Member, child: SparkPlan): Option[Reason] =
    PlanWalk.feedingExchange(child).map(exchange => path(exchange.child, member))
      .filterNot(_.exists(_.isInstanceOf[Exchange]))
      .flatMap(nodes => nullExtended(nodes, member).orElse(notKept(nodes, member)))

  /** The operators from `plan` down to the member's scan; empty if that is not below. */
  private def path(plan: SparkPlan, member: Member): Seq[SparkPlan] = {
    val node = PlanWalk.unwrap(plan)
    if (node.children.isEmpty) Seq(node).filter(_.output == member.output)
    else node.children.iterator.map(path(_, member)).find(_.nonEmpty).fold(Seq.empty[SparkPlan])(node +: _)
  }

  private def nullExtended(path: Seq[SparkPlan], member: Member): Option[Reason] =
    path.zip(path.drop(1)).collectFirst { case (join: BaseJoinExec, below) if isExtended(join, below) =>
      Reason(
        "KEY_NULL_EXTENDED",
        "join" -> join.joinType.toString,
        "table" -> member.table,
        "keys" -> member.layout.fold("")(_.keys.mkString(", ")))
    }

  private def isExtended(join: BaseJoinExec, side: SparkPlan): Boolean = join.joinType match {
    case FullOuter => true
    case LeftOuter => PlanWalk.unwrap(join.right) eq side
    case RightOuter => PlanWalk.unwrap(join.left) eq side
    case _ => false
  }

  private def notKept(path: Seq[SparkPlan], member: Member): Option[Reason] =
    path.find(node => node.children.nonEmpty && !keeps(node)).map { node =>
      Reason("LAYOUT_LOST", "operator" -> node.nodeName, "table" -> member.table)
    }

  private def keeps(node: SparkPlan): Boolean = node match {
    case _: ProjectExec | _: FilterExec | _: SortExec | _: ColumnarToRowExec | _: GenerateExec => true
    case _: BaseAggregateExec | _: AggregateRunsExec | _: WindowExecBase | _: WindowGroupLimitExec => true
    case _: BaseJoinExec => true
    case _ => false
  }
}
