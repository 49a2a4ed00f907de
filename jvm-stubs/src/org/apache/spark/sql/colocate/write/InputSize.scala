package org.apache.spark.sql.colocate.write

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.{CreateDataSourceTableAsSelectCommand, RunnableCommand}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * How much data a CREATE TABLE AS SELECT is going to write, as far as that is known: for a hint on the bucket count.
 */
object InputSize {

  def of(command: RunnableCommand): Option[Long] = command match {
    case ctas: CreateDataSourceTableAsSelectCommand => of(ctas.query)
    case _ => None
  }

  /** The bytes of all files that the query reads; `None` when it also reads what has no size. */
  def of(query: LogicalPlan): Option[Long] = {
    val sizes = query.collectLeaves().map {
      case LogicalRelation(files: HadoopFsRelation, _, _, _, _) => Some(files.sizeInBytes)
      case _ => None
    }
    Option.when(sizes.nonEmpty && sizes.forall(_.isDefined))(sizes.flatten.sum)
  }
}
