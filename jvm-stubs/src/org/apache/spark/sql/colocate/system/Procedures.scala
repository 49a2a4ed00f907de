package org.apache.spark.sql.colocate.system

import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure

/** The procedures of namespace `system`: `CALL system.<name>(...)`. Most call one verb of the control plane. */
class Procedures(ofParts: Seq[SystemProcedure]) {

  private val all: Seq[SystemProcedure] = Procedures.ofGroups ++ ofParts

  def load(ident: Identifier): Option[UnboundProcedure] = all.find(_.name().equalsIgnoreCase(ident.name()))

  def list: Seq[Identifier] = all.map(procedure => Identifier.of(Procedures.Namespace, procedure.name()))
}

object Procedures {

  private val Namespace = Array("system")

  private val ofGroups: Seq[SystemProcedure] =
    Seq(ExplainProcedure, SetGroupStable, PurgeGroup, SetReplication, SetConfig, ShowConfig, Reconcile)
}
