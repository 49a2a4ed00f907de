package org.apache.spark.sql.colocate.compat

import org.apache.spark.QueryContext
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin

/** A parser's error that is not Spark's own. Its place has an end, too, before Spark 4.1. */
abstract class OwnParseException(
    command: Option[String],
    start: Origin,
    condition: String,
    parameters: Map[String, String],
    context: Array[QueryContext])
    extends ParseException(command, start, start, condition, parameters, context)
