package org.apache.spark.sql.colocate.doris.keys

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, AttributeSet, RowOrdering}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.colocate.evidence.delta.{DeltaIndexes, SortedFiles, SortedTags}
import org.apache.spark.sql.colocate.rules.Rewrite
import org.apache.spark.sql.colocate.rules.aggregate.{KeptOrder, LastLoads, OneStep}
import org.apache.spark.sql.colocate.rules.join.TaskMemory
import org.apache.spark.sql.colocate.scan.ColocatedScanExec
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, HashAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.colocate.aggregate.AggregateRunsExec
import org.apache.spark.sql.execution.colocate.merge.MergeFilesExec
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.types.DataType

/**
 * Matches: an aggregate in one step (mode Complete) by all key columns of a table with AGGREGATE KEY or UNIQUE KEY. A
 * read of such a table has it, unless CollapseKeyAggregation or SkipKeyAggregation has removed it.
 * Produces: a merge of the files of each bucket and partition, which are sorted by these columns, and an aggregate of
 * neighbouring rows. It needs no hash table, and no memory for the keys.
 * Files without the tag that says that they are sorted (see SortedTags), as those of other writers, are sorted first.
 * Not when: most bytes are in such files; more files would be open in a task than its memory is for; the scan gives no
 * batches, cuts files, or checks rows in its tasks; or an aggregate has DISTINCT or FILTER.
 */
object MergeSortedFiles extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = Rewrite.ofBuckets("MergeSortedFiles", _) { plan =>
    KeptOrder.of(plan)(plan.transformUp { case all: BaseAggregateExec if fits(all) => merged(all).getOrElse(all) })
  }

  private def fits(all: BaseAggregateExec): Boolean =
    OneStep.isPlain(all) && all.groupingExpressions.forall(key => key.isInstanceOf[Attribute] && isKey(key.dataType))

  /** Types whose equal values have equal bytes, so that they are equal to every operator. */
  private def isKey(of: DataType): Boolean = UnsafeRowUtils.isBinaryStable(of) && RowOrdering.isOrderable(of)

  private def merged(all: BaseAggregateExec): Option[SparkPlan] = for {
    rows <- rowsOf(all)
    keys = all.groupingExpressions.map(_.toAttribute)
    read <- merging(rows, keys)
  } yield LastLoads.of(AggregateRunsExec(keys, all.aggregateExpressions, Some(all.resultExpressions), read))

  private def rowsOf(all: BaseAggregateExec): Option[SparkPlan] = all match {
    case hash: HashAggregateExec => Some(hash.child)
    case sort: SortAggregateExec => OneStep.unsorted(sort)
    case _ => None
  }

  /** The plan with a merge of the scan's files, whose rows have these columns as their keys. */
  private def merging(rows: SparkPlan, keys: Seq[Attribute]): Option[SparkPlan] = rows match {
    case project: ProjectExec =>
      val named = AttributeMap(project.projectList.collect { case alias @ Alias(column: Attribute, _) =>
        alias.toAttribute -> column
      })
      merging(project.child, keys.map(key => named.getOrElse(key, key))).map(c => project.copy(child = c))
    case filter: FilterExec => merging(filter.child, keys).map(c => filter.copy(child = c))
    case ColumnarToRowExec(scan: ColocatedScanExec) => orderOf(scan)
        .filter(order => AttributeSet(order) == AttributeSet(keys) && FilesToMerge(scan, order).canBeOpen)
        .map(MergeFilesExec(_, byLoad = false, scan))
    case _ => None
  }

  /** The table's key columns; None if it has no key model, or the scan lacks one of them. */
  private def orderOf(scan: ColocatedScanExec): Option[Seq[Attribute]] = for {
    model <- KeyModel.of(scan.relation, DeltaIndexes.dataPath(scan.relation.location).toString)
    if KeyPlaces.areOne(scan.relation, model)
    keys = model.keys.flatMap(key => scan.output.find(_.name.equalsIgnoreCase(key)))
    if keys.size == model.keys.size
  } yield keys
}

/** The files of a scan: are they sorted, and can a task have those of a bucket and partition open at the same time? */
private case class FilesToMerge(scan: ColocatedScanExec, keys: Seq[Attribute]) {

  /** A reader has one row group in memory. This is Parquet's default; tables with buckets mostly have a quarter. */
  private val RowGroupBytes = 128L << 20

  private val MostFiles = 128

  /** The rest of a task's memory is for what is done with the rows. */
  private val mostBytes = TaskMemory.heapBytes(scan.relation.sparkSession.sparkContext) / 4

  def canBeOpen: Boolean =
    scan.readsWholeFiles && scan.supportsColumnar && !scan.checksInTasks && {
      val sorted = SortedTags.filesOf(scan.relation.location, keys.map(_.name))
      val files = scan.selectedPartitions.toPartitionArray
      areMostly(sorted, files) && files.groupBy(_.partitionValues).values.forall { set =>
        set.length <= MostFiles && set.map(_.length.min(RowGroupBytes)).sum * columnsRead <= mostBytes
      }
    }

  /** Sorting the other files costs more than a hash table, so merging has to gain more than that. */
  private def areMostly(sorted: SortedFiles, files: Array[PartitionedFile]): Boolean =
    2 * files.filter(sorted.has).map(_.length).sum >= files.map(_.length).sum

  /** About the part of a file that is in the columns that the scan reads. */
  private def columnsRead: Double =
    (scan.requiredSchema.defaultSize.toDouble / scan.relation.dataSchema.defaultSize.max(1)).min(1.0)
}
