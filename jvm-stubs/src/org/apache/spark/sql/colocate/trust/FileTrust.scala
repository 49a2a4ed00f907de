package org.apache.spark.sql.colocate.trust

import java.util.Locale

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogUtils}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.{ColocateException, Settings}
import org.apache.spark.sql.colocate.layout.{BucketSource, Evidence, NativeEvidence}
import org.apache.spark.sql.execution.ScanFileListing
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, PartitionedFile}
import org.apache.spark.sql.internal.SQLConf

/**
 * How far the bucket that a file claims is believed (design 5a). A native file's name is a promise: the file counts once
 * it was written by us or checked; until then its keys are checked before it is read by bucket.
 */
case class FileTrust(relation: HadoopFsRelation, evidence: Evidence) {
  import FileTrust._

  private def conf: SQLConf = relation.sparkSession.sessionState.conf
  private def root: Path = new Path(evidence.root)
  private lazy val hadoopConf: Configuration =
    relation.sparkSession.sessionState.newHadoopConfWithOptions(relation.options)

  /** What planning goes by: nothing is checked, and no folder is listed twice for it. */
  def seen: Known =
    if (trustsNames(conf)) Known(root, Map.empty) else Manifest.seen(hadoopConf, root, evidence.layout)

  // Are the rows of every file checked by each query, whatever is known of them?
  private lazy val checksEach: Boolean =
    checksAll(conf) || (!trustsNames(conf) && OrcTimes.followReader(relation.fileFormat, evidence.layout))

  /** Can these native files be read by bucket without a check of their rows first? */
  def knowsAll(listing: ScanFileListing): Boolean = !checksEach && (trustsNames(conf) || {
    val known = seen
    listing.filePartitionIterator.flatMap(_.files).forall(file => known.isKnown(file.fileStatus))
  })

  /** Files that claim a bucket and are strays all the same. Fails with the file where one is found now. */
  def strays(claims: Seq[(PartitionedFile, Int)]): Set[PartitionedFile] = evidence.source match {
    case _: BucketSource.PartitionValue =>
      if (checksAll(conf)) reject(KeyCheck(relation, evidence.layout).run(claims))
      Set.empty
    case BucketSource.FileName if trustsNames(conf) && !checksEach => Set.empty
    case BucketSource.FileName => ofNative(claims)
  }

  private def ofNative(claims: Seq[(PartitionedFile, Int)]): Set[PartitionedFile] = {
    val known = Manifest.load(hadoopConf, root, evidence.layout)
    val (marked, named) = claims.partition { case (file, _) => known.isStray(file) }
    val unchecked = named.filter { case (file, _) => checksEach || !known.isChecked(file) }
    // A file that may be skipped or cut short while it is read can't be checked for good.
    if (skipsDamage) (marked ++ unchecked).map(_._1).toSet
    else {
      if (unchecked.nonEmpty) {
        val checked = KeyCheck(relation, evidence.layout).run(unchecked)
        val news = checked.filterNot(c => known.isChecked(c.file) && c.found.isEmpty)
        val stamped = news.map(c => FileStamp.of(root, c.file) -> c.found.isDefined).toMap
        Manifest.add(hadoopConf, root, evidence.layout, stamped)
        reject(checked)
      }
      marked.map(_._1).toSet
    }
  }

  /** Planning's part of that: such a file is a stray from the start. */
  def staysUnchecked(known: Known, file: FileStatus): Boolean =
    skipsDamage && (checksEach || (!trustsNames(conf) && !known.isKnown(file)))

  private lazy val skipsDamage: Boolean = {
    val options = new FileSourceOptions(CaseInsensitiveMap(relation.options))
    options.ignoreCorruptFiles || options.ignoreMissingFiles
  }

  private def reject(checked: Seq[CheckedFile]): Unit = checked.filter(_.found.isDefined).headOption.foreach { wrong =>
    val cure = evidence.source match {
      case BucketSource.FileName =>
        "The file counts as a stray from now on: run the query again, and its rows are shuffled to their buckets. " +
          s"INSERT OVERWRITE of ${evidence.table} writes them where they belong."
      case _: BucketSource.PartitionValue =>
        "SET disable_colocate_join = true reads the table without its layout; then rewrite the file's rows."
    }
    throw new ColocateException(
      "ROW_IN_WRONG_BUCKET",
      s"Cannot read ${evidence.table} by bucket: the file ${wrong.file.urlEncodedPath} claims bucket ${wrong.bucket}, " +
        s"but holds a row of bucket ${wrong.found.get}. Nothing was returned. $cure")
  }
}

object FileTrust {

  def trustsNames(conf: SQLConf): Boolean = is(conf, "spark.colocate.native.trust", "names")

  /** What the manifest of a native table says. */
  def known(session: SparkSession, table: CatalogTable): Known = {
    val root = new Path(CatalogUtils.URIToString(table.location))
    val layout = table.bucketSpec.flatMap(NativeEvidence.layoutOf(_, table.schema))
    layout.fold(Known(root, Map.empty))(Manifest.load(session.sessionState.newHadoopConf(), root, _))
  }

  def checksAll(conf: SQLConf): Boolean = is(conf, "spark.colocate.verify.onRead", "all")

  private def is(conf: SQLConf, key: String, value: String): Boolean =
    Settings.get(conf, key).trim.toLowerCase(Locale.ROOT) == value
}
