package org.apache.spark.sql.colocate.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.LeftExistence
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Settings
import org.apache.spark.sql.colocate.layout.{BucketSource, DeltaRowCounts}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.colocate.BroadcastKeys
import org.apache.spark.sql.execution.joins.{BaseJoinExec, BroadcastHashJoinExec}
import org.apache.spark.sql.types.{AtomicType, BinaryType, DataType, Decimal, DecimalType, StringType}

/** An upper bound for the largest task of a join's build side; None where there is none. */
case class BuildSideBound(session: SparkSession) {

  /** What one task may surely take: half of its guaranteed share of execution memory, unless the setting says. */
  lazy val budget: Long =
    Some(Settings.number(session.sessionState.conf, "spark.colocate.join.hashBytesPerTask"))
      .filter(_ > 0)
      .getOrElse(TaskMemory.guaranteedBytes(session.sparkContext) / 2)

  def ofLargestTask(plan: SparkPlan, keyCount: Int): Option[BuildSideBound.Most] =
    rows(plan).map { counted =>
      val each = BuildSideBound.rowBytes(plan.output, keyCount, counted.textBytes)
      BuildSideBound.Most(counted.rows, saturatingMultiply(counted.rows, each))
    }

  /** @param textBytes of one row, on average: what all its texts and binaries take in memory, if many are long */
  private case class Counted(rows: Long, textBytes: Long)

  private def rows(plan: SparkPlan): Option[Counted] = plan match {
    case scan: ColocatedScanExec => scanRows(scan)
    case _: FilterExec | _: ProjectExec | _: SortExec | _: InputAdapter | _: WholeStageCodegenExec |
        _: ColumnarToRowExec | _: BaseAggregateExec =>
      rows(plan.children.head)
    case join: BroadcastHashJoinExec if hasUniqueKeys(JoinSides.built(join)) => rows(JoinSides.streamed(join))
    case join: BaseJoinExec =>
      join.joinType match {
        case LeftExistence(_) => rows(join.left)
        case _ => None
      }
    // What was shuffled is counted, though not by task.
    case stage: ShuffleQueryStageExec if stage.isMaterialized =>
      val told = stage.getRuntimeStatistics
      told.rowCount.map(_.toLong).map(n => Counted(n, told.sizeInBytes.toLong / n.max(1)))
    case _ => None
  }

  /** So that no row of the other side is multiplied. Known when AQE has the broadcast, and plans again. */
  private def hasUniqueKeys(built: SparkPlan): Boolean = built match {
    case stage: BroadcastQueryStageExec if stage.isMaterialized => BroadcastKeys.areUnique(stage)
    case _ => false
  }

  private def scanRows(scan: ColocatedScanExec): Option[Counted] = scan.evidence.source match {
    case _: BucketSource.PartitionValue =>
      val files = scan.relation.location
      DeltaRowCounts.byBucket(files).map { rows =>
        val all = (0 until scan.buckets).map(rows).sum
        Counted(
          rows = bucketsByTask(scan).map(_.map(rows).sum).maxOption.getOrElse(0L),
          textBytes = BuildSideBound.Uncompressed * files.sizeInBytes / all.max(1))
      }
    case BucketSource.FileName => None
  }

  private def bucketsByTask(scan: ColocatedScanExec): Seq[Seq[Int]] = {
    val buckets = 0 until scan.buckets
    scan.mode match {
      case ReadMode.ByBucket(tasks) => buckets.groupBy(_ % tasks).values.toSeq
      case ReadMode.ByShare(shares, _) =>
        val cells = buckets.groupBy(_ % shares.cells)
        shares.tasks.map(_.cells.flatMap(cells))
      case ReadMode.ByFilledBucket => buckets.map(Seq(_))
      case ReadMode.ByBytes => Seq(buckets)
    }
  }

  private def saturatingMultiply(a: Long, b: Long): Long = if (a > Long.MaxValue / b) Long.MaxValue else a * b
}

object BuildSideBound {

  /** @param bytes of unsafe rows and what the hash relation adds to them */
  case class Most(rows: Long, bytes: Long)

  /** Record and pointer array of a hash relation's entry, at its worst load factor. */
  private val EntryBytes = 64L

  /** Strings and binaries have no bound in the metadata; four times Spark's own guess, */
  private val VariableBytes = 80L

  /** or, where rows are long in the files, this many times all of a row there. */
  private val Uncompressed = 4L

  private def fieldBytes(dataType: DataType): Long = dataType match {
    case d: DecimalType if d.precision > Decimal.MAX_LONG_DIGITS => 8 + 16
    case _: AtomicType => 8
    case nested => 8 + 4L * nested.defaultSize
  }

  private def isText(dataType: DataType): Boolean = dataType match {
    case _: StringType | BinaryType => true
    case _ => false
  }

  /** @param textBytes what the texts and binaries of a row surely may take */
  private def rowBytes(output: Seq[Attribute], keyCount: Int, textBytes: Long): Long = {
    val texts = output.count(a => isText(a.dataType))
    val variable = if (texts == 0) 0L else textBytes.max(texts * VariableBytes)
    EntryBytes + 8 * (2 + output.size / 64) + output.map(a => fieldBytes(a.dataType)).sum + 8L * keyCount + variable
  }
}
