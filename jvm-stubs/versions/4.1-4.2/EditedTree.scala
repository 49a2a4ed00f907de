package org.apache.spark.sql.colocate.compat

import java.util

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A plan whose text is changed before it is shown: Spark's method with one parameter more since Spark 4.1. */
trait EditedTree extends LogicalPlan {

  protected def edited(text: String): String

  override def generateTreeString(
      depth: Int,
      lastChildren: util.ArrayList[Boolean],
      append: String => Unit,
      verbose: Boolean,
      prefix: String,
      addSuffix: Boolean,
      maxFields: Int,
      printNodeId: Boolean,
      printOutputColumns: Boolean,
      indent: Int): Unit =
    super.generateTreeString(
      depth, lastChildren, text => append(edited(text)), verbose, prefix, addSuffix, maxFields,
      printNodeId, printOutputColumns, indent)
}
