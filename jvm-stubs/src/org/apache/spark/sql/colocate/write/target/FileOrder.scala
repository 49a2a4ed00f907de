package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, RowOrdering}
import org.apache.spark.sql.colocate.layout.{HiddenColumns, RangeColumn}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/**
 * The order in which a write into a bucketed Delta table gives its rows to the files.
 *
 * @param partitions the partition columns before the bucket, as Delta's writer spells them: it then need not sort again
 * @param columns    what the rows of each file are sorted by; empty where they stay as they come
 * @param isByAllKeys are they sorted by all key columns of the table's key model, and does the writer not sort again?
 */
case class FileOrder(partitions: Seq[Expression], columns: Seq[Expression], isByAllKeys: Boolean = false) {
  def isSorted: Boolean = columns.nonEmpty
}

object FileOrder {

  val AsTheyCome: FileOrder = FileOrder(Nil, Nil)

  /**
   * The order for a table with a key model: by its key columns, up to the first one that a query lacks or that has no
   * order. A range of keys is then in few row groups of a file.
   *
   * @param keys       the key columns
   * @param schema     the table's columns
   * @param query      the columns of the rows that are written
   * @param partitions the table's partition columns before the bucket
   * @param range      the value of the range partition, if that is one of them
   */
  def of(
      keys: Seq[String],
      schema: StructType,
      query: Seq[Attribute],
      partitions: Seq[String],
      range: Option[Expression]): FileOrder = {
    def stored(name: String): Option[Expression] = for {
      column <- query.find(c => SQLConf.get.resolver(c.name, name))
      field <- schema.find(f => SQLConf.get.resolver(f.name, name))
    } yield HiddenColumns.asStored(column, field.dataType)
    val columns = keys.map(stored)
      .takeWhile(_.exists(column => RowOrdering.isOrderable(column.dataType))).flatten
    val values = partitions.map(name => if (name == RangeColumn.Name) range else stored(name))
    // Without one of them the writer sorts by all partition columns itself.
    val isAsWritten = values.forall(_.isDefined)
    if (columns.isEmpty) AsTheyCome
    else FileOrder(if (isAsWritten) values.flatten else Nil, columns, isAsWritten && columns.size == keys.size)
  }
}
