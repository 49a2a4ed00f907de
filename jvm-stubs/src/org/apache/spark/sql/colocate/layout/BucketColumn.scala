package org.apache.spark.sql.colocate.layout

import scala.collection.concurrent.TrieMap

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal, Murmur3Hash, Pmod}
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/**
 * The hidden partition column of a Delta member: `_colocate_bucket INT GENERATED ALWAYS AS (pmod(hash(keys), n))`. If
 * range partitions have different numbers of buckets, n is `coalesce(CASE WHEN ... THEN 8 ELSE 6 END, 4)`.
 */
object BucketColumn {

  val Name = "_colocate_bucket"

  /** Where Delta keeps a column's generation expression in the field metadata of a snapshot's schema. */
  val GenerationKey = "delta.generationExpression"

  /**
   * The generation expression as SQL text.
   *
   * @param number gives the number of buckets of a row's range partition
   */
  def sql(keys: Seq[String], number: String): String =
    s"pmod(hash(${keys.map(QuotingUtils.quoteIdentifier).mkString(", ")}), $number)"

  /** The bucket of a row, the same expression as the column's. */
  def idOf(keys: Seq[Expression], buckets: Int): Expression = idOf(keys, Literal(buckets))

  /** @param number of buckets, of the row's range partition if these differ */
  def idOf(keys: Seq[Expression], number: Expression): Expression = new Pmod(new Murmur3Hash(keys), number)

  /** Does the schema (of a Delta *snapshot*, unstripped) carry a bucket column whose expression proves a layout? */
  def layoutOf(session: SparkSession, schema: StructType): Option[BucketLayout] =
    for {
      column <- schema.fields.find(f => f.name == Name && f.dataType == IntegerType)
      text <- generation(column)
      layout <- parse(session, text, RangeColumn.expressionOf(schema), HiddenColumns.without(schema))
    } yield layout

  /** The SQL text that a generated column's values are computed by, from a *snapshot's* schema. */
  def generation(column: StructField): Option[String] =
    Option.when(column.metadata.contains(GenerationKey))(column.metadata.getString(GenerationKey))

  private val parsed = TrieMap.empty[(String, String, Option[String], StructType), Option[BucketLayout]]

  /**
   * The layout that the text of an expression defines, found from the *resolved* expression: spelling, quotes and case
   * do not matter, and a temporary function called `hash` is not taken for Spark's.
   *
   * @param range the text that gives a row's range partition, if the table has some
   */
  def parse(session: SparkSession, text: String, range: Option[String], schema: StructType): Option[BucketLayout] = {
    val plain = StructType(schema.map(f => StructField(f.name, f.dataType)))
    if (parsed.size > 10000) parsed.clear()
    parsed.getOrElseUpdate((session.sessionUUID, text, range, plain), resolve(session, text, range, plain))
  }

  /** Are the functions of the text Spark's own in this session now? A user's may come before them. */
  def isSparksOwn(session: SparkSession): Boolean =
    Seq("1", "coalesce(1, 1)").forall { number =>
      resolve(session, sql(Seq("k"), number), Some("'p'"), StructType(Seq(StructField("k", IntegerType)))).isDefined
    }

  private def resolve(
      session: SparkSession, text: String, range: Option[String], schema: StructType): Option[BucketLayout] =
    GeneratedTexts.resolve(session, Seq(text), schema).flatMap(found => ofOneNumber(found.head)).orElse {
      // An expression that this session can't parse or resolve proves nothing.
      GeneratedTexts.resolve(session, text +: range.toSeq, schema).collect { case Seq(bucket, partition) =>
        ofNumbers(bucket, partition)
      }.flatten
    }

  private def ofOneNumber(bucket: Expression): Option[BucketLayout] = bucket match {
    case Pmod(Murmur3Hash(children, 42), Literal(buckets: Int, IntegerType), _) if buckets > 0 =>
      layout(children, buckets)
    case _ => None
  }

  private def ofNumbers(bucket: Expression, partition: Expression): Option[BucketLayout] = bucket match {
    case Pmod(Murmur3Hash(children, 42), number, _) =>
      for {
        numbers <- NumbersOfBuckets.of(number, partition)
        found <- layout(children, PartitionBuckets.commonDivisor(numbers.all))
      } yield found.copy(partitions = Some(numbers))
    case _ => None
  }

  private def layout(hashed: Seq[Expression], buckets: Int): Option[BucketLayout] = {
    val keys = hashed.collect { case a: AttributeReference => a }
    Option.when(keys.nonEmpty && keys.size == hashed.size)(
      BucketLayout(keys.map(_.name), keys.map(_.dataType), buckets))
  }
}
