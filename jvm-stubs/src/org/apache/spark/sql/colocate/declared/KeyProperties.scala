package org.apache.spark.sql.colocate.declared

import java.util.Locale

/** The table properties of a key model. Their keys are not case-sensitive. */
object KeyProperties {

  val Model = "key_model"
  val Keys = "key_columns"
  val Aggregates = "value_aggregates"

  val Duplicate = "duplicate"

  /** The properties of the key model among those of a table, with keys in lower case. */
  def only(properties: Map[String, String]): Map[String, String] =
    Seq(Model, Keys, Aggregates).flatMap(key => GroupProperties.value(properties, key).map(key -> _)).toMap

  def isProperty(key: String): Boolean = ReservedProperties.isOf("model", key)

  /** The model as CREATE TABLE reads it, whatever its case. */
  def modelIn(properties: Map[String, String]): Option[String] =
    GroupProperties.value(properties, Model).map(_.trim.toLowerCase(Locale.ROOT))

  /** DUPLICATE KEY: it says nothing of the rows, only how files are sorted, so it may change. */
  def isOrderOnly(properties: Map[String, String]): Boolean = modelIn(properties).contains(Duplicate)

  def keysIn(properties: Map[String, String]): Seq[String] =
    GroupProperties.value(properties, Keys).toSeq.flatMap(_.split(",")).map(_.trim).filter(_.nonEmpty)

  /** The columns by which each file of a table with a key model is sorted; empty for any other table. */
  def sortColumns(declared: Map[String, String], properties: Map[String, String]): Seq[String] =
    if (isOrderOnly(declared)) keysIn(properties)
    else if (modelIn(declared).isDefined) keysIn(declared)
    else Nil

  /** @param model what takes their place */
  def replaced(properties: Map[String, String], model: Map[String, String]): Map[String, String] =
    properties.filterNot(p => model.keys.exists(_.equalsIgnoreCase(p._1)) || (model.nonEmpty && isProperty(p._1))) ++
      model
}
