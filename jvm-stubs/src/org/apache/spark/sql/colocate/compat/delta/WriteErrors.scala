package org.apache.spark.sql.colocate.compat.delta

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.delta.DeltaErrors
import org.apache.spark.sql.delta.schema.InvariantViolationException

/** Delta's error for a row that must not be written. */
private[colocate] object RowErrors {

  /** Delta's writers pass it on as it is, instead of inside the error of a job. */
  def invariantViolation(message: String): RuntimeException = new InvariantViolationException(message)
}

/** Delta's errors for writes that name wrong columns. */
private[colocate] object ColumnErrors {
  def partitionColumnNotFound(column: String, present: Seq[Attribute]): Throwable =
    DeltaErrors.partitionColumnNotFoundException(column, present)
}
