package org.apache.spark.sql.colocate.ops.jobs

import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.evidence.delta.{DamageMark, DeltaTransaction}
import org.apache.spark.sql.colocate.write.target.{FileRewrite, Rewritten}

/** Rewrites the rows of a Delta table's strays. They keep their row ids if the table tracks these. */
private[jobs] case class DeltaRewrite(session: SparkSession, table: JobTable, scan: MemberScan) {

  def run(): Rewritten = {
    val named = table.load(session)
    val rewrite = new FileRewrite(session, named)
    val transaction = new DeltaTransaction(named)
    val old = transaction.files.filter(file => scan.isStray(file.path))
    if (old.nonEmpty) DamageMark.clearWith(transaction)
    rewrite.run(transaction, old) { relation =>
      val (rows, numbers) = KeptRowIds.of(relation, transaction.properties)
      Project(relation.output ++ numbers, rows)
    }
  }
}
