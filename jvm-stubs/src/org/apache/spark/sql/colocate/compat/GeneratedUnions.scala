package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.internal.SQLConf

/** Whether unions get generated code of their own. Spark 4.1's never do, and it has no such setting. */
object GeneratedUnions {
  def areOn(conf: SQLConf): Boolean = conf.getConf(SQLConf.WHOLESTAGE_UNION_CODEGEN_ENABLED)
}
