package org.apache.spark.sql.colocate.plan

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.{FileSourceOptions, InternalRow, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence}
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.{FileSourceScanExec, FileSourceScanLike, SparkPlan}
import org.apache.spark.sql.execution.datasources.{FileFormat, FilePartition, FileScanRDD, HadoopFsRelation}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.collection.BitSet

/**
 * A file scan whose tasks are the buckets of the table's layout. It only regroups the files of the ordinary `scan`
 * that it stands for, so deletion vectors, column mapping, metadata columns and dynamic pruning work as there.
 *
 * @param scan     the ordinary scan; what is given back where the layout removes no Exchange
 * @param evidence what the scanned snapshot proves
 * @param keys     the bucket keys as attributes of the scan's output
 * @param mode     how buckets become tasks
 */
case class ColocatedScanExec(scan: FileSourceScanExec, evidence: Evidence, keys: Seq[Attribute], mode: ReadMode)
    extends FileSourceScanLike {

  override def dataFilters: Seq[Expression] = scan.dataFilters
  override def disableBucketedScan: Boolean = scan.disableBucketedScan
  override lazy val optionalBucketSet: Option[BitSet] = BucketPruning.selected(keys, dataFilters, buckets)
  override def optionalNumCoalescedBuckets: Option[Int] = None
  override def output: Seq[Attribute] = scan.output
  override def partitionFilters: Seq[Expression] = scan.partitionFilters
  override def relation: HadoopFsRelation = scan.relation
  override def requiredSchema: StructType = scan.requiredSchema
  override def tableIdentifier: Option[TableIdentifier] = scan.tableIdentifier
  override def getStream: Option[SparkDataStream] = None
  override lazy val supportsColumnar: Boolean = scan.supportsColumnar

  override val nodeName: String = s"ColocatedScan ${evidence.table}"

  def buckets: Int = evidence.layout.buckets

  override lazy val (outputPartitioning, outputOrdering): (Partitioning, Seq[SortOrder]) = mode match {
    case ReadMode.ByBucket(tasks) =>
      (ColocatedPartitioning(keys, tasks), if (isNative && tasks == buckets) scan.outputOrdering else Nil)
    case ReadMode.ByBytes => (UnknownPartitioning(0), Nil)
  }

  private def isNative: Boolean = evidence.source == BucketSource.FileName

  override lazy val metadata: Map[String, String] = {
    val selected = s"${optionalBucketSet.fold(buckets)(_.cardinality())} out of $buckets"
    val read = mode match {
      case ReadMode.ByBucket(tasks) if tasks < buckets => s" (read as $tasks)"
      case _ => ""
    }
    scan.metadata ++ Map(
      "Bucketed" -> (if (mode == ReadMode.ByBytes) "false (pruned by bucket only)" else "true"),
      "SelectedBucketsCount" -> (selected + read))
  }

  // Parquet's vectorised reader gives rows of its own kind when it is asked for rows; ORC's gives UnsafeRows.
  private lazy val needsUnsafeRowConversion: Boolean =
    relation.fileFormat.isInstanceOf[ParquetFileFormat] && conf.parquetVectorizedReaderEnabled

  lazy val inputRDD: RDD[InternalRow] = {
    val readFile = relation.fileFormat.buildReaderWithPartitionValues(
      sparkSession = relation.sparkSession,
      dataSchema = relation.dataSchema,
      partitionSchema = relation.partitionSchema,
      requiredSchema = requiredSchema,
      filters = pushedDownFilters,
      options = relation.options + (FileFormat.OPTION_RETURNING_BATCH -> supportsColumnar.toString),
      hadoopConf = getHadoopConf(relation.sparkSession, relation.options))
    sendDriverMetrics()
    new FileScanRDD(
      relation.sparkSession,
      readFile,
      filePartitions,
      new StructType(requiredSchema.fields ++ relation.partitionSchema.fields),
      fileConstantMetadataColumns,
      relation.fileFormat.fileConstantMetadataExtractors,
      new FileSourceOptions(CaseInsensitiveMap(relation.options)))
  }

  private def filePartitions: Seq[FilePartition] = {
    val files = BucketedFiles(dynamicallySelectedPartitions.toPartitionArray.toSeq, evidence, optionalBucketSet)
    mode match {
      case ReadMode.ByBucket(tasks) => files.byBucket(tasks)
      case ReadMode.ByBytes => files.byBytes(relation)
    }
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = inputRDD :: Nil

  override protected def doExecute(): RDD[InternalRow] = {
    val numOutputRows = longMetric("numOutputRows")
    if (needsUnsafeRowConversion) {
      inputRDD.mapPartitionsWithIndexInternal { (index, rows) =>
        val toUnsafe = UnsafeProjection.create(schema)
        toUnsafe.initialize(index)
        rows.map { row => numOutputRows += 1; toUnsafe(row) }
      }
    } else {
      inputRDD.mapPartitionsInternal(_.map { row => numOutputRows += 1; row })
    }
  }

  override protected def doExecuteColumnar(): RDD[ColumnarBatch] = {
    val numOutputRows = longMetric("numOutputRows")
    val scanTime = longMetric("scanTime")
    inputRDD.asInstanceOf[RDD[ColumnarBatch]].mapPartitionsInternal { batches =>
      new Iterator[ColumnarBatch] {
        // The file is read in hasNext.
        override def hasNext: Boolean = {
          val start = System.nanoTime()
          val more = batches.hasNext
          scanTime += NANOSECONDS.toMillis(System.nanoTime() - start)
          more
        }

        override def next(): ColumnarBatch = {
          val batch = batches.next()
          numOutputRows += batch.numRows()
          batch
        }
      }
    }
  }

  override protected def doCanonicalize(): SparkPlan =
    copy(
      scan = scan.canonicalized.asInstanceOf[FileSourceScanExec],
      evidence = evidence.copy(table = ""),
      keys = keys.map(QueryPlan.normalizeExpressions(_, output)))
}
