package org.apache.spark.sql.colocate.bridge

/**
 * The planner rules in effect. The control plane registers their names, in order, when it attaches; until then every
 * rule is active, so that queries do not wait for Python.
 */
object RuleRegistry {
  @volatile private var registered: Option[Seq[String]] = None

  def register(names: Seq[String]): Unit = registered = Some(names)

  def isActive(name: String): Boolean = registered.forall(_.contains(name))
}
