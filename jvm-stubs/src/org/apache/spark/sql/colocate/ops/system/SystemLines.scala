package org.apache.spark.sql.colocate.ops.system

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.bridge.{ControlPlane, LocalRows}
import org.apache.spark.sql.colocate.scan.HostHits
import org.apache.spark.sql.types.StructType
import org.json4s.JValue

/**
 * The rows of the system tables: the control plane's part by its verbs, files and bytes from the members themselves.
 */
class SystemLines(session: SparkSession) {

  private type Line = Map[String, Any]

  /** The rows of a table that the control plane has itself. */
  def ofControlPlane(table: String, schema: StructType): Seq[Line] =
    ControlPlane.call(session, "rows", "table" -> table).children.map(typed(_, schema))

  def groups(schema: StructType, wanted: Set[String]): Seq[Line] = {
    val lines = ofControlPlane("colocation_groups", schema)
    if (!wanted("bytes")) lines
    else {
      val bytes = members.groupMapReduce(_.group)(files(_).toSeq.flatten.map(_.bytes).sum)(_ + _)
      lines.map(line => line + ("bytes" -> bytes.getOrElse(line("group_name").toString, 0L)))
    }
  }

  def tables(schema: StructType, wanted: Set[String]): Seq[Line] = {
    val listed = wanted.exists(Set("strays", "files", "bytes", "layout_state"))
    reported.zip(members).map { case (json, member) =>
      typed(json, schema) ++ (if (listed) sums(files(member)) else Map.empty)
    }
  }

  private def sums(files: Option[Seq[BucketStats]]): Line =
    files.fold[Line](Map("layout_state" -> "missing")) { found =>
    Map(
      "strays" -> found.filter(_.bucket.isEmpty).map(_.files).sum.toInt,
      "files" -> found.map(_.files).sum,
      "bytes" -> found.map(_.bytes).sum)
  }

  private def files(member: MemberFacts): Option[Seq[BucketStats]] = MemberFiles.of(session, member, rows = false)

  def buckets(schema: StructType, wanted: Set[String]): Seq[Line] = {
    val sequences = new Sequences(session)
    for {
      (json, member) <- reported.zip(members)
      line = typed(json, schema)
      tasks = HostHits.counted(s"${member.db}.${member.table}")
      bucket <- byBucket(member, wanted("rows"))
    } yield Map(
      "group" -> member.group,
      "db" -> member.db,
      "table" -> member.table,
      "bucket" -> bucket.bucket.map(Int.box).orNull,
      "files" -> bucket.files,
      "rows" -> bucket.rows.map(Long.box).orNull,
      "bytes" -> bucket.bytes,
      "hosts" ->
        (if (wanted("hosts")) bucket.bucket.fold(Seq.empty[String])(sequences.hosts(member.groupId, _)) else Nil),
      "state" -> (if (bucket.bucket.isEmpty) "stray" else line("layout_state")),
      "is_stable" -> (wanted("is_stable") && bucket.bucket.exists(sequences.isStable(member.groupId, _))),
      "host_hit_rate" -> bucket.bucket.flatMap(tasks.get).map(found => Double.box(found.hitRate)).orNull)
  }

  /** Every bucket has a line, the empty ones too; strays share one whose bucket is null. A missing table has none. */
  private def byBucket(member: MemberFacts, rows: Boolean): Seq[BucketStats] =
    MemberFiles.of(session, member, rows).toSeq.flatMap { files =>
      val found = files.groupMapReduce(_.bucket)(identity)(_ + _)
      val all = (0 until member.buckets).map(b => found.getOrElse(Some(b), BucketStats(Some(b), 0, 0, Some(0))))
      all ++ found.get(None)
    }

  private lazy val reported: Seq[JValue] = ControlPlane.call(session, "table_rows").children

  private lazy val members: Seq[MemberFacts] = {
    val counts = ControlPlane.call(session, "rows", "table" -> "colocation_groups").children
      .map(group => (group \ "group_name").extract[String] -> (group \ "buckets").extract[Int]).toMap
    reported.map { line =>
      def text(field: String) = (line \ field).extract[String]
      MemberFacts(text("group"), text("group_id"), text("db"), text("table"), text("format"), counts(text("group")))
    }
  }

  private def typed(json: JValue, schema: StructType): Line =
    schema.map(field => field.name -> LocalRows.value(json \ field.name, field.dataType)).toMap
}

/** The hosts of each bucket and whether it is stable, fetched once for each group and listing. */
class Sequences(session: SparkSession) {

  private val known = scala.collection.mutable.Map.empty[String, Seq[Seq[String]]]
  private val stable = scala.collection.mutable.Map.empty[String, Seq[Boolean]]

  def isStable(groupId: String, bucket: Int): Boolean = stable.getOrElseUpdate(
    groupId, ControlPlane.call(session, "stable_buckets", "group_id" -> groupId).extract[Seq[Boolean]])
    .lift(bucket).contains(true)

  def hosts(groupId: String, bucket: Int): Seq[String] =
    known.getOrElseUpdate(groupId, sequence(groupId)).lift(bucket).getOrElse(Nil)

  private def sequence(groupId: String): Seq[Seq[String]] =
    ControlPlane.call(session, "bucket_hosts", "group_id" -> groupId).extract[Seq[Seq[String]]]
}
