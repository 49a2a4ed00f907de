package org.apache.spark.sql.colocate.testing

import io.delta.sql.DeltaSparkSessionExtension
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.classic.SparkSession

/** A session of Spark and Delta alone, over the catalog, the tables and the caches of a session with us. */
object StockSession {

  private val Catalog = "spark.sql.catalog.spark_catalog" -> "org.apache.spark.sql.delta.catalog.DeltaCatalog"

  def beside(session: SparkSession): SparkSession = {
    val extensions = new SparkSessionExtensions
    new DeltaSparkSessionExtension().apply(extensions)
    // Spark makes no such session: its own have the extensions of the first one.
    val constructor = classOf[SparkSession].getDeclaredConstructors.find(_.getParameterCount == 6).get
    constructor.setAccessible(true)
    constructor
      .newInstance(session.sparkContext, Some(session.sharedState), None, extensions, Map(Catalog), Map.empty)
      .asInstanceOf[SparkSession]
  }
}
