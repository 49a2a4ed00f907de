package org.apache.spark.sql.colocate.evidence.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.colocate.compat.hooks.{DeltaHooks, SelfCheck}
import org.apache.spark.sql.execution.{FileSourceScanLike, SparkPlan}

/** A Delta table that a command writes to. entry: its entry in the catalog; None for a table that is known by path. */
case class DeltaTarget(root: Path, properties: Map[String, String], entry: Option[CatalogTable])

/** Which table a command of Delta's writes to, by reflection as in DeltaReflection. */
private[colocate] object DeltaWrites {
  import DeltaReflection.{call, companion}

  private val Compaction = "Optimize"

  /** None: the plan is a user's own. OPTIMIZE writes in threads of its own, so the files that it reads say it. */
  def table(plan: SparkPlan): Option[DeltaTarget] =
    if (!SelfCheck.has(DeltaHooks.Target)) None else ofTransaction.orElse(ofCompaction(plan))

  private def ofTransaction: Option[DeltaTarget] =
    call(companion("OptimisticTransaction"), "getActive").asInstanceOf[Option[AnyRef]].map { transaction =>
      DeltaTarget(
        call(call(transaction, "deltaLog"), "dataPath").asInstanceOf[Path],
        call(call(transaction, "metadata"), "configuration").asInstanceOf[Map[String, String]],
        call(transaction, "catalogTable").asInstanceOf[Option[CatalogTable]])
    }

  private def ofCompaction(plan: SparkPlan): Option[DeltaTarget] =
    plan.collectFirst {
      case scan: FileSourceScanLike if DeltaReflection.isOfCommand(scan.relation.location, Compaction) =>
        val index = scan.relation.location
        DeltaTarget(DeltaReflection.dataPath(index), new DeltaSnapshot(call(index, "snapshot")).properties, None)
    }
}
