package org.apache.spark.sql.colocate.jobs

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.colocate.columns.HiddenColumns
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.colocate.evidence.BucketFiles
import org.apache.spark.sql.colocate.evidence.delta.{DeltaEvidence, DeltaReflection, DeltaTransaction}
import org.apache.spark.sql.colocate.keys.KeptRowIds
import org.apache.spark.sql.colocate.write.BucketedWrite
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits._
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.datasources.LogicalRelation

/**
 * The rows of a Delta table's strays, written anew in one commit that changes no row, as OPTIMIZE makes one. Rows keep
 * their numbers where the table tracks them. If another commit has changed these files meanwhile, Delta refuses it.
 */
private[jobs] case class DeltaRewrite(session: SparkSession, table: JobTable, scan: MemberScan) {

  def run(): Rewritten = DeltaTransaction.passingOn {
    val catalog = session.sessionState.catalogManager.v2SessionCatalog.asTableCatalog
    val named = catalog.loadTable(Identifier.of(Array(table.db), table.table))
    SelfCheck.require(named.name, DeltaHooks.Rewrite)
    val transaction = new DeltaTransaction(named)
    val strays = scan.strays.map(_.toPath.toUri.getPath).toSet
    val old = transaction.files.filter { file =>
      strays(BucketFiles.located(scan.root, DeltaReflection.pathOf(file)).toUri.getPath)
    }
    if (old.isEmpty) Rewritten(0, 0)
    else {
      transaction.unset(DeltaEvidence.Damaged)
      val added = transaction.active(transaction.write(rows(transaction, old)))
      transaction.replace(old, added)
      Rewritten(old.size, added.size)
    }
  }

  private def rows(transaction: DeltaTransaction, files: Seq[AnyRef]): DataFrame = {
    val read = transaction.read(files).asInstanceOf[DataFrame].queryExecution.analyzed
    val relation = read.collectFirst { case relation: LogicalRelation => relation }.get
    val (rows, numbers) = KeptRowIds.of(relation, transaction.properties)
    val shown = relation.output.filterNot(c => HiddenColumns.contains(c.name))
    Dataset.ofRows(session, byBucket(Project(shown ++ numbers, rows)))
  }

  private def byBucket(rows: LogicalPlan): LogicalPlan = {
    val keys = scan.evidence.layout.keys.flatMap(key => rows.output.find(_.name == key))
    BucketedWrite.over(rows, keys, scan.evidence.layout.buckets)
  }
}
