package org.apache.spark.sql.colocate.ops

import org.apache.spark.sql.colocate.ops.hosts.PlaceWrites
import org.apache.spark.sql.colocate.ops.jobs.FinishRewrites
import org.apache.spark.sql.colocate.ops.system._
import org.apache.spark.sql.colocate.parts.{Part, PartRules}
import org.apache.spark.sql.colocate.system.{SystemProcedure, SystemView}

/** The part for operators of groups: hosts of buckets, jobs, the doctor, and the system tables. */
class OpsPart extends Part {

  override def rules: PartRules = PartRules(
    check = Seq("FinishRewrites" -> (FinishRewrites(_))),
    preparation = Seq("PlaceWrites" -> (_ => PlaceWrites)))

  override def procedures: Seq[SystemProcedure] =
    Seq(Advise, Doctor, RemoveLeftover, Colocate, Verify, Repair, Balance, PauseJob, ResumeJob, CancelJob, WaitJob)

  override def tables: Seq[SystemView] = SystemTables.all
}
