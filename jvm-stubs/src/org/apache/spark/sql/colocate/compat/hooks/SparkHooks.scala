package org.apache.spark.sql.colocate.compat.hooks

import scala.collection.mutable

import Probe._
import org.apache.spark.sql.SparkSessionExtensions

/** The private parts of Spark that we use: private lists, and constructors of classes that ours extend or create. */
private[colocate] object SparkHooks {

  private val Execution = "org.apache.spark.sql.execution"

  /** To put our rules before Delta's where its extension is listed before ours. */
  val RuleLists: Hook = Hook("spark.rule-lists", Nil,
    Some("Delta tables with a bucket column where spark.sql.extensions lists Delta's extension first")) { () =>
    val fields = classOf[SparkSessionExtensions].getDeclaredFields
    val lists = fields.filter(field => classOf[mutable.Buffer[_]].isAssignableFrom(field.getType))
    if (lists.isEmpty) throw new NoSuchFieldException("the lists of rules of SparkSessionExtensions")
    lists.foreach(_.setAccessible(true))
  }

  val FileScan: Hook = Hook("spark.file-scan", Seq("PlanColocatedScans")) { () =>
    constructor(s"$Execution.FileSourceScanExec", 10)
    constructor(s"$Execution.datasources.FileScanRDD", 7)
    constructor(s"$Execution.datasources.PartitionedFile", 8)
    methodsOf(s"$Execution.exchange.EnsureRequirements", "apply" -> 1)
    methodsOf(s"$Execution.exchange.ValidateRequirements", "validate" -> 1)
    constructor("org.apache.spark.sql.catalyst.plans.physical.HashPartitioning", 2)
  }

  val Exchange: Hook = Hook("spark.exchange", Seq("PackShuffledRows", "BufferShuffledRows")) { () =>
    constructor(s"$Execution.exchange.ShuffleExchangeExec", 4)
    methodsOf(s"$Execution.exchange.ShuffleExchangeExec$$", "prepareShuffleDependency" -> 5)
  }

  val Expand: Hook = Hook("spark.expand", Seq("PlanExpands")) { () => constructor(s"$Execution.ExpandExec", 3) }

  val Insert: Hook = Hook("spark.insert-command", Seq("RecordedInsert")) { () =>
    constructor(s"$Execution.datasources.InsertIntoHadoopFsRelationCommand", 12)
  }

  /** To keep secrets out of a session's settings. */
  val Settings: Hook = Hook("spark.settings", Nil, Some(s"SET ${SecretSettings.Token}"))(() => SecretSettings.probe())

  val all: Seq[Hook] = Seq(RuleLists, FileScan, Exchange, Expand, Insert, Settings)
}
