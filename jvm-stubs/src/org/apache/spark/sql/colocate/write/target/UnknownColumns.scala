package org.apache.spark.sql.colocate.write.target

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.types._

/** The columns, and the fields within them, that one schema has and another lacks, by their paths. */
private[target] object UnknownColumns {

  def of(loaded: StructType, known: StructType, resolver: Resolver): Seq[String] =
    loaded.toSeq.flatMap { field =>
      known.find(k => resolver(k.name, field.name)) match {
        case Some(found) => within(field.dataType, found.dataType, resolver).map(field.name + "." + _)
        case None => Seq(field.name)
      }
    }

  private def within(loaded: DataType, known: DataType, resolver: Resolver): Seq[String] = (loaded, known) match {
    case (g: StructType, k: StructType) => of(g, k, resolver)
    case (ArrayType(g, _), ArrayType(k, _)) => within(g, k, resolver)
    case (MapType(gk, gv, _), MapType(kk, kv, _)) => within(gk, kk, resolver) ++ within(gv, kv, resolver)
    case _ => Nil
  }
}
