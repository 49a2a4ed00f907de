package org.apache.spark.sql.colocate.layout

/** The name that Spark's own writer gives to a file of a natively bucketed table. */
object BucketFileName {

  private val FileName = """part-\d{5,}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_(\d{5,})\.c\d{3,}(?:\..*)?""".r

  /** The bucket id of a native file, if its name is one that Spark's own writer gives. */
  def bucketOf(fileName: String, buckets: Int): Option[Int] = fileName match {
    case FileName(digits) => digits.toIntOption.filter(_ < buckets)
    case _ => None
  }
}
