package org.apache.spark.sql.colocate.doris.keys

import java.util.Locale

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.DeltaCommands
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.ControlPlane
import org.apache.spark.sql.colocate.declared.{ColumnSpec, GroupProperties, KeyProperties, TableSpec}
import org.apache.spark.sql.colocate.layout.HiddenColumns
import org.apache.spark.sql.connector.catalog.TableChange
import org.apache.spark.sql.connector.catalog.TableChange._

/** The table properties of a key model in CREATE and ALTER. Their keys are not case-sensitive. */
object KeyModelProperties {

  private val RowTracking = "delta.enableRowTracking"
  private val NoAggregation = "it would have no aggregation"
  private val LastLoaded = "it tells which row of a key was loaded last"

  private val models = Set(KeyModel.Unique, KeyModel.Aggregate, KeyProperties.Duplicate)

  /** One of the models that we know; another value may be any user's property. */
  def declares(properties: Map[String, String]): Boolean = KeyProperties.modelIn(properties).exists(models)

  /**
   * The model's properties as the control plane has checked them; its error if they are wrong.
   *
   * @param always has the table buckets? Then a property alone, and a model that we do not know, are errors, too
   */
  def declared(
      session: SparkSession,
      table: TableIdentifier,
      columns: Seq[ColumnSpec],
      bucketKeys: Seq[String],
      partitions: Seq[String],
      properties: Map[String, String],
      always: Boolean = false): Map[String, String] =
    if (!declares(properties) && !(always && KeyProperties.only(properties).nonEmpty)) Map.empty
    else {
      val facts = TableSpec.named(table) ++ Seq(
        "columns" -> columns.map(_.facts),
        "bucket_keys" -> bucketKeys,
        "partitioned_by" -> partitions,
        "model" -> GroupProperties.value(properties, KeyProperties.Model).orNull,
        "key_columns" -> GroupProperties.value(properties, KeyProperties.Keys).orNull,
        "aggregates" -> GroupProperties.value(properties, KeyProperties.Aggregates).orNull)
      (ControlPlane.call(session, "create_key_model", facts: _*) \ "properties").extract[Map[String, String]]
    }

  /** Fails for a change after which the table's rows could not be aggregated. */
  def refuseChanges(table: String, model: Option[KeyModel], changes: Seq[TableChange]): Unit =
    model.foreach { model =>
      changes.foreach {
        case set: SetProperty => refuseTracking(table, model, set.property(), Some(set.value()))
        case unset: RemoveProperty => refuseTracking(table, model, unset.property(), None)
        case add: AddColumn if add.fieldNames().length == 1 && !model.isUnique =>
          refuse(table, model, s"add column ${add.fieldNames().head}", NoAggregation)
        case rename: RenameColumn => refuseColumn(table, model, rename, "rename", ofValues = !model.isUnique)
        case drop: DeleteColumn => refuseColumn(table, model, drop, "drop", ofValues = false)
        case retype: UpdateColumnType => refuseColumn(table, model, retype, "change", ofValues = false)
        case other =>
          if (model.replaces && dropsRowTracking(other))
            refuse(table, model, "drop feature rowTracking", LastLoaded)
      }
    }

  /** Fails for a load with columns that the table does not have: schema evolution would add them. */
  def refuseNewColumns(table: String, model: KeyModel, loaded: Seq[String]): Unit =
    loaded.find(column => !model.hasPlaceFor(column) && !HiddenColumns.contains(column)).foreach { column =>
      refuse(table, model, s"add column $column", NoAggregation)
    }

  /** Fails for rows that replace a table and its columns, if the model has no place for these: `overwriteSchema`. */
  def refuseOtherColumns(table: String, model: KeyModel, columns: Seq[String]): Unit = {
    refuseNewColumns(table, model, columns)
    model.keys.find(key => !columns.exists(_.equalsIgnoreCase(key))).foreach { key =>
      refuse(table, model, s"drop column $key", "it is a key column")
    }
  }

  /** `ALTER TABLE ... DROP FEATURE rowTracking`, a change of Delta's own. */
  def dropsRowTracking(change: TableChange): Boolean =
    DeltaCommands.droppedFeature(change).exists(_.equalsIgnoreCase("rowTracking"))

  private def refuseColumn(
      table: String, model: KeyModel, change: ColumnChange, what: String, ofValues: Boolean): Unit = {
    val column = change.fieldNames().head
    if (change.fieldNames().length == 1 && !HiddenColumns.contains(column)) {
      if (model.isKey(column)) refuse(table, model, s"$what column $column", "it is a key column")
      else if (ofValues) refuse(table, model, s"$what column $column", "its aggregation goes by its name")
    }
  }

  private def refuseTracking(table: String, model: KeyModel, key: String, value: Option[String]): Unit =
    if (model.replaces && key.equalsIgnoreCase(RowTracking) && !value.exists(_.trim.equalsIgnoreCase("true")))
      refuse(table, model, s"set or unset '$key'", LastLoaded)

  private def refuse(table: String, model: KeyModel, what: String, why: String): Nothing =
    refuse(table, model.clause, what, why)

  /** @param clause the table's model */
  def refuse(table: String, clause: String, what: String, why: String): Nothing =
    throw new ColocateException("KEY_MODEL_FIXED",
      s"Cannot $what of $table, a table with $clause: $why. Create a new table with the columns and the model that " +
        s"you want, and INSERT INTO it SELECT ... FROM $table.")

  def refuseFormat(table: String, format: String): Nothing =
    throw new ColocateException("KEY_MODEL_FORMAT",
      s"Cannot give $table a key model: its format is ${format.toUpperCase(Locale.ROOT)}, and only Delta's log tells " +
        s"which row was loaded last. Create $table with USING delta.")
}
