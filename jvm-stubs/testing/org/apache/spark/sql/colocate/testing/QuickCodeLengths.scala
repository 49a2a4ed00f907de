package org.apache.spark.sql.colocate.testing

import java.util.regex.Pattern

import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.expressions.codegen.CodeFormatter

/**
 * To decide where to split a method, Spark measures each piece of code that it makes without its comments, by a pattern
 * that goes back over each run of blanks again and again: a tenth of the CPU of a session of tiny queries, in which
 * each piece of code is new. This one finds the same comments, and begins once for each run of blanks.
 */
object QuickCodeLengths {

  val comments: Pattern = Pattern.compile("""(?<![ |\t])[ |\t]*+/(?:\*[\s\S]*?\*/|/[\s\S]*?\n)""")

  /** Spark's own, by which a test sees that both find the same. */
  val ofSpark: Pattern = CodeFormatter.commentRegexp.pattern

  def install(): Unit = {
    val pattern = classOf[Regex].getDeclaredField("pattern")
    pattern.setAccessible(true)
    pattern.set(CodeFormatter.commentRegexp, comments)
  }
}
