package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.colocate.evidence.verify.FileTrust
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence}
import org.apache.spark.sql.colocate.scan.{BucketPruning, BucketedFiles, ColocatedScanExec, ReadMode}
import org.apache.spark.sql.execution.colocate.aggregate.AggregateRunsExec
import org.apache.spark.sql.execution.colocate.merge.MergeFilesExec
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.execution.{ColumnarRule, ColumnarToRowExec, FileSourceScanExec, InSubqueryExec, SparkPlan}
import org.apache.spark.util.collection.BitSet

/** Last of all: our scans become such as read wrong files. */
object ReadWrongFiles extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = plan =>
    if (PlantedBugs.planted.isEmpty) plan
    else plan.transformUp {
      case ColocatedScanExec(scan, evidence, keys, mode, partition, data, bucket, checks) =>
        new ColocatedWrongScanExec(scan, evidence, keys, mode, partition, data, bucket, checks)
      case MergeFilesExec(_, _, scan) if PlantedBugs.is("files_not_merged") => ColumnarToRowExec(scan)
      case runs: AggregateRunsExec if PlantedBugs.is("first_load_merged") =>
        runs.copy(aggregates = runs.aggregates.map(_.transform {
          case Last(value, ignoreNulls) => First(value, ignoreNulls)
        }.asInstanceOf[AggregateExpression]))
    }
}

class ColocatedWrongScanExec(
    scan: FileSourceScanExec,
    evidence: Evidence,
    keys: Seq[Attribute],
    mode: ReadMode,
    partitionFilters: Seq[Expression],
    dataFilters: Seq[Expression],
    bucketFilters: Seq[InSubqueryExec],
    checksInTasks: Boolean)
    extends ColocatedScanExec(scan, evidence, keys, mode, partitionFilters, dataFilters, bucketFilters, checksInTasks) {

  private def next(selected: BitSet): BitSet = {
    val wrong = new BitSet(buckets)
    selected.iterator.foreach(bucket => wrong.set((bucket + 1) % buckets))
    wrong
  }

  override protected def filesOf(listed: Seq[PartitionedFile]): BucketedFiles = {
    val right = super.filesOf(listed)
    val read = right.files.filter { file =>
      if (PlantedBugs.is("other_snapshot")) evidence.bucketOf(file).isDefined
      else if (PlantedBugs.is("declared_number_pruned")) isOfDeclared(file)
      else true
    }
    val selected = if (PlantedBugs.is("wrong_bucket_pruned")) right.selected.map(next) else right.selected
    new WrongFiles(read, evidence, selected, right.trust, right.later)
  }

  private def isOfDeclared(file: PartitionedFile): Boolean = evidence.source match {
    case BucketSource.PartitionValue(ordinal, Some(_)) =>
      val id = file.partitionValues.getInt(ordinal)
      val declared = evidence.layout.declared
      BucketPruning.selected(keys, dataFilters, declared).forall(needed => id < declared && needed.get(id))
    case _ => true
  }

  // Spark drops a change that leaves a plan equal.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[ColocatedWrongScanExec]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode
}

class WrongFiles(
    files: Seq[PartitionedFile], evidence: Evidence, selected: Option[BitSet], trust: FileTrust, later: Boolean)
    extends BucketedFiles(files, evidence, selected, trust, later) {
  import WrongFiles._

  override protected def sorted: (Seq[(Int, PartitionedFile)], Seq[PartitionedFile]) = {
    val (known, strays) = super.sorted
    PlantedBugs.planted match {
      case Some("strays_ignored") => (known, Nil)
      case Some("stray_twice") => (known ++ strays.map(0 -> _), strays)
      case Some("stray_unshuffled") => (known ++ strays.map(0 -> _), Nil)
      case _ => (known, strays)
    }
  }

  override def byBucket(tasks: Int): Seq[FilePartition] = PlantedBugs.planted match {
    case Some("wrong_divisor") if tasks == WrongDivisor =>
      val each = super.byBucket(evidence.layout.buckets).map(_.files)
      numbered(Seq.tabulate(tasks)(task => each.indices.filter(_ % tasks == task).flatMap(each(_)).toArray))
    case Some("bucket_twice") =>
      val each = super.byBucket(tasks).map(_.files)
      numbered(each.map(f => f ++ (if (each.find(_.nonEmpty).contains(f)) f else Array.empty[PartitionedFile])))
    case Some("last_bucket_dropped") =>
      numbered(super.byBucket(tasks).map(_.files).init :+ Array.empty[PartitionedFile])
    case _ if evidence.table == ZippedWrong =>
      val each = super.byBucket(tasks).map(_.files)
      numbered(each.last +: each.init)
    case _ => super.byBucket(tasks)
  }
}

object WrongFiles {

  /** For the number of tasks that divides few numbers of buckets. */
  val WrongDivisor = 3

  /** The name of a table whose buckets are one task too late. */
  val ZippedWrong = "zipped wrong"

  private def numbered(files: Seq[Array[PartitionedFile]]): Seq[FilePartition] =
    files.zipWithIndex.map { case (f, index) => FilePartition(index, f) }
}
