package org.apache.spark.sql.colocate.compat.delta

/**
 * What the log says about a data file with tags.
 *
 * @param path     its URI
 * @param firstRow the number from which its rows are numbered; None without row tracking
 */
case class LoggedFile(path: String, tags: Map[String, String], firstRow: Option[Long])

/** A file that a command has chosen: partition values by physical name, rows, deleted ones included, and size. */
case class ChosenFile(partitionValues: Map[String, String], rows: Option[Long], bytes: Long)
