package org.apache.spark.sql.colocate.evidence.delta

import org.apache.spark.sql.colocate.compat.delta.DeltaSnapshot
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.types.{Metadata, MetadataBuilder, StructType}

/**
 * Says of a snapshot of a Delta table that some of its files may have rows of other buckets: a property, which people
 * see, and metadata of the bucket column. A property may be unset by any session; that proves nothing about the rows.
 */
object DamageMark {

  val Name = "colocate.damaged"

  def isSet(snapshot: DeltaSnapshot): Boolean = isSet(snapshot.schema, snapshot.properties)

  def isSet(schema: StructType, properties: Map[String, String]): Boolean =
    properties.get(Name).contains("true") ||
      schema.exists(field => field.name == BucketColumn.Name && field.metadata.contains(Name))

  /** Sets it in a commit of its own, after a check that has found such rows. */
  def set(transaction: DeltaTransaction): Unit =
    transaction.commit(
      marked(transaction.schema)(_.putBoolean(Name, true)), transaction.properties + (Name -> "true"), Nil)

  /** Takes it off in a commit of its own. */
  def clear(transaction: DeltaTransaction): Unit =
    transaction.commit(unmarked(transaction.schema), transaction.properties - Name, Nil)

  /** Takes it off together with what the transaction commits next; before anything is written. */
  def clearWith(transaction: DeltaTransaction): Unit =
    if (isSet(transaction.schema, transaction.properties))
      transaction.change(unmarked(transaction.schema), transaction.properties - Name)

  private def unmarked(schema: StructType): StructType = marked(schema)(_.remove(Name))

  private def marked(schema: StructType)(change: MetadataBuilder => MetadataBuilder): StructType =
    StructType(schema.map { field =>
      if (field.name != BucketColumn.Name) field
      else field.copy(metadata = changed(field.metadata, change))
    })

  private def changed(metadata: Metadata, change: MetadataBuilder => MetadataBuilder): Metadata =
    change(new MetadataBuilder().withMetadata(metadata)).build()
}
