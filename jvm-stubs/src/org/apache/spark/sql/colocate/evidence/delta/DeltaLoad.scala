package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.{DataFrame, SaveMode}

/** An INSERT of Delta's own, step by step as its command WriteIntoDelta runs it, whose new files get tags. */
private[colocate] class DeltaLoad(
    session: SparkSession, table: Table, mode: SaveMode, tags: Map[String, String]) {
  import DeltaReflection.{call, companion, method}

  private val log: AnyRef = call(table, "deltaLog")
  private val entry = call(table, "catalogTable").asInstanceOf[Option[CatalogTable]]

  /** @param options of the write; only those in DeltaLoad.options */
  def run(rows: DataFrame, options: Map[String, String]): Unit = DeltaTransaction.passingOn {
    val parsed = optionsOf(options)
    val command = commandOf(rows, parsed)
    val inTransaction: AnyRef => AnyRef = { transaction =>
      val isDone = method(command, "hasBeenExecuted", 3).invoke(command, transaction, session, Some(parsed))
      if (isDone != Boolean.box(true)) commit(transaction, command, parsed)
      None
    }
    method(log, "withNewTransaction", 3).invoke(log, entry, None, inTransaction)
    session.sharedState.cacheManager
      .recacheByPlan(session, call(table, "toLogicalRelation").asInstanceOf[LogicalRelation])
  }

  private def optionsOf(options: Map[String, String]): AnyRef = {
    val nullAsDefault =
      if (!session.sessionState.conf.useNullsForMissingDefaultColumnValues) None
      else Some(call(companion("ColumnWithDefaultExprUtils"), "USE_NULL_AS_DEFAULT_DELTA_OPTION").toString -> "true")
    DeltaReflection.named("DeltaOptions").getConstructor(classOf[Map[_, _]], session.sessionState.conf.getClass)
      .newInstance(options ++ nullAsDefault, session.sessionState.conf).asInstanceOf[AnyRef]
  }

  private def commandOf(rows: DataFrame, options: AnyRef): AnyRef = {
    val commands = companion("commands.WriteIntoDelta")
    val properties = call(call(call(log, "unsafeVolatileSnapshot"), "metadata"), "configuration")
    method(commands, "apply", 9).invoke(
      commands, log, mode, options, Nil, properties, rows, entry, None, call(commands, "apply$default$9"))
  }

  private def commit(transaction: AnyRef, command: AnyRef, options: AnyRef): Unit = {
    val written = method(command, "writeAndReturnCommitData", 4).invoke(
      command, transaction, session, None, call(command, "writeAndReturnCommitData$default$4"))
    val actions = call(written, "actions").asInstanceOf[Seq[AnyRef]].map { action =>
      if (action.getClass.getSimpleName == "AddFile") DeltaTransaction.tagged(action, tags) else action
    }
    method(transaction, "commitIfNeeded", 3)
      .invoke(transaction, actions, operation(options), call(written, "stringTags"))
  }

  /** What DESCRIBE HISTORY shows. */
  private def operation(options: AnyRef): AnyRef = {
    val merges = Option.when(call(options, "canMergeSchema") == Boolean.box(true))(true)
    val writes = companion("DeltaOperations$Write")
    method(writes, "apply", 9)
      .invoke(writes, mode, Some(Nil), None, call(options, "userMetadata"), None, None, merges, None, None)
  }
}

private[colocate] object DeltaLoad {

  /** Options that change nothing about which files a write removes. */
  val options: Set[String] = Set("mergeSchema", "optimizeWrite", "userMetadata", "txnAppId", "txnVersion")
}
