package org.apache.spark.sql.colocate.columns

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.catalog.UnresolvedCatalogRelation
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.catalog.GroupProperties
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * A read of a bucketed Delta table shows the user's columns only (design D3).
 *
 * It runs among the hint rules, that is before stars are expanded. The look-up stays in the analysis' relation cache,
 * where the Resolution batch takes it from, so that no table is loaded twice. What is written to (it asks for write
 * privileges) and what names a table rather than reads it stays as it is.
 */
case class HideBucketColumn(session: SparkSession) extends Rule[LogicalPlan] {

  private lazy val relations =
    new RelationResolution(session.sessionState.catalogManager, session.sharedState.relationCache)

  /** Commands that want the bare relation below them: the cache looks tables up by it, Delta's commands match on it. */
  private val namesOnly = Set("CacheTable", "UncacheTable", "CloneTableStatement", "RestoreTableStatement")

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (namesOnly.contains(plan.getClass.getSimpleName)) plan
    else plan.resolveOperatorsUp {
      case HidingProbe => HidingProbe.found
      case relation: UnresolvedRelation if isRead(relation) => visible(relation, relation, None)
      case travel @ RelationTimeTravel(relation: UnresolvedRelation, _, _) =>
        val known = evaluated(travel)
        if (known.timestamp.forall(_.resolved)) visible(known, relation, version(known)) else travel
    }

  private def version(travel: RelationTimeTravel): Option[TimeTravelSpec] =
    TimeTravelSpec.create(travel.timestamp, travel.version, conf.sessionLocalTimeZone)

  /**
   * An expression is resolved here, since the relation has to be looked up before stars are. Spark runs a subquery in it
   * while it resolves relations; here it is run earlier, and its value stays in the node, so that it runs once.
   */
  private def evaluated(travel: RelationTimeTravel): RelationTimeTravel = {
    val timestamp = travel.timestamp.map(one => if (one.resolved) one else resolved(one).getOrElse(one))
    new EvalSubqueriesForTimeTravel().apply(travel.copy(timestamp = timestamp)).asInstanceOf[RelationTimeTravel]
  }

  /** Subqueries first: only this way their names are those of the view around them, if there is one. */
  private def resolved(expression: Expression): Option[Expression] = {
    val analyzer = session.sessionState.analyzer
    val asked = Project(Seq(Alias(expression, "timestamp")()), OneRowRelation())
    analyzer.execute(analyzer.ResolveSubquery(asked)) match {
      case Project(Seq(Alias(found, _)), _) if found.resolved => Some(found)
      case _ => None
    }
  }

  private def isRead(relation: UnresolvedRelation): Boolean =
    !relation.isStreaming && !relation.options.containsKey(UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES)

  private def visible(
      node: LogicalPlan, relation: UnresolvedRelation, version: Option[TimeTravelSpec]): LogicalPlan =
    relations.resolveRelation(relation, version) match {
      case Some(found @ SubqueryAlias(_, table: DataSourceV2Relation))
          if DeltaTables.layoutOf(session, table.table).isDefined && !isForDeltaTable =>
        announce(table.table.properties.asScala)
        VisibleColumns(found)
      case Some(SubqueryAlias(_, UnresolvedCatalogRelation(table, _, _))) =>
        announce(table.properties)
        node
      case _ => node
    }

  private def announce(properties: scala.collection.Map[String, String]): Unit =
    if (properties.contains(GroupProperties.Group) && Settings.joinEnabled(conf)) ControlPlane.prepare(session)

  /** `DeltaTable.forName` asks for `spark.table(name)` and wants Delta's bare relation: it merges into what it gets. */
  private def isForDeltaTable: Boolean =
    StackWalker.getInstance().walk(_.anyMatch(_.getClassName.startsWith("io.delta.tables.DeltaTable")))
}
