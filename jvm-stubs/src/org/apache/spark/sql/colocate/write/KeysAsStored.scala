package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns
import org.apache.spark.sql.colocate.evidence.delta.DeltaTables
import org.apache.spark.sql.colocate.write.target.BucketedTarget
import org.apache.spark.sql.types._

/**
 * A query with the bucket keys and range columns that Delta will store of it. Where Delta writes a missing column as
 * its DEFAULT or null, and a narrower integer or a bare NULL as the table's type, it does so after it has computed the
 * bucket and the range: from a column that is not there, or is of another type.
 */
object KeysAsStored extends SQLConfHelper {

  def apply(query: LogicalPlan, target: BucketedTarget): LogicalPlan = {
    val keys = target.layout.toSeq.flatMap(l => l.keys.zip(l.keyTypes)) ++
      target.ranges.toSeq.flatMap(_.expression.references.map(c => c.name -> c.dataType))
    val present = query.output.map(column => asStored(column, keys))
    val missing = keys.map(_._1).filterNot(key => query.output.exists(isNamed(_, key))).flatMap(left(_, target))
    if (present == query.output && missing.isEmpty) query else Project(present ++ missing, query)
  }

  private def asStored(column: Attribute, keys: Seq[(String, DataType)]): NamedExpression =
    keys.collectFirst { case (key, keyType) if isNamed(column, key) && isWidened(column.dataType, keyType) =>
      Alias(Cast(column, keyType), column.name)()
    }.getOrElse(column)

  /**
   * What a row gets that leaves the key out: its DEFAULT, which only the snapshot has, or else null. Spark has no value
   * for a key that is NOT NULL; with a null Delta refuses the row in words that name the constraint.
   */
  private def left(key: String, target: BucketedTarget): Option[NamedExpression] =
    DeltaTables.fieldOf(target.relation.table, key).map { field =>
      ResolveDefaultColumns.getDefaultValueExprOrNullLit(field, true)
        .getOrElse(Alias(Literal(null, field.dataType), key)())
    }

  private def isNamed(column: Attribute, key: String): Boolean = conf.resolver(key, column.name)

  /** The types that Delta takes for another one without schema evolution. */
  private def isWidened(found: DataType, wanted: DataType): Boolean = (found, wanted) match {
    case (NullType, _) | (ByteType, ShortType | IntegerType) | (ShortType, IntegerType) => true
    case _ => false
  }
}
