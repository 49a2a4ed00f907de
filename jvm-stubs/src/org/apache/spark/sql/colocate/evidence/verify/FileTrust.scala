package org.apache.spark.sql.colocate.evidence.verify

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogUtils}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.conf.Settings
import org.apache.spark.sql.colocate.evidence.files.{FileStamp, NativeEvidence, OrcTimes}
import org.apache.spark.sql.colocate.evidence.manifest.{KnownFiles, Manifest}
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence}
import org.apache.spark.sql.execution.ScanFileListing
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, PartitionedFile}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/**
 * @param strays    files that claim a bucket but are strays
 * @param unchecked files to be read by the bucket that they claim, once their rows are found to be in it
 */
case class FileVerification(strays: Set[PartitionedFile], unchecked: Set[PartitionedFile])

/**
 * Whether the bucket that a file claims is trusted. The name of a native file may be wrong: the file counts once we
 * wrote or checked it; until then its keys are checked when it is read by bucket.
 */
case class FileTrust(relation: HadoopFsRelation, evidence: Evidence) {
  import FileTrust._

  private def conf: SQLConf = relation.sparkSession.sessionState.conf
  private lazy val believesNames: Boolean = trustsNames(conf)
  private def root: Path = new Path(evidence.root)
  private lazy val hadoopConf: Configuration =
    relation.sparkSession.sessionState.newHadoopConfWithOptions(relation.options)

  /** The state for planning: nothing is checked, and no folder is listed twice for it. */
  def seen: KnownFiles =
    if (believesNames || !evidence.mayHaveStrays) KnownFiles(root, Map.empty)
    else Manifest.seen(hadoopConf, root, evidence.layout)

  // Are the rows of every file checked by each query, whatever is known of them?
  private lazy val checksEach: Boolean =
    checksAll(conf) || (!believesNames && OrcTimes.followReader(relation.fileFormat, evidence.layout))

  /** Can these native files be read by bucket without a check of their rows first? */
  def knowsAll(listing: ScanFileListing): Boolean = !checksEach && (believesNames || {
    val known = seen
    listing.filePartitionIterator.flatMap(_.files).forall(file => known.of(file.fileStatus).isDefined)
  })

  /** Does each query check the rows of every file, and may the tasks that read them do so? */
  def checksWhatItReads: Boolean = checksEach && !skipsDamage

  /** Files that claim a bucket but are strays, and those whose rows must still be checked. */
  def judge(claims: Seq[(PartitionedFile, Int)]): FileVerification = evidence.source match {
    case _: BucketSource.PartitionValue =>
      val (strays, named) = if (evidence.damaged) claims.map(_._1).partition(known.isStray) else (Nil, claims.map(_._1))
      FileVerification(strays.toSet, if (checksEach) named.toSet else Set.empty)
    case BucketSource.FileName if believesNames && !checksEach => FileVerification(Set.empty, Set.empty)
    case BucketSource.FileName => ofNative(claims.map(_._1))
  }

  /** What the table's manifest says now. */
  def known: KnownFiles =
    if (evidence.mayHaveStrays) Manifest.load(hadoopConf, root, evidence.layout) else KnownFiles(root, Map.empty)

  private def ofNative(files: Seq[PartitionedFile]): FileVerification = {
    val known = this.known
    val (marked, named) = files.partition(known.isStray)
    val unchecked = named.filter(checksEach || !known.isChecked(_))
    // A file that Spark may skip or read partly (ignoreCorruptFiles) can't be checked completely.
    if (skipsDamage) FileVerification((marked ++ unchecked).toSet, Set.empty)
    else FileVerification(marked.toSet, unchecked.toSet)
  }

  /** The same for planning: such a file counts as a stray. */
  def staysUnchecked(isStray: Option[Boolean]): Boolean = skipsDamage && (checksEach || isUnknown(isStray))

  /** Is a file that claims a bucket to be checked because nothing is known of it? */
  def isUnknown(isStray: Option[Boolean]): Boolean = isStray.isEmpty && !believesNames

  /** Like `judge`, and then checks what must be checked. Fails with the file's name if it finds a stray. */
  def judgeNow(claims: Seq[(PartitionedFile, Int)]): FileVerification = {
    val judged = judge(claims)
    if (judged.unchecked.nonEmpty) {
      val checked = KeyCheck(relation, evidence.layout).run(claims.filter { case (file, _) => judged.unchecked(file) })
      if (evidence.source == BucketSource.FileName) record(checked)
      for (wrong <- checked; found <- wrong.found)
        throw WrongBucketException.of(evidence, wrong.file, wrong.bucket, found)
    }
    judged.copy(unchecked = Set.empty)
  }

  /** Reads the keys of all these files. Those with a row of another bucket are strays from now on. */
  def verify(claims: Seq[(PartitionedFile, Int)]): Seq[CheckedFile] = {
    val checked = KeyCheck(relation, evidence.layout).run(claims)
    val wrong = checked.filter(_.found.isDefined)
    record(if (evidence.source == BucketSource.FileName) checked else wrong)
    wrong
  }

  private def record(checked: Seq[CheckedFile]): Unit = {
    val known = seen
    val news = checked.filterNot(c => known.isChecked(c.file) && c.found.isEmpty)
    Manifest.add(
      hadoopConf, root, evidence.layout, news.map(c => FileStamp.of(root, c.file) -> c.found.isDefined).toMap)
  }

  /**
   * Tasks check the rows of these files while they read them.
   *
   * @param columns      what is read, the bucket keys among it
   * @param readsEachRow whether no pushed filter skips rows
   */
  def inTasks(unchecked: Set[PartitionedFile], columns: StructType, readsEachRow: Boolean): CheckInTask =
    CheckInTask(
      evidence,
      KeyHash.of(evidence.layout, columns),
      Option.when(evidence.source == BucketSource.FileName)(logOf(unchecked)),
      readsEachRow)

  private def logOf(unchecked: Set[PartitionedFile]): CheckLog = {
    val known = seen
    val fs = root.getFileSystem(hadoopConf)
    var left = unchecked.map(FileStamp.of(root, _)).filterNot(known.files.contains)
    var strays = Set.empty[FileStamp]
    // A task that is tried again reports the same again.
    CheckLog.register(relation.sparkSession.sparkContext) { found =>
      val news = found.filter { case (file, isStray) => if (isStray) !strays(file) else left(file) }
      left --= news.keys
      strays ++= news.collect { case (file, true) => file }
      Manifest.remember(root, evidence.layout, news)
      if (news.nonEmpty && (left.isEmpty || news.values.exists(identity))) save(fs)
    }
  }

  private def save(fs: FileSystem): Unit = Manifest.saveSoon(fs, root, evidence.layout, evidence.table)

  private lazy val skipsDamage: Boolean = {
    val options = new FileSourceOptions(CaseInsensitiveMap(relation.options))
    options.ignoreCorruptFiles || options.ignoreMissingFiles
  }
}

object FileTrust {

  def trustsNames(conf: SQLConf): Boolean = Settings.get(conf, OnRead) == "never"

  /** The manifest of a native table. */
  def known(session: SparkSession, table: CatalogTable): KnownFiles = {
    val root = new Path(CatalogUtils.URIToString(table.location))
    val layout = table.bucketSpec.flatMap(NativeEvidence.layoutOf(_, table.schema))
    layout.fold(KnownFiles(root, Map.empty))(Manifest.load(session.sessionState.newHadoopConf(), root, _))
  }

  def checksAll(conf: SQLConf): Boolean = Settings.get(conf, OnRead) == "always"

  private val OnRead = "spark.colocate.verify.onRead"
}
