package io.colocate.spark

import org.apache.spark.sql.SparkSessionExtensions

/** Names that users type live here; what they do lives in org.apache.spark.sql.colocate. */
class ColocateExtensions extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = ()
}
