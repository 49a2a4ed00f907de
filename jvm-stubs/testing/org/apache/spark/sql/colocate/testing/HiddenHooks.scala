package org.apache.spark.sql.colocate.testing

import org.apache.spark.SparkEnv

/**
 * Private parts of Spark and Delta that are taken for gone: `spark.colocate.testing.hiddenHooks`, with commas, at the
 * start.
 */
private[testing] object HiddenHooks {

  val Key = "spark.colocate.testing.hiddenHooks"

  def names: Set[String] =
    Option(SparkEnv.get).toSeq.flatMap(_.conf.get(Key, "").split(',')).map(_.trim).filter(_.nonEmpty).toSet
}
