package org.apache.spark.sql.colocate.scan

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.SparkException
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeSet, Expression, IsNotNull, SortOrder, UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.{FileSourceOptions, InternalRow, TableIdentifier}
import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.colocate.evidence.verify.{CheckInTask, FileTrust, OpenReads}
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence}
import org.apache.spark.sql.colocate.partitioning.{ColocatedPartitioning, SpreadPartitioning}
import org.apache.spark.sql.colocate.rules.ReadsBuckets
import org.apache.spark.sql.colocate.scan.ColocatedScanExec.{AtHost, Elsewhere}
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{
  FileFormat, FilePartition, FileScanRDD, HadoopFsRelation, PartitionedFile
}
import org.apache.spark.sql.execution.metric.{
  SQLMetric, SQLMetrics, SQLShuffleReadMetricsReporter, SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.execution.{
  FileSourceScanExec, FileSourceScanLike, InSubqueryExec, ScanFileListing, SparkPlan
}
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.collection.BitSet

/**
 * A file scan that assigns files to tasks by bucket. It replaces an ordinary `scan` of Spark's and reads the same
 * files, only in other tasks. So deletion vectors, column mapping, metadata columns and dynamic partition pruning work
 * as in the ordinary scan.
 *
 * @param scan     the ordinary scan without its filters by subquery; it lists the files
 * @param evidence the bucket layout that the metadata of the scanned snapshot proves
 * @param keys     the bucket keys as attributes of the scan's output
 * @param mode     how buckets are assigned to tasks
 * @param partitionFilters all partition filters of the scan. They are here, too, because Spark plans only the
 *                         subqueries
 *                         in a node's own expressions
 * @param dataFilters      all data filters of the scan, for the same reason
 * @param bucketFilters    subqueries that find at run time which buckets are needed
 * @param checksInTasks    do the tasks check the rows that they read? See CheckWhileReading
 */
case class ColocatedScanExec(
    scan: FileSourceScanExec,
    evidence: Evidence,
    keys: Seq[Attribute],
    mode: ReadMode,
    partitionFilters: Seq[Expression],
    dataFilters: Seq[Expression],
    bucketFilters: Seq[InSubqueryExec] = Nil,
    checksInTasks: Boolean = false)
    extends FileSourceScanLike
    with ReadsBuckets {

  override def disableBucketedScan: Boolean = scan.disableBucketedScan
  override lazy val optionalBucketSet: Option[BitSet] =
    BucketPruning.selected(keys, dataFilters, buckets).orElse(scan.optionalBucketSet)
  override def optionalNumCoalescedBuckets: Option[Int] = None
  override def output: Seq[Attribute] = scan.output
  override def relation: HadoopFsRelation = scan.relation
  override def requiredSchema: StructType = scan.requiredSchema
  override def tableIdentifier: Option[TableIdentifier] = scan.tableIdentifier
  override def getStream: Option[SparkDataStream] = None
  override lazy val supportsColumnar: Boolean =
    scan.supportsColumnar && !(evidence.mayHaveStrays && !StrayRows.fitBatches(schema))

  // Strays come from a shuffle: their batches have other vector classes than those that the file format declares.
  override def vectorTypes: Option[Seq[String]] = if (evidence.mayHaveStrays) None else super.vectorTypes

  override val nodeName: String = s"ColocatedScan ${evidence.table}"

  def buckets: Int = evidence.layout.buckets

  /**
   * May `bucketFilters` be added? Not if the scan has native files that are not in the manifest: these would have to be
   * checked before any of them could be skipped.
   */
  def mayPruneByKeys: Boolean = mode match {
    case ReadMode.ByShare(_, _) => false
    case _ => !isNative || trust.knowsAll(selectedPartitions)
  }

  /** The buckets that are needed, by filters and by the results of `bucketFilters`; None means all. */
  private def neededBuckets: Option[BitSet] =
    bucketFilters.flatMap(_.values()).foldLeft(optionalBucketSet) { (known, values) =>
      val needed = new BitSet(buckets)
      values.foreach(bucket => needed.set(bucket.asInstanceOf[Int]))
      Some(known.fold(needed)(_ & needed))
    }

  /** Known during planning, from the same file listing that the scan reads. */
  lazy val strays: Strays = Strays.of(scan, evidence)

  /** The file listing, used both for planning and for reading. */
  @transient override lazy val selectedPartitions: ScanFileListing = {
    val listing = scan.selectedPartitions
    driverMetrics("numFiles").set(listing.totalNumberOfFiles)
    driverMetrics("filesSize").set(listing.totalFileSize)
    if (relation.partitionSchema.nonEmpty) driverMetrics("numPartitions").set(listing.partitionCount)
    listing
  }

  override lazy val (outputPartitioning, outputOrdering): (Partitioning, Seq[SortOrder]) = mode match {
    case ReadMode.ByBucket(tasks) =>
      (ColocatedPartitioning(keys, tasks), if (isNative && tasks == buckets) orderingOfBuckets else Nil)
    case ReadMode.ByShare(shares, _) => (SpreadPartitioning(ColocatedPartitioning(keys, shares.residues), shares), Nil)
    case ReadMode.ByFilledBucket | ReadMode.ByBytes => (UnknownPartitioning(0), Nil)
  }

  /** Are all rows of a file in one task? Not if there may be strays, whose rows are shuffled to several tasks. */
  def readsWholeFiles: Boolean = !evidence.mayHaveStrays && (mode match {
    case _: ReadMode.ByBucket | ReadMode.ByFilledBucket => true
    case _: ReadMode.ByShare | ReadMode.ByBytes => false
  })

  /**
   * The scan to use if no operator needs the buckets. If filters select buckets, it skips the files of all others.
   *
   * @param prunable may a join find at run time which buckets are needed?
   */
  def ordinary(prunable: Boolean): SparkPlan =
    if (optionalBucketSet.isDefined || (prunable && mayPruneByKeys)) readBy(ReadMode.ByBytes)
    else asWithoutLayout

  /** The scan as of a table without buckets: operators above do not influence which rows are in which task. */
  override def asWithoutLayout: SparkPlan =
    // Spark's bucket pruning trusts file names, so it would skip strays that have needed rows.
    inPlace(if (isNative) stock.copy(disableBucketedScan = true, optionalBucketSet = None) else stock)

  /** The same scan whose buckets are assigned to tasks in another way. */
  def readBy(other: ReadMode): ColocatedScanExec = inPlace(copy(mode = other))

  /** The same scan whose tasks check the rows that they read. */
  def checkingInTasks: ColocatedScanExec = inPlace(copy(checksInTasks = true))

  /** The same scan, which does not read these columns. */
  def without(columns: AttributeSet): ColocatedScanExec = {
    val read = requiredSchema.filterNot(field => columns.exists(_.name == field.name))
    inPlace(copy(scan = scan.copy(output = output.filterNot(columns.contains), requiredSchema = StructType(read))))
  }

  private def inPlace[P <: SparkPlan](plan: P): P = {
    plan.copyTagsFrom(this)
    plan
  }

  /** The ordinary scan with all filters; their subqueries may have been planned meanwhile. */
  private def stock: FileSourceScanExec = scan.copy(partitionFilters = partitionFilters, dataFilters = dataFilters)

  private def orderingOfBuckets: Seq[SortOrder] =
    if (scan.outputOrdering.isEmpty || strays.nonEmpty) Nil else scan.outputOrdering

  @transient private lazy val trust: FileTrust = FileTrust(relation, evidence)

  /** Are there rows to check, and do the tasks read all bucket keys and all files, so that they can check them? */
  def mayCheckInTasks: Boolean =
    !checksInTasks && optionalBucketSet.isEmpty && bucketFilters.isEmpty &&
      evidence.layout.keys.forall(requiredSchema.fieldNames.contains) && (mode match {
        case _: ReadMode.ByBucket => trust.checksWhatItReads || (readsEachRow && strays.othersUnknown)
        case _: ReadMode.ByShare | ReadMode.ByFilledBucket => trust.checksWhatItReads
        case ReadMode.ByBytes => false
      })

  def trustsNames: Boolean = isNative && FileTrust.trustsNames(conf)

  private def isNative: Boolean = evidence.source == BucketSource.FileName

  override lazy val metadata: Map[String, String] = {
    val selected = s"${optionalBucketSet.fold(buckets)(_.cardinality())} out of $buckets"
    val read = mode match {
      case ReadMode.ByBucket(tasks) if tasks < buckets => s" (read as $tasks)"
      case ReadMode.ByBucket(_) if buckets < evidence.layout.most => s" (partitions have ${evidence.layout.numbers})"
      case ReadMode.ByShare(shares, split) =>
        s" (read in ${shares.describe}${if (shares.isSplit && !split) ", repeated for each" else ""})"
      case _ => ""
    }
    val shuffled = Option.when(strays.nonEmpty && mode != ReadMode.ByBytes)(
      "Strays" -> s"${strays.describe}, shuffled to their buckets")
    stock.metadata ++ shuffled ++ Map(
      "Bucketed" -> (if (mode == ReadMode.ByBytes) "false (pruned by bucket only)" else "true"),
      "SelectedBucketsCount" -> (selected + read)) ++
      Option.when(bucketFilters.nonEmpty)("BucketFilters" -> bucketFilters.mkString("[", ", ", "]")) ++
      placement.map(found => "BucketHosts" -> s"${found.hosts} hosts, preferred by the tasks of their buckets")
  }

  // If rows are asked for, Parquet's vectorized reader returns rows of another class than UnsafeRow; ORC's does not.
  private lazy val needsUnsafeRowConversion: Boolean =
    relation.fileFormat.isInstanceOf[ParquetFileFormat] && conf.parquetVectorizedReaderEnabled

  override lazy val metrics: Map[String, SQLMetric] =
    super.metrics ++ (if (strays.nonEmpty) strayMetrics else Nil) ++ placement.fold(Seq.empty[(String, SQLMetric)])(_ =>
      Seq(
        AtHost -> SQLMetrics.createMetric(sparkContext, "number of tasks on a host of their buckets"),
        Elsewhere -> SQLMetrics.createMetric(sparkContext, "number of tasks on other hosts")))

  /** None where tasks prefer no hosts, also if they read files whatever their buckets. */
  private lazy val placement: Option[BucketHosts] =
    if (mode == ReadMode.ByBytes) None else BucketHosts.of(sparkContext, conf, evidence.group)

  private lazy val strayMetrics: Map[String, SQLMetric] =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sparkContext) ++
      SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sparkContext) ++ Map(
        StrayRows.Shuffled -> SQLMetrics.createMetric(sparkContext, "number of rows of strays"),
        StrayRows.Batches -> SQLMetrics.createMetric(sparkContext, "number of batches of strays"))

  lazy val inputRDD: RDD[InternalRow] = {
    val files = filesToRead
    val check = Option.when(files.unchecked.nonEmpty)(trust.inTasks(files.unchecked, columnsRead, readsEachRow))
    mode match {
      case ReadMode.ByBucket(tasks) =>
        withStrays(placed(files.byBucket(tasks), check), files.straysByBytes(relation), tasks)
      case ReadMode.ByFilledBucket => placed(files.byFilledBucket, check)
      case ReadMode.ByShare(shares, split) => placed(files.byShare(shares, split, relation), check)
      case ReadMode.ByBytes => rddOf(files.byBytes(relation))
    }
  }

  /**
   * The same files for an operator that reads those of a task in turns: one file in each partition. Only for Delta's
   * files, which are not checked while they are read, and for scans that read whole files in batches.
   */
  def byFile: ScannedFiles = executeQuery { // the filters' subqueries have ended
    val tasks = mode match {
      case ReadMode.ByBucket(count) => filesToRead.byBucket(count)
      case ReadMode.ByFilledBucket => filesToRead.byFilledBucket
      case other => throw SparkException.internalError(s"${evidence.table} is read $other, which splits files")
    }
    val files = tasks.flatMap(_.files).zipWithIndex.map { case (file, index) => FilePartition(index, Array(file)) }
    ScannedFiles(counted(rddOf(files, wholeFileReader)), tasks, placesOf(tasks))
  }

  /** Filters skip row groups; without them, the rows of a file can be counted. */
  private def wholeFileReader: PartitionedFile => Iterator[InternalRow] =
    RowNumbers.of(requiredSchema).filter(_ => skipsFewRows)
      .fold(readFile)(numbers => numbers.added(reader(Nil, numbers.required)))

  private def filesToRead: BucketedFiles = {
    val files = filesOf(dynamicallySelectedPartitions.toPartitionArray.toSeq)
    if (bucketFilters.nonEmpty) files.selectedSize.foreach { case (metric, value) => driverMetrics(metric).set(value) }
    sendDriverMetrics()
    files
  }

  /** The files to read, by bucket. */
  protected def filesOf(listed: Seq[PartitionedFile]): BucketedFiles =
    BucketedFiles(listed.filter(mayHoldKeys), evidence, neededBuckets, trust, checksInTasks)

  /** May the file hold a needed key? More exact than `neededBuckets` if range partitions differ in buckets. */
  private def mayHoldKeys(file: PartitionedFile): Boolean = neededHashes.forall(_.exists(evidence.mayHold(file, _)))

  private lazy val neededHashes: Option[Seq[Int]] =
    if (evidence.layout.partitions.isEmpty) None else BucketPruning.hashes(keys, dataFilters)

  /** May the tasks read every row of the files that they check? */
  private def readsEachRow: Boolean = isNative && mode.isInstanceOf[ReadMode.ByBucket] && skipsFewRows

  /** May pushed filters be left out? IS NOT NULL skips few rows. */
  private def skipsFewRows: Boolean = dataFilters.forall(_.isInstanceOf[IsNotNull])

  private def columnsRead: StructType = new StructType(requiredSchema.fields ++ relation.partitionSchema.fields)

  private lazy val readFile: PartitionedFile => Iterator[InternalRow] = reader(pushedDownFilters)

  private def reader(
      filters: Seq[Filter], columns: StructType = requiredSchema): PartitionedFile => Iterator[InternalRow] =
    relation.fileFormat.buildReaderWithPartitionValues(
      sparkSession = relation.sparkSession,
      dataSchema = relation.dataSchema,
      partitionSchema = relation.partitionSchema,
      requiredSchema = columns,
      filters = filters,
      options = relation.options + (FileFormat.OPTION_RETURNING_BATCH -> supportsColumnar.toString),
      hadoopConf = castToImpl(relation.sparkSession).sessionState.newHadoopConfWithOptions(relation.options))

  /** Each task reads its files on a host of their buckets, if it can. */
  private def placed(tasks: Seq[FilePartition], check: Option[CheckInTask]): RDD[InternalRow] = check match {
    case None => rddOf(tasks, places = placesOf(tasks))
    case Some(found) =>
      val read = RowGroupSlices.reader(if (found.readsEachRow) reader(Nil) else readFile)
      rddOf(tasks, found.reader(read), placesOf(tasks)).mapPartitionsInternal(OpenReads.add(_))
  }

  private def placesOf(tasks: Seq[FilePartition]): Option[TaskPlaces] = placement.map { hosts =>
    TaskPlaces(
      hosts.ofTasks(tasks, evidence),
      longMetric(AtHost),
      longMetric(Elsewhere),
      HostHits.of(sparkContext, evidence.table))
  }

  private def rddOf(
      tasks: Seq[FilePartition],
      read: PartitionedFile => Iterator[InternalRow] = RowGroupSlices.reader(readFile),
      places: Option[TaskPlaces] = None): RDD[InternalRow] = {
    val session = relation.sparkSession
    val extractors = relation.fileFormat.fileConstantMetadataExtractors
    val options = new FileSourceOptions(CaseInsensitiveMap(relation.options))
    places match {
      case None => new FileScanRDD(session, read, tasks, columnsRead, fileConstantMetadataColumns, extractors, options)
      case Some(found) =>
        new PlacedScanRDD(session, read, tasks, columnsRead, fileConstantMetadataColumns, extractors, options, found)
    }
  }

  /** Each task returns the rows of its bucketed files, then the rows of strays that are in its buckets. */
  private def withStrays(bucketed: RDD[InternalRow], strays: Seq[FilePartition], tasks: Int): RDD[InternalRow] =
    if (strays.isEmpty) bucketed
    else if (outputOrdering.nonEmpty) {
      throw SparkException.internalError(s"${evidence.table} has got strays since its rows were taken for sorted")
    } else {
      val rows = StrayRows(rddOf(strays), output, keys, dataFilters, strayMetrics)
      val shuffled =
        if (supportsColumnar) rows.batchesByTask(tasks, conf.offHeapColumnVectorEnabled, conf.columnBatchSize)
        else rows.byTask(tasks)
      bucketed.zipPartitions(shuffled)(_ ++ _)
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

  override protected def doExecuteColumnar(): RDD[ColumnarBatch] = counted(inputRDD)

  private def counted(read: RDD[InternalRow]): RDD[ColumnarBatch] = {
    val numOutputRows = longMetric("numOutputRows")
    val scanTime = longMetric("scanTime")
    read.asInstanceOf[RDD[ColumnarBatch]].mapPartitionsInternal { batches =>
      new Iterator[ColumnarBatch] {
        // hasNext reads the file, so its time is measured.
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
      scan = stock.canonicalized.asInstanceOf[FileSourceScanExec],
      evidence = evidence.copy(table = ""),
      keys = keys.map(QueryPlan.normalizeExpressions(_, output)),
      partitionFilters = Nil,
      dataFilters = Nil,
      bucketFilters = bucketFilters.map(QueryPlan.normalizeExpressions(_, output)),
      checksInTasks = false)
}

object ColocatedScanExec {
  private val AtHost = "tasksAtHost"
  private val Elsewhere = "tasksElsewhere"
}
