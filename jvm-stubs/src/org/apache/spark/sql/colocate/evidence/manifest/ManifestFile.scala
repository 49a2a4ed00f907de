package org.apache.spark.sql.colocate.evidence.manifest

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import scala.io.Source

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.colocate.Json
import org.apache.spark.sql.colocate.Json.formats
import org.apache.spark.sql.colocate.evidence.files.FileStamp
import org.apache.spark.sql.colocate.layout.BucketLayout
import org.json4s.MappingException

/**
 * One append to a table's manifest: a file of JSON lines, never changed once it has its name. The first line has the
 * layout, each other line a file as it was when it was written or checked.
 */
object ManifestFile {

  private case class Head(version: Int, keys: List[String], types: List[String], buckets: Int)
  private case class Line(path: String, length: Long, modified: Long, stray: Boolean)

  private val Name = """manifest-[0-9a-f-]{36}\.json""".r

  /** Spark's listings skip names that begin with an underscore. */
  def folder(root: Path): Path = new Path(root, "_colocate")

  def isOne(path: Path): Boolean = Name.matches(path.getName)

  /** Atomic: the file gets its name last. */
  def write(fs: FileSystem, root: Path, layout: BucketLayout, known: Map[FileStamp, Boolean]): Path = {
    val id = UUID.randomUUID().toString
    val (draft, named) = (new Path(folder(root), s".draft-$id"), new Path(folder(root), s"manifest-$id.json"))
    val lines = Json.write(head(layout)) +: known.toSeq.map { case (file, stray) =>
      Json.write(Line(file.path, file.length, file.modified, stray))
    }
    val out = fs.create(draft, false)
    try out.write(lines.mkString("\n").getBytes(UTF_8)) finally out.close()
    if (!fs.rename(draft, named)) throw new IOException(s"$draft could not be renamed to $named")
    named
  }

  /** File -> is it a stray; nothing where the file is of another layout, damaged, or gone. */
  def read(fs: FileSystem, file: Path, layout: BucketLayout): Map[FileStamp, Boolean] =
    try {
      val in = Source.fromInputStream(fs.open(file), UTF_8.name)
      try parse(in.getLines(), layout) finally in.close()
    } catch {
      // Files without an entry are checked again.
      case _: IOException | _: MappingException => Map.empty
    }

  private def parse(lines: Iterator[String], layout: BucketLayout): Map[FileStamp, Boolean] =
    if (!lines.hasNext || Json.parse(lines.next()).extractOpt[Head].forall(_ != head(layout))) Map.empty
    else {
      lines
        .map(Json.parse(_).extract[Line])
        .map(line => FileStamp(line.path, line.length, line.modified) -> line.stray)
        .toMap
    }

  private def head(layout: BucketLayout): Head =
    Head(1, layout.keys.toList, layout.keyTypes.map(_.simpleString).toList, layout.buckets)
}
