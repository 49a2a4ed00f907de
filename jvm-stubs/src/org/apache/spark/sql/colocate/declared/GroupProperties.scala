package org.apache.spark.sql.colocate.declared

/** The two table properties that make a member. Their keys are not case-sensitive, and kept in lower case. */
object GroupProperties {

  val Group = "colocate_with"
  val Replication = "replication_num"

  private val GlobalPrefix = "__global__"

  def value(properties: Map[String, String], key: String): Option[String] =
    properties.collectFirst { case (name, value) if name.equalsIgnoreCase(key) => value }

  /** The group as the user typed it; an empty string means none. */
  def group(properties: Map[String, String]): Option[String] =
    value(properties, Group).map(_.trim).filter(_.nonEmpty)

  /** Hosts per bucket as typed, if the table names one; the control plane checks it. */
  def replication(properties: Map[String, String]): Option[String] = value(properties, Replication).map(_.trim)

  /** `db.g`, or `__global__g` as it is. */
  def fullName(group: String, db: String): String = if (group.startsWith(GlobalPrefix)) group else s"$db.$group"

  def mentions(names: Iterable[String]): Boolean = names.exists(ReservedProperties.isOf("group", _))

  /** The properties with our keys in lower case and without a group that is empty. */
  def normal(properties: Map[String, String]): Map[String, String] = {
    val others = without(properties)
    others ++ group(properties).map(Group -> _) ++ value(properties, Replication).map(Replication -> _)
  }

  def without(properties: Map[String, String]): Map[String, String] =
    properties.filterNot { case (name, _) => mentions(Seq(name)) }
}
