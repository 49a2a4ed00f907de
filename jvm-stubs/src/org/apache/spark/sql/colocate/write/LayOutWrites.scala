package org.apache.spark.sql.colocate.write

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.compat.SchemaEvolution
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.colocate.write.overwrite.{OverwriteMode, OverwriteUserPartitions}
import org.apache.spark.sql.colocate.write.target.{BucketedTarget, NamedPartitions}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Matches: a write into a Delta table with buckets or range partitions, after Delta's rules have matched its query to
 * the table.
 * Produces: the write without the hidden columns, which Delta then computes without a second check; its rows are
 * distributed by bucket, and a row of no range partition is refused; and an overwrite of partitions means the user's
 * partitions, ranges included, because the bucket column is a partition column, too. An overwrite of named range
 * partitions replaces these.
 * Not when: the target has neither. A dynamic overwrite stays as it is where the session's overwrite mode is
 * unknown.
 */
case class LayOutWrites(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case write: V2WriteCommand if write.query.resolved =>
      BucketedTarget.of(session, write).fold[LogicalPlan](write)(laidOut(write, _))
  }

  private def laidOut(write: V2WriteCommand, target: BucketedTarget): LogicalPlan = {
    val query = withoutGivenBucket(write.query)
    val options = optionsOf(write, target)
    if (SchemaEvolution.isAsked(write) || OverwriteMode.evolves(options, conf)) target.refuseWiderKeys(query)
    else if (!OverwriteMode.flag(options, "overwriteSchema")) target.refuseUnknown(query)
    val bucketed = target.byBucket(query)
    val relation = target.relation.copy(options = CaseInsensitiveStringMap.empty())
    write match {
      case append: AppendData => append.copy(relation, bucketed, options, isByName = true)
      case overwrite if NamedPartitions.of(target.relation).nonEmpty =>
        val replaced = NamedPartitions.rowsOf(target.relation)
        SchemaEvolution.overwrite(
          relation, bucketed, replaced, OverwriteMode.static(options), SchemaEvolution.isAsked(overwrite))
      case overwrite: OverwriteByExpression if !isDynamic(overwrite, options) =>
        overwrite.copy(relation, query = bucketed, writeOptions = options, isByName = true)
      case dynamic if !OverwriteMode.isKnown(conf) => dynamic
      case _ if target.userPartitions.isEmpty =>
        SchemaEvolution.overwrite(
          relation, bucketed, Literal.TrueLiteral, OverwriteMode.static(options), SchemaEvolution.isAsked(write))
      case _ => OverwriteUserPartitions(target, target.prepared(query), options, SchemaEvolution.isAsked(write))
    }
  }

  private def isDynamic(overwrite: OverwriteByExpression, options: Map[String, String]): Boolean =
    overwrite.deleteExpr == Literal.TrueLiteral && OverwriteMode.isDynamic(options, conf)

  /** The options of the statement and of the relation, without Delta's own shuffle before the write. */
  private def optionsOf(write: V2WriteCommand, target: BucketedTarget): Map[String, String] = {
    val own = write.productElementNames.zip(write.productIterator).collectFirst {
      case ("writeOptions", options: Map[_, _]) => options.asInstanceOf[Map[String, String]]
    }
    val all = target.relation.options.asCaseSensitiveMap().asScala.toMap ++ own.getOrElse(Map.empty)
    OverwriteMode.unshuffled(NamedPartitions.without(all))
  }

  private def withoutGivenBucket(query: LogicalPlan): LogicalPlan =
    if (!query.exists(_.expressions.exists(_.exists(_.isInstanceOf[GivenBucket])))) query
    else {
      val nulled = query.resolveExpressions { case given: GivenBucket => Literal(null, given.dataType) }
      Project(nulled.output.filterNot(c => HiddenColumns.contains(c.name)), nulled)
    }
}
