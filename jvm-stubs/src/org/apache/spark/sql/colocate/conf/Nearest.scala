package org.apache.spark.sql.colocate.conf

import org.apache.spark.unsafe.types.UTF8String

/** The name that somebody may have meant: that with the fewest letters to change. */
object Nearest {

  def apply(text: String, names: Iterable[String]): String = names.toSeq.sorted.minBy(distance(text, _))

  private def distance(a: String, b: String): Int =
    UTF8String.fromString(a).levenshteinDistance(UTF8String.fromString(b))
}
