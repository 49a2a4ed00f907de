package org.apache.spark.sql.colocate.columns

import scala.collection.concurrent.TrieMap

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal, Murmur3Hash, Pmod}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.BucketLayout
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/** The hidden partition column of a Delta member: `_colocate_bucket INT GENERATED ALWAYS AS (pmod(hash(keys), n))`. */
object BucketColumn {

  val Name = "_colocate_bucket"

  /** Where Delta keeps a column's generation expression in the field metadata of a snapshot's schema. */
  val GenerationKey = "delta.generationExpression"

  /** The generation expression as SQL text. */
  def sql(keys: Seq[String], buckets: Int): String =
    s"pmod(hash(${keys.map(QuotingUtils.quoteIdentifier).mkString(", ")}), $buckets)"

  /** Does the schema (of a Delta *snapshot*, unstripped) carry a bucket column whose expression proves a layout? */
  def layoutOf(session: SparkSession, schema: StructType): Option[BucketLayout] =
    for {
      column <- schema.fields.find(f => f.name == Name && f.dataType == IntegerType)
      text <- generation(column)
      layout <- parse(session, text, HiddenColumns.without(schema))
    } yield layout

  /** The SQL text that a generated column's values are computed by, from a *snapshot's* schema. */
  def generation(column: StructField): Option[String] =
    Option.when(column.metadata.contains(GenerationKey))(column.metadata.getString(GenerationKey))

  def isNamed(field: StructField): Boolean = field.name.equalsIgnoreCase(Name)

  private val parsed = TrieMap.empty[(String, String, StructType), Option[BucketLayout]]

  /**
   * The layout that the text of an expression defines, found from the *resolved* expression: spelling, quotes and case
   * do not matter, and a temporary function called `hash` is not taken for Spark's.
   */
  def parse(session: SparkSession, text: String, schema: StructType): Option[BucketLayout] = {
    val plain = StructType(schema.map(f => StructField(f.name, f.dataType)))
    if (parsed.size > 10000) parsed.clear()
    parsed.getOrElseUpdate((session.sessionUUID, text, plain), resolve(session, text, plain))
  }

  /** Are the functions of the text Spark's own in this session now? A user's may come before them. */
  def isSparksOwn(session: SparkSession): Boolean =
    resolve(session, sql(Seq("k"), 1), StructType(Seq(StructField("k", IntegerType)))).isDefined

  private def resolve(session: SparkSession, text: String, schema: StructType): Option[BucketLayout] =
    try {
      val state = session.sessionState
      val project = Project(Seq(Alias(state.sqlParser.parseExpression(text), Name)()), LocalRelation(schema))
      state.analyzer.execute(project) match {
        case Project(Seq(Alias(expression, _)), _) => layout(expression)
        case _ => None
      }
    } catch {
      // An expression that this session can't parse or resolve proves nothing.
      case _: org.apache.spark.sql.AnalysisException => None
    }

  private def layout(expression: Expression): Option[BucketLayout] = expression match {
    case Pmod(Murmur3Hash(children, 42), Literal(buckets: Int, IntegerType), _) if buckets > 0 && children.nonEmpty =>
      val keys = children.collect { case a: AttributeReference => a }
      Option.when(keys.size == children.size)(BucketLayout(keys.map(_.name), keys.map(_.dataType), buckets))
    case _ => None
  }
}
