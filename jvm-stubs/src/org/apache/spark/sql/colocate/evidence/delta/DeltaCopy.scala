package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.types.StructType

/**
 * What CREATE TABLE LIKE or CLONE is about to make, by Delta.
 *
 * @param table      the new table's entry in the catalog
 * @param properties all that the new table will have
 * @param typed      those of them that the statement names; only of CLONE
 * @param schema     as in a snapshot: generation expressions included
 */
case class DeltaCopy(
    table: CatalogTable,
    mode: SaveMode,
    properties: Map[String, String],
    typed: Map[String, String],
    schema: StructType,
    isByPath: Boolean,
    isClone: Boolean)

object DeltaCopy {
  import DeltaReflection.call

  private val Command = "org.apache.spark.sql.delta.commands.CreateDeltaTableCommand"
  private val Clone = "org.apache.spark.sql.delta.commands.CloneTableCommand"

  /** Only LIKE and CLONE make this command during analysis; the other CREATEs run it inside Delta's catalog. */
  def of(command: RunnableCommand): Option[DeltaCopy] =
    if (command.getClass.getName != Command) None
    else {
      val table = call(command, "table").asInstanceOf[CatalogTable]
      val mode = call(command, "mode").asInstanceOf[SaveMode]
      val isByPath = call(command, "tableByPath").asInstanceOf[Boolean]
      call(command, "query").asInstanceOf[Option[LogicalPlan]] match {
        case None => Some(DeltaCopy(table, mode, table.properties, Map.empty, table.schema, isByPath, isClone = false))
        case Some(clone) if clone.getClass.getName == Clone =>
          val metadata = call(call(clone, "sourceTable"), "metadata")
          val held = call(metadata, "configuration").asInstanceOf[Map[String, String]]
          val set = call(clone, "tablePropertyOverrides").asInstanceOf[Map[String, String]]
          val schema = call(metadata, "schema").asInstanceOf[StructType]
          Some(DeltaCopy(table, mode, held ++ set, set, schema, isByPath, isClone = true))
        case _ => None
      }
    }
}
