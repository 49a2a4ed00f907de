package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.internal.SQLConf

/** Whether unions get generated code of their own: they never do before Spark 4.2. */
object GeneratedUnions {
  def areOn(conf: SQLConf): Boolean = false
}
