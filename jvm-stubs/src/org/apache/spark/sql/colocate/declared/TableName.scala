package org.apache.spark.sql.colocate.declared

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.Identifier

/** The name of a table of the session catalog. */
object TableName {

  /** Database and table as the session catalog spells them. */
  def of(session: SparkSession, ident: Identifier): TableIdentifier = {
    val db = if (isPath(ident)) None else ident.namespace().lastOption
    session.sessionState.catalog.qualifyIdentifier(TableIdentifier(ident.name(), db))
  }

  /** The same for messages. */
  def shown(session: SparkSession, ident: Identifier): String =
    of(session, ident).copy(catalog = None).unquotedString

  /** delta.`/a/path`, by the rule with which Delta distinguishes it from a table in a database `delta`. */
  def isPath(ident: Identifier): Boolean =
    ident.namespace().toSeq.map(_.toLowerCase(java.util.Locale.ROOT)) == Seq("delta") && ident.name().contains("/") &&
      new Path(ident.name()).isAbsolute
}
