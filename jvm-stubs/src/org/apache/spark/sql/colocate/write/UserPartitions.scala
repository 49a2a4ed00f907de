package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.types.DataType

/** The partitions, by the user's partition columns, that rows belong to. */
object UserPartitions {

  /** They as a condition on the table; None if there are no rows. One evaluation of `rows`. */
  def of(target: BucketedTarget, rows: DataFrame): Option[String] = {
    val resolver = target.relation.conf.resolver
    val columns = target.userPartitions.flatMap(name => target.relation.output.find(a => resolver(a.name, name)))
    val typed = columns.map(c => rows.col(QuotingUtils.quoteIdentifier(c.name)).cast(c.dataType))
    val found = rows.select(typed: _*).distinct().collect().toSeq.map { values =>
      columns.zipWithIndex.map { case (c, i) => is(c.name, values.get(i), c.dataType) }.mkString("(", " AND ", ")")
    }
    Option.when(found.nonEmpty)(found.mkString(" OR "))
  }

  private def is(column: String, value: Any, dataType: DataType): String = {
    val quoted = QuotingUtils.quoteIdentifier(column)
    if (value == null) s"$quoted IS NULL" else s"$quoted = ${Literal.create(value, dataType).sql}"
  }
}
