package org.apache.spark.sql.colocate.bridge

import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats

/** A colocation group as the control plane last told it. Names are full: `db.g`, or `__global__g`. */
case class GroupInfo(
    id: String,
    name: String,
    buckets: Int,
    keyTypes: Seq[String],
    replication: Int,
    stable: Boolean,
    placementStable: Boolean)

case class MemberInfo(db: String, table: String, group: String, location: Option[String])

/** One immutable picture of all groups. Evidence proves; this can only forbid (design D1). */
case class GroupSnapshot(version: Long, groups: Seq[GroupInfo], members: Seq[MemberInfo]) {
  lazy val byName: Map[String, GroupInfo] = groups.map(g => g.name -> g).toMap
  lazy val memberByTable: Map[(String, String), MemberInfo] = members.map(m => (m.db, m.table) -> m).toMap
  lazy val memberByLocation: Map[String, MemberInfo] = members.flatMap(m => m.location.map(_ -> m)).toMap
}

object GroupSnapshot {
  val Empty: GroupSnapshot = GroupSnapshot(0L, Nil, Nil)

  def fromJson(text: String): GroupSnapshot = Json.parse(text).extract[GroupSnapshot]
}

/** The picture that planning reads: one volatile read, no call to Python. */
object GroupState {
  @volatile private var snapshot: GroupSnapshot = GroupSnapshot.Empty

  def current: GroupSnapshot = snapshot

  /** The application has ended: another one in this JVM has a catalog, and versions, of its own. */
  def reset(): Unit = synchronized { snapshot = GroupSnapshot.Empty }

  /** Takes a newer picture; an older one that arrives late is dropped. */
  def update(next: GroupSnapshot): Unit = synchronized { if (next.version >= snapshot.version) snapshot = next }
}
