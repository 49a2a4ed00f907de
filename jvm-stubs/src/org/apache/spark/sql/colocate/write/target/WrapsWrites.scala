package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.colocate.Services
import org.apache.spark.sql.execution.SparkPlan

/** Wraps the rows of a write into a native table, task i of which writes bucket i. Found as a service. */
trait WrapsWrites {
  def native(table: CatalogTable, rows: SparkPlan): SparkPlan
}

private[target] object WrapsWrites extends WrapsWrites {

  private lazy val found: Seq[WrapsWrites] =
    Services.of(classOf[WrapsWrites])

  override def native(table: CatalogTable, rows: SparkPlan): SparkPlan =
    found.foldLeft(rows)((wrapped, wrapper) => wrapper.native(table, wrapped))
}
