package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.declared.{RangeEntry, RangeProperties}
import org.apache.spark.sql.colocate.evidence.delta.DeltaWrites

/**
 * The errors of a row that is not to be written.
 *
 * @param partitions as the table's property lists them
 * @param only       the partitions that the statement names; empty if it names none
 */
case class RangeRefusal(table: String, partitions: Seq[RangeEntry], only: Seq[String]) {

  private val MostShown = 10

  /** @param partition of the row; None if it belongs to no partition */
  def of(row: String, partition: Option[String]): RuntimeException = {
    val error = partition.fold(ofNone(row))(ofAnother(row, _))
    DeltaWrites.invariantViolation(error.getMessage)
  }

  private def ofNone(row: String): ColocateException = {
    val open = RangeProperties.open(partitions)
    new ColocateException("RANGE_NO_PARTITION",
      s"Cannot write to $table: the row with $row belongs to none of its ${partitions.size} range partitions. No " +
        s"partition has the rows of ${few(open).mkString(", ")}. Nothing was written. Leave such rows out, or add a " +
        s"partition for them: CALL system.add_partition(table => '$table', partition => 'name', upper => 'value').")
  }

  private def ofAnother(row: String, partition: String): ColocateException =
    new ColocateException("RANGE_OTHER_PARTITION",
      s"Cannot write to ${few(only.map(shown)).mkString(", ")} of $table: the row with $row belongs to " +
        s"${shown(partition)}. Nothing was written. Leave such rows out, or name their partition, too.")

  /** With its range, if the property has not been changed by a session without the extension. */
  private def shown(name: String): String =
    partitions.find(_.name == name).fold(s"partition $name")(p => s"partition $name ${p.range}")

  private def few(names: Seq[String]): Seq[String] =
    names.take(MostShown) ++ Option.when(names.size > MostShown)(s"${names.size - MostShown} more")
}
