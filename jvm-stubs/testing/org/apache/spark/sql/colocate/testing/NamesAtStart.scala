package org.apache.spark.sql.colocate.testing

import org.apache.spark.SparkEnv

/** A setting that lists names, with commas, from the start of Spark on. */
private[testing] class NamesAtStart(key: String) {

  def names: Set[String] =
    Option(SparkEnv.get).toSeq.flatMap(_.conf.get(key, "").split(',')).map(_.trim).filter(_.nonEmpty).toSet
}

/** Private parts of Spark and Delta that are taken for gone. */
private[testing] object HiddenHooks extends NamesAtStart("spark.colocate.testing.hiddenHooks")

/** Rules that are left out. */
private[testing] object DroppedRules extends NamesAtStart("spark.colocate.testing.droppedRules")
