package org.apache.spark.sql.colocate.bridge

import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats
import org.json4s.JsonAST.{JArray, JBool, JInt, JObject, JString, JValue}

import org.apache.spark.sql.catalyst.TableIdentifier

/** A colocation group as the control plane sent it last. Names are full: `db.g`, or `__global__g`. */
case class GroupInfo(
    id: String,
    name: String,
    buckets: Int,
    keyTypes: Seq[String],
    replication: Int,
    stable: Boolean,
    placementStable: Boolean,
    sequence: String) {

  /** For each bucket the backend ids of its hosts, the first choice first. */
  @transient lazy val hostIds: IndexedSeq[Seq[String]] =
    sequence.split(";", -1).toIndexedSeq.map(_.split(",").toSeq.filter(_.nonEmpty))
}

/**
 * @param damaged  a check has once found files of a Delta table that are not of the bucket that they claim
 * @param rewrites how often files of a native table were replaced by others with the same rows
 * @param rewriting a repair of a native table has begun to, and nobody has said that it is done
 */
case class MemberInfo(
    db: String,
    table: String,
    group: String,
    location: Option[String],
    damaged: Boolean = false,
    rewrites: Int = 0,
    rewriting: Boolean = false)

case class MemberName(db: String, table: String)

/**
 * The state of the groups as the control plane sends it: everything or, with `since`, what changed after that version.
 * `ended` and `left` are applied before `groups` and `members`, because a new group may have the name of an old one.
 * `hosts` are always all, by backend id, and so are the `lost` ones.
 */
case class GroupChanges(
    version: Long,
    since: Option[Long],
    hosts: Map[String, String],
    lost: Set[String],
    groups: Seq[GroupInfo],
    members: Seq[MemberInfo],
    ended: Seq[String],
    left: Seq[MemberName])

object GroupChanges {
  def fromJson(text: String): GroupChanges = of(Json.parse(text))

  /** Members are read field by field: there may be thousands, and json4s' extraction goes by reflection. */
  def of(json: JValue): GroupChanges = GroupChanges(
    (json \ "version").extract[Long],
    (json \ "since").extract[Option[Long]],
    (json \ "hosts").extract[Map[String, String]],
    (json \ "lost").extractOrElse(Set.empty[String]),
    (json \ "groups").extract[Seq[GroupInfo]],
    items(json \ "members").map { m =>
      MemberInfo(
        text(m, "db"), text(m, "table"), text(m, "group"), optional(m, "location"), m \ "damaged" == JBool.True,
        number(m, "rewrites"), m \ "rewriting" == JBool.True)
    },
    (json \ "ended").extract[Seq[String]],
    items(json \ "left").map(m => MemberName(text(m, "db"), text(m, "table"))))

  private def items(json: JValue): Seq[JValue] = json match {
    case JArray(found) => found
    case other => throw new IllegalArgumentException(s"The control plane sent $other for a list")
  }

  private def text(json: JValue, name: String): String =
    optional(json, name).getOrElse(throw new IllegalArgumentException(s"The control plane sent no $name in $json"))

  private def number(json: JValue, name: String): Int = json \ name match {
    case JInt(value) => value.toInt
    case _ => 0
  }

  private def optional(json: JValue, name: String): Option[String] = json match {
    case JObject(fields) => fields.collectFirst { case (`name`, JString(value)) => value }
    case _ => None
  }
}

/**
 * All groups at one version, immutable. It can only forbid the use of a layout; the proof of a layout is
 * [[org.apache.spark.sql.colocate.layout.Evidence]].
 */
case class GroupSnapshot(
    version: Long,
    hosts: Map[String, String],
    lost: Set[String],
    byName: Map[String, GroupInfo],
    memberByTable: Map[(String, String), MemberInfo],
    memberByLocation: Map[String, MemberInfo]) {

  def groups: Iterable[GroupInfo] = byName.values

  /** How often the files of each rewritten native table were rewritten. */
  lazy val rewrites: Map[(String, String), Int] =
    memberByTable.collect { case (name, member) if member.rewrites > 0 => name -> member.rewrites }

  /** Native tables whose files a repair may be moving. */
  lazy val rewriting: Set[(String, String)] =
    memberByTable.valuesIterator.filter(_.rewriting).map(member => member.db -> member.table).toSet

  def hasMembers: Boolean = memberByTable.nonEmpty

  /** @param table with its database, as the session catalog spells both */
  def member(table: TableIdentifier): Option[MemberInfo] = memberByTable.get(table.database.get -> table.table)

  /** For each bucket of a group the names of its hosts; None for an unknown group. */
  def hostsOf(group: String): Option[IndexedSeq[Seq[String]]] =
    byName.get(group).map(_.hostIds.map(_.flatMap(hosts.get)))

  /** How many buckets of a group are assigned to a host that is lost. */
  def onLostHosts(group: GroupInfo): Int = group.hostIds.count(_.exists(lost))

  /** How many have fewer hosts than the group's replication number, though more live. */
  def onTooFewHosts(group: GroupInfo): Int = {
    val copies = group.replication.min(hosts.keys.count(!lost(_))).max(1)
    group.hostIds.count(_.size < copies)
  }

  /** With the changes. Only the changed entries are touched. */
  def after(changes: GroupChanges): GroupSnapshot = {
    val gone = (changes.left.map(m => (m.db, m.table)) ++ changes.members.map(m => (m.db, m.table))).toSet
    val places = gone.flatMap(memberByTable.get).flatMap(_.location)
    GroupSnapshot(
      changes.version,
      changes.hosts,
      changes.lost,
      byName -- changes.ended ++ changes.groups.map(g => g.name -> g),
      memberByTable -- gone ++ changes.members.map(m => (m.db, m.table) -> m),
      memberByLocation -- places ++ changes.members.flatMap(m => m.location.map(_ -> m)))
  }
}

object GroupSnapshot {
  val Empty: GroupSnapshot = GroupSnapshot(0L, Map.empty, Set.empty, Map.empty, Map.empty, Map.empty)
}

/** The groups that planning reads: one volatile read, no call to Python. */
object GroupState {
  @volatile private var snapshot: GroupSnapshot = GroupSnapshot.Empty
  private var onReset: Seq[() => Unit] = Nil

  def current: GroupSnapshot = snapshot

  /** The application has ended. The next one in this JVM has another catalog, with its own versions. */
  def reset(): Unit = synchronized {
    snapshot = GroupSnapshot.Empty
    onReset.foreach(_.apply())
  }

  /** For what else a driver knows of one application alone. */
  def whenReset(action: () => Unit): Unit = synchronized { onReset :+= action }

  /**
   * Takes a newer version; an older one that arrives late is dropped. Returns false if the changes don't follow the
   * version that is here; then everything must be sent.
   */
  def update(changes: GroupChanges): Boolean = synchronized {
    val follows = changes.since.forall(_ <= snapshot.version)
    if (follows && changes.version >= snapshot.version) {
      snapshot = (if (changes.since.isDefined) snapshot else GroupSnapshot.Empty).after(changes)
    }
    follows
  }
}
