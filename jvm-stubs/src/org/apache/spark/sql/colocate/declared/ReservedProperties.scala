package org.apache.spark.sql.colocate.declared

import java.util.Locale

import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.{ColocateException, Json}

/**
 * A table property that this project uses.
 *
 * @param kind   what it is part of: `group`, `ranges`, `model`, `tracking` (of rows, by Delta) or `internal`
 * @param create `checked` or `refused`
 * @param writer are a DataFrame writer's options of this name `carried` into the properties of a new table, or `left`?
 * @param alter  `checked`; `declared`: only to what the table was created with; or `refused`
 */
case class ReservedProperty(name: String, kind: String, create: String, writer: String, alter: String)

/** The properties of conf/properties.json. Their names are read whatever their case, and kept as they are there. */
object ReservedProperties {

  private lazy val all = (Json.resource("properties.json") \ "properties").extract[Seq[ReservedProperty]]

  private lazy val byName = all.map(one => lower(one.name) -> one).toMap

  def of(key: String): Option[ReservedProperty] = byName.get(lower(key))

  def isOf(kind: String, key: String): Boolean = of(key).exists(_.kind == kind)

  /** The options of a DataFrame writer that are properties of the table that it creates, by the properties' names. */
  def carried(options: Map[String, String]): Map[String, String] = options.flatMap { case (key, value) =>
    of(key).filter(_.writer == "carried").map(_.name -> value)
  }

  def withoutCarried(options: Map[String, String]): Map[String, String] =
    options.filterNot { case (key, _) => of(key).exists(_.writer == "carried") }

  /** Fails for a property that only this project sets. */
  def refuseInCreate(table: String, properties: Map[String, String]): Unit =
    properties.keys.find(of(_).exists(_.create == "refused")).foreach(refuse(table, _))

  def refuseInAlter(table: String, key: String): Unit = of(key).filter(_.alter == "refused").foreach { _ =>
    refuse(table, key)
  }

  private def refuse(table: String, key: String): Nothing =
    throw new ColocateException("PROPERTY_RESERVED",
      s"Cannot set or unset '$key' of $table: only checks and repairs do, which have looked at the table's rows. " +
        s"Leave it out; CALL system.verify and CALL system.repair bring it up to date.")

  private def lower(key: String): String = key.toLowerCase(Locale.ROOT)
}
