package org.apache.spark.sql.colocate.ops.jobs

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.{DamageMark, DeltaTransaction}
import org.json4s.JValue

/**
 * Removes the mark of damage from a Delta table after a check of all rows that has found none in a wrong bucket: its
 * damaged files were removed without a repair.
 */
private[jobs] object ClearDamage extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any =
    Map("cleared" -> (table.isDelta && MemberScan.of(session, table).strays.isEmpty && cleared(session, table)))

  private def cleared(session: SparkSession, table: JobTable): Boolean = {
    val transaction = new DeltaTransaction(table.load(session))
    val isMarked = DamageMark.isSet(transaction.schema, transaction.properties)
    if (isMarked) {
      DamageMark.clear(transaction)
      session.catalog.refreshTable(table.quoted)
    }
    isMarked
  }
}
