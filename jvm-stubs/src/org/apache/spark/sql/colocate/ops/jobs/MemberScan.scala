package org.apache.spark.sql.colocate.ops.jobs

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.evidence.delta.{DamageMark, DeltaEvidence, DeltaIndexes}
import org.apache.spark.sql.colocate.evidence.verify.FileTrust
import org.apache.spark.sql.colocate.evidence.{BucketFiles, TableEvidence}
import org.apache.spark.sql.colocate.layout.{Evidence, EvidenceGap}
import org.apache.spark.sql.execution.datasources.{
  HadoopFsRelation, LogicalRelation, LogicalRelationWithTable, PartitionedFile
}
import org.apache.spark.sql.execution.PartitionedFileUtil

/** All files of a member's newest snapshot, with what proves their buckets. */
case class MemberScan(relation: HadoopFsRelation, evidence: Evidence, table: Option[CatalogTable]) {

  lazy val files: Seq[PartitionedFile] =
    relation.location.listFiles(Nil, Nil).flatMap { directory =>
      directory.files.map { file =>
        PartitionedFileUtil.getPartitionedFile(file, file.getPath, directory.values, 0, file.getLen)
      }
    }

  val trust: FileTrust = FileTrust(relation, evidence)

  /** Files that name a bucket and are not strays, with that bucket. */
  lazy val claims: Seq[(PartitionedFile, Int)] = {
    val known = trust.known
    files.filterNot(known.isStray).flatMap(file => evidence.bucketOf(file).map(file -> _))
  }

  lazy val strays: Seq[PartitionedFile] = {
    val claimed = claims.map(_._1.filePath).toSet
    files.filterNot(file => claimed(file.filePath))
  }

  private lazy val strayPaths: Set[String] = strays.map(_.toPath.toUri.getPath).toSet

  /** Is a file of Delta's log a stray? It is named as there. */
  def isStray(logged: String): Boolean = strayPaths(BucketFiles.located(root, logged).toUri.getPath)

  /** Does a Delta table say itself that it is damaged? */
  def isMarked: Boolean = 
    DamageMark.isSet(DeltaIndexes.schemaOf(relation), DeltaIndexes.propertiesOf(relation))

  def root: Path = new Path(evidence.root)
}

object MemberScan {

  def of(session: SparkSession, table: JobTable): MemberScan = {
    session.catalog.refreshTable(table.quoted)
    val plan = session.table(table.quoted).queryExecution.optimizedPlan
    val read = plan.collectFirst {
      case relation @ LogicalRelationWithTable(files: HadoopFsRelation, entry) => (relation, files, entry)
    }
    read match {
      case Some((relation: LogicalRelation, files, entry)) =>
        evidenceOf(relation, files, entry) match {
          case Some(Right(evidence)) => MemberScan(files, evidence, entry)
          case Some(Left(gap)) => throw new ColocateException("JOB_WITHOUT_LAYOUT",
              s"Cannot read the buckets of ${table.quoted}: ${gap.code} ${gap.args.mkString(", ")}. " +
                "EXPLAIN of a query on it says more.")
          case None => throw noBuckets(table)
        }
      case _ => throw noBuckets(table)
    }
  }

  private def evidenceOf(
      relation: LogicalRelation,
      files: HadoopFsRelation,
      entry: Option[CatalogTable]): Option[Either[EvidenceGap, Evidence]] = entry match {
    case Some(table) if DeltaIndexes.isPrepared(files.location) => Some(DeltaEvidence.forRepair(files, table))
    case _ => TableEvidence.of(relation)
  }

  private def noBuckets(table: JobTable): ColocateException = new ColocateException("JOB_WITHOUT_LAYOUT",
    s"Cannot read the buckets of ${table.quoted}: the table has none any more. CALL system.reconcile() brings the " +
      "groups to what the tables are.")
}
