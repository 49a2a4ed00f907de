package org.apache.spark.sql.colocate.scan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}

/**
 * Spark makes the struct `_metadata` for each row and then takes fields out of it: an array and an object for each
 * number. Delta's row ids, which tell the last row of a key, are made of such fields. Here they are read directly. A
 * struct of anything but columns stays: its fields would be computed as often as they are read.
 */
object MetadataFields {

  /** @param plan may be a projection above the one that makes the struct; if the struct itself is used, it stays */
  def read(plan: SparkPlan): SparkPlan = plan match {
    case ProjectExec(columns, FilterExec(condition, made: ProjectExec)) =>
      direct(columns, made)
        .filter(_ => condition.references.subsetOf(made.child.outputSet))
        .fold(plan)(ProjectExec(_, FilterExec(condition, made.child)))
    case ProjectExec(columns, made: ProjectExec) => direct(columns, made).fold(plan)(ProjectExec(_, made.child))
    case _ => plan
  }

  /** The columns over the rows below the struct; None if they need it, or if more than structs is made there. */
  private def direct(columns: Seq[NamedExpression], made: ProjectExec): Option[Seq[NamedExpression]] = {
    val structs = made.projectList.collect { case alias: Alias if isOfColumns(alias.child) => alias }
    val read = columns.map(Inlined(_, structs))
    val needsStruct = read.exists(_.exists(part => structs.exists(_.child eq part)))
    Option.when(
      structs.nonEmpty && !needsStruct && read.forall(_.references.subsetOf(made.child.outputSet)))(
      read.map(_.asInstanceOf[NamedExpression]))
  }

  private def isOfColumns(made: Expression): Boolean = made match {
    case KnownNotNull(struct: CreateNamedStruct) => struct.valExprs.forall(_.isInstanceOf[Attribute])
    case _ => false
  }
}
