package org.apache.spark.sql.colocate.ops.jobs

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.json4s.JValue

/** The parts of a table that have strays: all of a Delta table, or a folder with data files of a native one. */
private[jobs] object StrayParts extends JobTask {

  override def run(session: SparkSession, table: JobTable, args: JValue): Any = {
    val scan = FinishRewrites.without(MemberScan.of(session, table))
    val left = UnfinishedRewrites.folders(session, scan).map(_ -> Seq.empty[PartitionedFile])
    (left.toMap ++ byPart(table, scan)).toSeq.sortBy(_._1).map { case (part, files) =>
      BucketSizes.sizes(files) + ("part" -> part)
    }
  }

  /** Strays by part; a folder is named relative to the table's, or in full if it lies elsewhere. */
  def byPart(table: JobTable, scan: MemberScan): Map[String, Seq[PartitionedFile]] =
    if (table.isDelta) Option.when(scan.strays.nonEmpty)("" -> scan.strays).toMap
    else scan.strays.groupBy(file => folder(scan.root, file.toPath.getParent))

  def folder(root: Path, of: Path): String =
    if (of.toUri.getPath == root.toUri.getPath) "" else within(root, of).getOrElse(of.toString)

  /** A path relative to the table's folder; None if it lies elsewhere. */
  def within(root: Path, path: Path): Option[String] = {
    val above = root.toUri.getPath.stripSuffix("/") + "/"
    Option(path.toUri.getPath).filter(_.startsWith(above)).map(_.substring(above.length))
  }
}
