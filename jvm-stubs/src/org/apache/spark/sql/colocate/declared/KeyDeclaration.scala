package org.apache.spark.sql.colocate.declared

import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.layout.BucketColumn
import org.apache.spark.sql.types.{Metadata, MetadataBuilder, StructType}

/**
 * The key model that CREATE TABLE has checked, in the table's schema: as metadata of the bucket column. The table's
 * properties say the same for users; but any session may change them, also one without the extension, and that must not
 * change the rows of a query. A table without a key model has a declaration, too: that it has none.
 */
object KeyDeclaration {

  private val Key = "colocate.keyModel"

  /** @param properties of the table, as they were checked; those of other kinds are left out */
  def metadata(properties: Map[String, String]): Metadata =
    new MetadataBuilder().putString(Key, Json.write(KeyProperties.only(properties))).build()

  /** The properties that CREATE has checked, from a *snapshot's* schema. None of a table of an earlier version. */
  def of(schema: StructType): Option[Map[String, String]] =
    schema.find(_.name == BucketColumn.Name).map(_.metadata).filter(_.contains(Key)).map { metadata =>
      Json.parse(metadata.getString(Key)).extract[Map[String, String]]
    }
}
