package org.apache.spark.sql.colocate.doris.procedures

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.doris.keys.{Compaction, KeyModel}
import org.apache.spark.sql.colocate.system.SystemProcedure
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter
import org.apache.spark.sql.types.StringType

object Compact extends SystemProcedure(
      "compact",
      "Writes the rows of a table with AGGREGATE KEY or UNIQUE KEY anew, one row for each key.",
      "files_removed INT, files_added INT") {

  override def parameters(): Array[ProcedureParameter] = Array(required("table", StringType))

  override protected def run(session: SparkSession, input: InternalRow): Seq[Row] = {
    val named = NamedTable.load(session, input.getString(0))
    val model = KeyModel.of(named.table).getOrElse(throw new ColocateException("KEY_MODEL_ABSENT",
      s"Cannot compact ${input.getString(0)}: it has neither AGGREGATE KEY nor UNIQUE KEY, so each loaded row stays " +
        s"as it is. OPTIMIZE ${input.getString(0)} joins its small files."))
    val done = new Compaction(session, named.table, model).run()
    Seq(Row(done.removed, done.added))
  }
}
