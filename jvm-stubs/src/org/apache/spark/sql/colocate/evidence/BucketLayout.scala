package org.apache.spark.sql.colocate.evidence

import org.apache.spark.sql.types.DataType

/**
 * How a table's rows are distributed: bucket id = pmod(hash(keys), buckets) with Spark's Murmur3 `hash`.
 *
 * @param keys     names of the key columns, in hash order, spelled as in the table's schema
 * @param keyTypes their types, in the same order
 * @param buckets  number of buckets, at least 1
 */
case class BucketLayout(keys: Seq[String], keyTypes: Seq[DataType], buckets: Int)
