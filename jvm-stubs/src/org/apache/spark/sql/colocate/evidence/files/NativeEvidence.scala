package org.apache.spark.sql.colocate.evidence.files

import org.apache.spark.sql.catalyst.catalog.{BucketSpec, CatalogTable, CatalogUtils}
import org.apache.spark.sql.colocate.layout.{BucketLayout, BucketSource, Evidence, EvidenceGap, KeyTypes}
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.types.StructType

/**
 * The proof of a native table's layout: Spark's bucket spec, and file names of Spark's *full* pattern.
 * Spark itself takes `data_1.parquet` for bucket 1; here such a file is a stray.
 */
object NativeEvidence {

  private[colocate] def of(
      files: HadoopFsRelation, table: Option[CatalogTable]): Option[Either[EvidenceGap, Evidence]] =
    for {
      catalogTable <- table
      property <- catalogTable.properties.get("colocate_with").filter(_.nonEmpty)
      spec <- files.bucketSpec
    } yield {
      val name = Evidence.nameOf(table, files)
      layoutOf(spec, files.schema) match {
        case Some(layout) =>
          val group = Evidence.groupOf(Some(property), table, files.location.rootPaths.mkString)
          Right(Evidence(layout, BucketSource.FileName, group, name, CatalogUtils.URIToString(catalogTable.location)))
        case None => Left(EvidenceGap.of("NO_LAYOUT_PROOF", "table" -> name))
      }
    }

  /** The layout of a bucket spec, if its keys are among the columns and of types that can be hashed alike. */
  def layoutOf(spec: BucketSpec, schema: StructType): Option[BucketLayout] = {
    val keys = spec.bucketColumnNames.flatMap(n => schema.fields.find(_.name == n))
    Option.when(keys.size == spec.bucketColumnNames.size && keys.forall(k => KeyTypes.provable(k.dataType)))(
      BucketLayout(keys.map(_.name), keys.map(_.dataType), spec.numBuckets))
  }
}
