package org.apache.spark.sql.colocate

import org.json4s.jackson.{JsonMethods, Serialization}
import org.json4s.{DefaultFormats, Formats, JValue}

/** Reads and writes the JSON of calls to Python and of the files beside native tables; reads that of conf/. */
object Json {
  implicit val formats: Formats = DefaultFormats

  def parse(text: String): JValue = JsonMethods.parse(text)

  def write(value: AnyRef): String = Serialization.write(value)

  /** A resource of conf/, as it was packed into the jar. */
  def resource(name: String): JValue = {
    val stream = getClass.getResourceAsStream(s"/io/colocate/conf/$name")
    require(stream != null, s"the jar lacks conf/$name: build it again with ./run")
    try JsonMethods.parse(new String(stream.readAllBytes(), "UTF-8"))
    finally stream.close()
  }
}
