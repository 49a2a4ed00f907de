package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.internal.SQLConf

/**
 * Makes a rule fail that is named by `spark.colocate.testing.fault = <how>:<rule>`. How: `fails`; `tells` (an error
 * that is meant for the user); `invalid` (the plan that it gives lacks its shuffles).
 */
private[testing] object FailingRules {

  val Key = "spark.colocate.testing.fault"

  def before(rule: String): Unit = how(rule).foreach(fails(_, rule))

  def after(rule: String, plan: SparkPlan): SparkPlan = how(rule).fold(plan) { how =>
    fails(how, rule)
    if (how == "invalid") plan.transformUp { case exchange: ShuffleExchangeExec => exchange.child } else plan
  }

  private def how(rule: String): Option[String] = SQLConf.get.getConfString(Key, "").split(":", 2) match {
    case Array(how, `rule`) => Some(how)
    case _ => None
  }

  private def fails(how: String, rule: String): Unit = how match {
    case "fails" => throw new IllegalStateException(s"$rule fails for a test")
    case "tells" => throw new ColocateException("FAULT", s"$rule tells the user")
    case _ =>
  }
}
