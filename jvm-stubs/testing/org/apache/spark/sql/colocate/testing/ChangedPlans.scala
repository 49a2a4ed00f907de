package org.apache.spark.sql.colocate.testing

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.execution.SparkPlan

/** Which rules over physical plans have changed one: a test without such a plan can't find that the rule is missing. */
object ChangedPlans {

  private val asked = ConcurrentHashMap.newKeySet[String]()
  private val changed = ConcurrentHashMap.newKeySet[String]()

  private[testing] def note(rule: String, before: SparkPlan, after: SparkPlan): Unit = {
    asked.add(rule)
    if (before ne after) changed.add(rule)
  }

  /** Since the last time that this was asked. Separated by commas. */
  def unchanged(): String = {
    val left = asked.toArray.toSet -- changed.toArray
    asked.clear()
    changed.clear()
    left.mkString(",")
  }
}
