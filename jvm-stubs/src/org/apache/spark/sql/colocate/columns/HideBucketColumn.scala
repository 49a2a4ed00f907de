package org.apache.spark.sql.colocate.columns

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.catalog.UnresolvedCatalogRelation
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.compat.Relations
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.declared.{GroupProperties, KeyProperties}
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Matches: a table name that a query reads, if it is a Delta table with buckets or range partitions; also with time
 * travel.
 * Produces: the table with the user's columns only; of `t PARTITION (p)` only the rows of this range partition. This
 * runs among the hint rules, that is before stars are expanded.
 * The table stays in the analyzer's relation cache, from which Spark takes it again, so no table is loaded twice.
 * Not when: the table is written to, streamed from or only named (CACHE, CLONE, RESTORE), or read by Delta's DeltaTable
 * API, which needs Delta's own relation.
 */
case class HideBucketColumn(session: SparkSession) extends Rule[LogicalPlan] {

  private lazy val relations = Relations.of(session)

  /** Commands that need the unchanged relation: the cache finds tables by it, Delta's commands match on it. */
  private val namesOnly = Set("CacheTable", "UncacheTable", "CloneTableStatement", "RestoreTableStatement")

  override def apply(plan: LogicalPlan): LogicalPlan = {
    AlterErrors(session).check(plan)
    if (namesOnly.contains(plan.getClass.getSimpleName)) plan else hidden(plan)
  }

  private def hidden(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUp {
      case HidingProbe => HidingProbe.found
      case relation: UnresolvedRelation if isRead(relation) => visible(relation, relation, None)
      case travel @ RelationTimeTravel(relation: UnresolvedRelation, _, _) =>
        val known = evaluated(travel)
        if (known.timestamp.forall(_.resolved)) visible(known, relation, version(known)) else travel
      case alias @ NamedPartitionsRead(named) => limited(alias, named)
      // Before Spark 4.2, an alias shows metadata columns of relations, and of aliases of these, alone.
      case SubqueryAlias(name, VisibleColumns(found)) => VisibleColumns(SubqueryAlias(name, found))
    }

  /** The relation below was looked up before: this goes from the leaves up. */
  private def limited(alias: LogicalPlan, named: NamedPartitionsRead): LogicalPlan = named.child match {
    case VisibleColumns(found) => named.limited(session, found)
    case later: PlanWithUnresolvedIdentifier => later.copy(planBuilder = (name, children) =>
      alias.transformDown { case `later` => later.planBuilder(name, children) })
    case other =>
      val relation = other.collectFirst { case one: UnresolvedRelation => one }
      if (relation.exists(one => refuses(one, named))) throw named.refused(relation.get.name)
      else if (relation.isEmpty && !named.isSpark) throw named.refused("this relation")
      else alias
  }

  private def refuses(relation: UnresolvedRelation, named: NamedPartitionsRead): Boolean =
    relations.resolveRelation(relation.copy(isStreaming = false), None).exists {
      case SubqueryAlias(_, table: DataSourceV2Relation) =>
        !named.isSpark || isOurs(table.table.properties.asScala) || DeltaTables.hidesColumns(session, table.table)
      case SubqueryAlias(_, UnresolvedCatalogRelation(table, _, _)) => !named.isSpark || isOurs(table.properties)
      case _ => !named.isSpark
    }

  private def isOurs(properties: scala.collection.Map[String, String]): Boolean =
    Seq(GroupProperties.Group, KeyProperties.Model).exists(properties.contains)

  private def version(travel: RelationTimeTravel): Option[TimeTravelSpec] =
    TimeTravelSpec.create(travel.timestamp, travel.version, conf.sessionLocalTimeZone)

  /**
   * An expression is resolved here, since the relation has to be looked up before stars are. Spark runs a subquery in
   * it while it resolves relations; here it is run earlier, and its value stays in the node, so that it runs once.
   */
  private def evaluated(travel: RelationTimeTravel): RelationTimeTravel = {
    val timestamp = travel.timestamp.map(one => if (one.resolved) one else resolved(one).getOrElse(one))
    new EvalSubqueriesForTimeTravel().apply(travel.copy(timestamp = timestamp)).asInstanceOf[RelationTimeTravel]
  }

  /** Subqueries first: only then their names are looked up in the scope of the view around them, if there is one. */
  private def resolved(expression: Expression): Option[Expression] = {
    val analyzer = session.sessionState.analyzer
    val query = Project(Seq(Alias(expression, "timestamp")()), OneRowRelation())
    analyzer.execute(analyzer.ResolveSubquery(query)) match {
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
          if DeltaTables.hidesColumns(session, table.table) && !isForDeltaTable =>
        announce(table.table.properties.asScala)
        VisibleColumns(found)
      case Some(SubqueryAlias(_, UnresolvedCatalogRelation(table, _, _))) =>
        announce(table.properties)
        node
      case _ => node
    }

  private def announce(properties: scala.collection.Map[String, String]): Unit =
    if (properties.contains(GroupProperties.Group) && Settings.joinEnabled(conf)) ControlPlane.prepare(session)

  /** `DeltaTable.forName` calls `spark.table(name)` and needs Delta's own relation, because it merges into it. */
  private def isForDeltaTable: Boolean =
    StackWalker.getInstance().walk(_.anyMatch(_.getClassName.startsWith("io.delta.tables.DeltaTable")))
}
