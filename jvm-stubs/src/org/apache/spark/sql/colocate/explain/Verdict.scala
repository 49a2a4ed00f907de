package org.apache.spark.sql.colocate.explain

/**
 * What the planner decided for one join, aggregate or window that touches a member.
 *
 * @param operator  the operator, its type and keys, without ids
 * @param colocated no Exchange was needed, thanks to the layout
 * @param code      COLOCATED, or a code of conf/reasons.json
 * @param text      as EXPLAIN shows it
 * @param group     full group name, if any member concerned is in a group
 * @param buckets   number of tasks by bucket, if colocated
 * @param left      the member on the left (or only) side, as `table (keys) into n buckets`
 * @param right     the same of the right side
 */
case class Verdict(
    operator: String,
    colocated: Boolean,
    code: String,
    text: String,
    group: Option[String],
    buckets: Option[Int],
    left: Option[String],
    right: Option[String]) {

  /** The same operator, not colocated for another reason. */
  def because(reason: Reason): Verdict = copy(colocated = false, code = reason.code, text = reason.text)
}
