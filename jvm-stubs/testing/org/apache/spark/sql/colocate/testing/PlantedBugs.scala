package org.apache.spark.sql.colocate.testing

import org.apache.spark.sql.internal.SQLConf

/**
 * Wrong planners, for the fuzzer's own test: `./run fuzz --planted <name>` must find each of these. They are the
 * mistakes that this design could make and that others have shipped. The one that is planted is named by a setting, to
 * be set together with `spark.colocate.testing = quiet`: a bug may leave a plan that the rules after it refuse.
 */
object PlantedBugs {

  val Key = "spark.colocate.testing.plantedBug"

  /** What each one gets wrong. */
  val catalogue: Seq[(String, String)] = Seq(
    "subset_key" -> "a join on k1 is taken for served by buckets of (k1, k2)",
    "key_order" -> "buckets of (a, b) and of (b, a) are taken for the same",
    "key_type" -> "a cast key is taken for hashed as the plain one",
    "wrong_divisor" -> "every table is read as 3 buckets, whether 3 divides their number or not",
    "full_outer_keys" -> "a full outer join is taken to keep the keys of one side",
    "null_extended_side" -> "an outer join is taken to keep the keys of the side that it extends by nulls",
    "bucket_twice" -> "the files of one bucket are read twice",
    "last_bucket_dropped" -> "the last bucket is not read",
    "other_snapshot" -> "the layout of the first snapshot seen is kept, and files outside of it are passed over",
    "wrong_bucket_pruned" -> "key = literal reads the bucket after the right one",
    "strays_ignored" -> "files without a bucket are passed over",
    "stray_twice" -> "strays are shuffled, and read with the first bucket too",
    "stray_unshuffled" -> "strays are read with the first bucket",
    "aggregate_filter_lost" -> "partial and final aggregate become one that forgets FILTER",
    "union_zipped_wrong" -> "bucket i of one child of a union meets bucket i + 1 of the other",
    "sort_dropped" -> "a merge join within buckets reads unsorted rows",
    "deletion_vectors_ignored" -> "rows that a deletion vector marks come back",
    "partition_filter_lost" -> "partitions that the query excludes are read",
    "full_outer_split" -> "a bucket of a full outer join is split, so its unmatched rows come out for each part",
    "extended_side_split" ->
      "the null-extended side of an outer join is split, or the right one of a semi or anti join",
    "expand_key_nulled" -> "grouping sets that leave the key out are taken to keep it",
    "preserved_side_pruned" -> "an outer or anti join's preserved side is pruned by the keys of the broadcast one",
    "both_sides_split" -> "both sides of a split bucket are read in parts, so parts miss their matches",
    "shared_groups_lost" ->
      "of an aggregate that is used several times, the groups that only another use keeps are lost",
    "kept_rows_lost" -> "a task of a shuffle loses the rows that it kept, where more come than it may keep",
    "bound_taken_by_lower_range" -> "a row at the lower bound of a range partition is loaded into the one before",
    "null_taken_by_higher_range" -> "a null in a range column counts as above all bounds",
    "hole_filled" -> "a row of no range partition is loaded into the first one",
    "most_buckets_promised" -> "range partitions are taken for having as many buckets as the one with most of them",
    "declared_number_pruned" -> "key = literal prunes range partitions by the table's number of buckets, not by theirs",
    "first_load_replaces" -> "REPLACE takes the value of the first load",
    "keys_not_aggregated" -> "rows of one key that lie in several files stay several rows",
    "value_filter_below_keys" -> "a filter on a value column leaves loaded rows out before they become one row",
    "files_not_merged" -> "sorted files are read one after the other where they should be merged",
    "first_load_merged" -> "REPLACE takes the first row where files are merged in the order of their loads")

  def names: Array[String] = catalogue.map(_._1).toArray

  /** The planted one. */
  def planted: Option[String] = Option(SQLConf.get.getConfString(Key, null))

  def is(name: String): Boolean = planted.contains(name)
}
