package org.apache.spark.sql.colocate.rules.join

import org.apache.spark.sql.catalyst.plans.LeftExistence
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.delta.DeltaRowCounts
import org.apache.spark.sql.colocate.layout.{BucketSource, RowCount}
import org.apache.spark.sql.colocate.scan.{ColocatedScanExec, NativeRowCounts, ReadMode}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.colocate.BroadcastKeys
import org.apache.spark.sql.execution.joins.{BaseJoinExec, BroadcastHashJoinExec}
import org.apache.spark.sql.types.{AtomicType, BinaryType, DataType, Decimal, DecimalType, StringType}

/** An upper bound for the largest task of a join's build side; None where there is none. */
case class BuildSideBound(session: SparkSession) {

  /**
   * What one task may surely take: half of its guaranteed share of execution memory, unless the setting names a size.
   */
  lazy val budget: Long =
    Some(Settings.number(session.sessionState.conf, "spark.colocate.join.hashBytesPerTask"))
      .filter(_ > 0)
      .getOrElse(TaskMemory.guaranteedBytes(session.sparkContext) / 2)

  def ofLargestTask(plan: SparkPlan, keyCount: Int): Option[BuildSideBound.Most] =
    rows(plan).map { counted =>
      val (long, fixed) = plan.output.map(_.dataType).partition(BuildSideBound.mayBeLong)
      val each = BuildSideBound.entryBytes(plan.output.size, keyCount) + fixed.map(BuildSideBound.fieldBytes).sum
      val guessed = saturatingMultiply(counted.rows, long.map(BuildSideBound.fieldBytes).sum)
      val ofLong = if (long.isEmpty) 0L else guessed.max(counted.rowsBytes)
      BuildSideBound.Most(counted.rows, saturatingAdd(saturatingMultiply(counted.rows, each), ofLong))
    }

  /** @param rowsBytes what all those rows may take in memory, by the size of their files */
  private case class Counted(rows: Long, rowsBytes: Long)

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
    // The rows of a finished shuffle are counted, though not by task.
    case stage: ShuffleQueryStageExec if stage.isMaterialized =>
      val statistics = stage.getRuntimeStatistics
      statistics.rowCount.map(n => Counted(n.toLong, statistics.sizeInBytes.toLong))
    case _ => None
  }

  /** So that no row of the other side is multiplied. Known when AQE has the broadcast, and plans again. */
  private def hasUniqueKeys(built: SparkPlan): Boolean = built match {
    case stage: BroadcastQueryStageExec if stage.isMaterialized => BroadcastKeys.areUnique(stage)
    case _ => false
  }

  private def scanRows(scan: ColocatedScanExec): Option[Counted] = byBucket(scan).map { bucket =>
    val tasks = bucketsByTask(scan).map(_.map(bucket).fold(RowCount.None)(_ + _))
    Counted(
      rows = tasks.map(_.rows).maxOption.getOrElse(0L),
      rowsBytes = BuildSideBound.Uncompressed * tasks.map(_.bytes).maxOption.getOrElse(0L))
  }

  private def byBucket(scan: ColocatedScanExec): Option[Int => RowCount] = scan.evidence.source match {
    case _: BucketSource.PartitionValue => DeltaRowCounts.byBucket(scan.relation.location, scan.buckets)
    case BucketSource.FileName => NativeRowCounts.byBucket(scan, scan.evidence)
  }

  private def bucketsByTask(scan: ColocatedScanExec): Seq[Seq[Int]] = {
    val buckets = 0 until scan.buckets
    scan.mode match {
      case ReadMode.ByBucket(tasks) => buckets.groupBy(_ % tasks).values.toSeq
      case ReadMode.ByShare(shares, _) =>
        val residues = buckets.groupBy(_ % shares.residues)
        shares.tasks.map(_.residues.flatMap(residues))
      case ReadMode.ByFilledBucket => buckets.map(Seq(_))
      case ReadMode.ByBytes => Seq(buckets)
    }
  }

  private def saturatingAdd(a: Long, b: Long): Long = if (a > Long.MaxValue - b) Long.MaxValue else a + b

  private def saturatingMultiply(a: Long, b: Long): Long =
    if (b > 0 && a > Long.MaxValue / b) Long.MaxValue else a * b
}

object BuildSideBound {

  /** @param bytes of unsafe rows and what the hash relation adds to them */
  case class Most(rows: Long, bytes: Long)

  /** Record and pointer array of a hash relation's entry, at its worst load factor. */
  private val EntryBytes = 64L

  /** Strings and binaries have no bound in the metadata; four times Spark's own guess, */
  private val TextBytes = 80L

  /** or, where rows are long, this many times all that they take in the files. */
  private val Uncompressed = 4L

  private def entryBytes(columns: Int, keyCount: Int): Long = EntryBytes + 8 * (2 + columns / 64) + 8L * keyCount

  private def fieldBytes(dataType: DataType): Long = dataType match {
    case _: StringType | BinaryType => 8 + TextBytes
    case d: DecimalType if d.precision > Decimal.MAX_LONG_DIGITS => 8 + 16
    case _: AtomicType => 8
    case nested => 8 + 4L * nested.defaultSize
  }

  /** Texts, arrays, maps and what may contain them. */
  private def mayBeLong(dataType: DataType): Boolean = dataType match {
    case _: StringType | BinaryType => true
    case other => !other.isInstanceOf[AtomicType]
  }
}
