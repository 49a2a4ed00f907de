package org.apache.spark.sql.execution.colocate.shuffle

import java.io._
import java.nio.ByteBuffer
import scala.reflect.ClassTag

import org.apache.spark.serializer.{DeserializationStream, SerializationStream, Serializer, SerializerInstance}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Rows of a shuffle in their [[PackedForm]], in blocks. The partition's number, which a shuffle has for a key, is not
 * written: the reader knows it. A block holds whole rows and knows nothing of others, so blocks can be moved.
 *
 * @param dataSize counts the bytes of the rows before they are packed, as Spark's own serializer does
 */
class PackedRowSerializer(form: PackedForm, dataSize: SQLMetric) extends Serializer with Serializable {
  override def newInstance(): SerializerInstance = new PackedRows(form, dataSize)
  override def supportsRelocationOfSerializedObjects: Boolean = true
}

private class PackedRows(form: PackedForm, dataSize: SQLMetric) extends SerializerInstance {

  override def serializeStream(out: OutputStream): SerializationStream = new PackingStream(form, dataSize, out)

  override def deserializeStream(in: InputStream): DeserializationStream = new UnpackingStream(form, in)

  // A shuffle never writes single objects.
  override def serialize[T: ClassTag](value: T): ByteBuffer = throw new UnsupportedOperationException
  override def deserialize[T: ClassTag](bytes: ByteBuffer): T = throw new UnsupportedOperationException
  override def deserialize[T: ClassTag](bytes: ByteBuffer, loader: ClassLoader): T =
    throw new UnsupportedOperationException
}

private class PackingStream(form: PackedForm, dataSize: SQLMetric, target: OutputStream) extends SerializationStream {
  private[this] val out = new DataOutputStream(target)
  private[this] val packer = new RowPacker(form)
  private[this] var unpackedBytes = 0L

  override def writeKey[T: ClassTag](key: T): SerializationStream = this

  override def writeValue[T: ClassTag](value: T): SerializationStream = {
    val row = value.asInstanceOf[UnsafeRow]
    unpackedBytes += row.getSizeInBytes
    packer.add(row)
    if (packer.size >= PackingStream.BlockBytes) writeBlock()
    this
  }

  private def writeBlock(): Unit = {
    packer.writeTo(out)
    dataSize.add(unpackedBytes)
    unpackedBytes = 0
  }

  // A shuffle that sorts rows by partition flushes after each one, and takes what was written for that row.
  override def flush(): Unit = {
    writeBlock()
    out.flush()
  }

  override def close(): Unit = {
    writeBlock()
    out.close()
  }

  override def writeObject[T: ClassTag](value: T): SerializationStream = throw new UnsupportedOperationException
  override def writeAll[T: ClassTag](values: Iterator[T]): SerializationStream = throw new UnsupportedOperationException
}

private object PackingStream {

  /** About what a compressor takes at a time. */
  val BlockBytes: Int = 32 << 10
}

private class UnpackingStream(form: PackedForm, source: InputStream) extends DeserializationStream {
  private[this] val in = new DataInputStream(source)

  override def asKeyValueIterator: Iterator[(Any, Any)] = new Iterator[(Any, Any)] {
    private[this] val unpacker = new RowUnpacker(form)
    private[this] var pair: (Int, InternalRow) = _
    private[this] var isOpen = true

    override def hasNext: Boolean = unpacker.hasNext || (isOpen && readBlock())

    override def next(): (Any, Any) = {
      if (!hasNext) throw new NoSuchElementException
      val row = unpacker.next()
      if (pair == null) pair = (0, row) // it is the same row each time
      pair
    }

    private def readBlock(): Boolean = {
      val first = in.read()
      isOpen = first >= 0
      if (isOpen) unpacker.readFrom(in, first << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort())
      else in.close()
      isOpen
    }
  }

  override def close(): Unit = in.close()

  override def readObject[T: ClassTag](): T = throw new UnsupportedOperationException
  override def asIterator: Iterator[Any] = throw new UnsupportedOperationException
}
