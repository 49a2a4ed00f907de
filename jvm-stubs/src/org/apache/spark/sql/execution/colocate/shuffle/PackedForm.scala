package org.apache.spark.sql.execution.colocate.shuffle

import java.nio.ByteOrder
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.types.{PhysicalDataType, PhysicalDecimalType, PhysicalDoubleType, PhysicalLongType}
import org.apache.spark.sql.types.{DataType, UserDefinedType}
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * Rows without the padding of Spark's format. An UnsafeRow has eight bytes for each field, most of them zero, and pads
 * what lies behind them; in Parquet's terms it is several times the data, and all of it would be copied, compressed,
 * written, read and expanded on its way through a shuffle.
 *
 * A packed row is, for each word of the null bits and then for each field's, four bits that tell how many bytes follow
 * (0 to 8), two words to a byte; then those bytes, lowest first, with a variable-length field's content right behind
 * its length. Which bytes of a word come first depends on its kind (below) alone, so the form is exact for whatever the
 * row holds: unpacked, the row has the same words, and its contents in the order of the fields.
 *
 * @param kinds the kind of each word, those of the null bits first
 */
case class PackedForm(fields: Int, kinds: Array[Byte]) {
  val words: Int = kinds.length
  val nullWords: Int = words - fields
  val headBytes: Int = (words + 1) / 2
}

object PackedForm {

  /** A small integer, a float, bits: as it is. */
  final val Plain = 0

  /** 64 bits with a sign: small negative numbers are to be short, too. */
  final val Signed = 1

  /** A double: its zeros are the low bytes. */
  final val Fraction = 2

  /** The length of a content of any length, and where it is. */
  final val Content = 3

  /** The same, with 16 bytes of room also for a null or a shorter value, because it can be changed in place. */
  final val Room = 4

  /** The bytes of a field that can be changed in place, and fits in no word. */
  final val RoomBytes = 16

  /** How many bytes behind the end of what is read or written may be touched. */
  final val Slack = 8

  /** The mask of a word's lowest n bytes, for each n from 0 to 8. */
  final val Mask: Array[Long] = Array.tabulate(9)(n => if (n == 0) 0L else -1L >>> (64 - 8 * n))

  /** Words are moved whole, lowest byte first. */
  val isPossible: Boolean = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN

  def of(types: Seq[DataType]): PackedForm = {
    val nulls = Seq.fill(UnsafeRow.calculateBitSetWidthInBytes(types.size) / 8)(Plain)
    PackedForm(types.size, (nulls ++ types.map(kind)).map(_.toByte).toArray)
  }

  /** The array with room for `bytes` and, where an array can have them, as many again. */
  def grown(array: Array[Byte], bytes: Long): Array[Byte] = {
    val most = ByteArrayMethods.MAX_ROUNDED_ARRAY_LENGTH
    if (bytes > most) throw new IllegalArgumentException(s"A row of $bytes bytes is larger than an array can be")
    Arrays.copyOf(array, math.min(2 * bytes, most).toInt)
  }

  private def kind(dataType: DataType): Int = dataType match {
    case user: UserDefinedType[_] => kind(user.sqlType)
    case fixed if UnsafeRow.isFixedLength(fixed) =>
      PhysicalDataType(fixed) match {
        case PhysicalLongType | _: PhysicalDecimalType => Signed
        case PhysicalDoubleType => Fraction
        case _ => Plain
      }
    case mutable if UnsafeRow.isMutable(mutable) => Room
    case _ => Content
  }
}
