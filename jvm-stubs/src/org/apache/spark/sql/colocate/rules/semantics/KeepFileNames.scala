package org.apache.spark.sql.colocate.rules.semantics

import org.apache.spark.sql.catalyst.expressions.{Expression, InputFileBlockLength, InputFileBlockStart, InputFileName}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.rules.RerunEnsureRequirements
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution.SparkPlan

/**
 * `input_file_name()` and its kin ask the task which file it is reading, so the rows of strays, once shuffled, could
 * not answer: a plan that asks reads members with strays as ordinary tables. (`_metadata.file_name` is a column and is
 * shuffled along.)
 */
object KeepFileNames extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (!plan.exists(asks)) plan
    else RerunEnsureRequirements.after(plan)(_.transformUp {
      case scan: ColocatedScanExec if scan.strays.nonEmpty => scan.ordinary(prunable = false)
    })

  private def asks(plan: SparkPlan): Boolean = plan.expressions.exists(_.exists(isFileName))

  private def isFileName(e: Expression): Boolean = e match {
    case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => true
    case _ => false
  }
}
