package org.apache.spark.sql.colocate

import java.util.ServiceLoader
import scala.jdk.CollectionConverters._

/** Finds the optional parts of the product, and of its tests, by META-INF/services of the jars. */
private[colocate] object Services {
  def of[S](service: Class[S]): Seq[S] = ServiceLoader.load(service, service.getClassLoader).asScala.toSeq
}
