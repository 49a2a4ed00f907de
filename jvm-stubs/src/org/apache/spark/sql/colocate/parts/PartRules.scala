package org.apache.spark.sql.colocate.parts

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.{SparkSession, Strategy}
import org.apache.spark.sql.colocate.parts.PartRules.Named
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** The rules of a part, phase by phase, each by its name in conf/rules.json, which gives their order. */
case class PartRules(
    hint: Seq[Named[Rule[LogicalPlan]]] = Nil,
    resolution: Seq[Named[Rule[LogicalPlan]]] = Nil,
    postHoc: Seq[Named[Rule[LogicalPlan]]] = Nil,
    normalization: Seq[Named[Rule[LogicalPlan]]] = Nil,
    check: Seq[Named[LogicalPlan => Unit]] = Nil,
    optimizer: Seq[Named[Rule[LogicalPlan]]] = Nil,
    strategy: Seq[Named[Strategy]] = Nil,
    preparation: Seq[Named[Rule[SparkPlan]]] = Nil,
    stage: Seq[Named[Rule[SparkPlan]]] = Nil,
    columnar: Seq[(String, ColumnarRule)] = Nil)

object PartRules {

  type Made[R] = SparkSession => R
  type Named[R] = (String, Made[R])
}
