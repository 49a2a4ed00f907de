package org.apache.spark.sql.colocate.declared

/** The table properties of a key model. Their keys are read whatever their case. */
object KeyProperties {

  val Model = "key_model"
  val Keys = "key_columns"
  val Aggregates = "value_aggregates"

  /** Of a table's properties those of the model, in lower case. */
  def only(properties: Map[String, String]): Map[String, String] =
    Seq(Model, Keys, Aggregates).flatMap(key => GroupProperties.value(properties, key).map(key -> _)).toMap

  def isProperty(key: String): Boolean = ReservedProperties.isOf("model", key)
}
