package org.apache.spark.sql.colocate.catalog

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.bridge.GroupState
import org.apache.spark.sql.colocate.evidence.delta.DeltaCommands

/**
 * CONVERT TO DELTA of a member. Delta would take over the files but not their buckets, so that the table would name a
 * group into which it does not fit.
 */
private[catalog] object RefuseConversion {

  def apply(session: SparkSession, plan: LogicalPlan): Unit =
    DeltaCommands.converted(plan).foreach { named =>
      val table = session.sessionState.catalog.qualifyIdentifier(named)
      GroupState.current.member(table).foreach(member => refuse(table, member.group))
    }

  private def refuse(table: TableIdentifier, group: String): Nothing = {
    val name = table.copy(catalog = None)
    throw new ColocateException("CONVERT_OF_MEMBER",
      s"Cannot convert ${name.unquotedString} to Delta: it is in group $group, and Delta would not take over its " +
        s"buckets. For a Delta table in the group, copy it: CREATE TABLE ... USING delta CLUSTERED BY (...) INTO ... " +
        s"BUCKETS TBLPROPERTIES ('colocate_with'='...') AS SELECT * FROM ${name.quotedString}. To convert it, let it " +
        s"leave the group first: ALTER TABLE ${name.quotedString} SET TBLPROPERTIES ('colocate_with'='').")
  }
}
