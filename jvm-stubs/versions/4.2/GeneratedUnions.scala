package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.internal.SQLConf

/** Whether unions get generated code of their own, as they can since Spark 4.2. */
object GeneratedUnions {
  def areOn(conf: SQLConf): Boolean = conf.getConf(SQLConf.WHOLESTAGE_UNION_CODEGEN_ENABLED)
}
