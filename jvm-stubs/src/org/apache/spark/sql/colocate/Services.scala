package org.apache.spark.sql.colocate

import java.util.ServiceLoader
import scala.jdk.CollectionConverters._

/** The parts of the product, and of its tests, that others run without: found by META-INF/services of the jars. */
private[colocate] object Services {
  def of[S](service: Class[S]): Seq[S] = ServiceLoader.load(service, service.getClassLoader).asScala.toSeq
}
