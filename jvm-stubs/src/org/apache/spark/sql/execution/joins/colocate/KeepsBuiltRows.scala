package org.apache.spark.sql.execution.joins.colocate

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans.{FullOuter, LeftOuter, RightOuter}
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.colocate.shuffle.Fields
import org.apache.spark.sql.execution.joins.HashJoin

/**
 * The code of a hash join with a LongKeyTable whose result has the built rows without a partner as well. Rows that find
 * one are marked; the others follow when the streamed side is at its end. Both places call one function for what is
 * done with a joined row, which may be long; it finds the two sides in fields.
 */
private[colocate] trait KeepsBuiltRows extends HashJoin {

  /** Are the build side's rows without a partner part of the result? */
  lazy val keepsBuilt: Boolean = joinType match {
    case FullOuter => true
    case LeftOuter => buildSide == BuildLeft
    case RightOuter => buildSide == BuildRight
    case _ => false
  }

  private var table: String = _
  private var built: String = _
  private var streamed: Seq[ExprCode] = _
  private var joined: String = _

  override def doProduce(ctx: CodegenContext): String = if (keepsBuilt) produceAll(ctx) else super.doProduce(ctx)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    if (keepsBuilt) consumeStreamed(ctx, input) else super.doConsume(ctx, input, row)

  private def produceAll(ctx: CodegenContext): String = {
    table = prepareRelation(ctx).relationTerm
    built = ctx.addMutableState(classOf[UnsafeRow].getName, "built", forceInline = true)
    streamed = Fields.declare(ctx, "streamed", streamedOutput)
    val rest =
      ctx.addMutableState(classOf[Iterator[_]].getName, "rest", v => s"$v = $table.unmarked();", forceInline = true)
    joined = addJoined(ctx)
    s"""
       |${streamedPlan.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |${Fields.assignNull(streamed)}
       |while ($limitNotReachedCond $rest.hasNext()) {
       |  $built = (UnsafeRow) $rest.next();
       |  $joined();
       |  if (shouldStop()) return;
       |}
     """.stripMargin
  }

  private def addJoined(ctx: CodegenContext): String = {
    val builtVariables = genOneSideJoinVars(ctx, built, buildPlan, setDefaultValue = true)
    val result = buildSide match {
      case BuildLeft => builtVariables ++ streamed
      case BuildRight => streamed ++ builtVariables
    }
    val name = ctx.freshName("joined")
    ctx.addNewFunction(
      name,
      s"""
         |private void $name() throws java.io.IOException {
         |  ${metricTerm(ctx, "numOutputRows")}.add(1);
         |  ${consume(ctx, result)}
         |}
       """.stripMargin)
  }

  private def consumeStreamed(ctx: CodegenContext, input: Seq[ExprCode]): String = {
    val forLookup = evaluateRequiredVariables(streamedOutput, input, readForLookup)
    val (key, anyNull) = genStreamSideJoinKey(ctx, input)
    val (_, ifConditionHolds, _) = getJoinCondition(ctx, input, streamedPlan, buildPlan, Some(built))
    val others = evaluateVariables(input)
    val matches = ctx.freshName("matches")
    val found = ctx.freshName("found")
    val iterator = classOf[Iterator[_]].getName
    val keep = Fields.assign(streamed, input)
    val alone = if (joinType == FullOuter) s"if (!$found) { $built = null; $keep $joined(); }" else ""
    s"""
       |$forLookup
       |${key.code}
       |$iterator $matches = $anyNull ? null : $table.get(${key.value});
       |boolean $found = false;
       |while ($matches != null && $matches.hasNext()) {
       |  $built = (UnsafeRow) $matches.next();
       |  $ifConditionHolds {
       |    if (!$found) {
       |      $others
       |      $keep
       |      $found = true;
       |    }
       |    $table.mark();
       |    $joined();
       |  }
       |}
       |$alone
     """.stripMargin
  }

  /**
   * What a row's columns are read for before it has a partner. The others, which may be long strings, are read of rows
   * that find one: in a MERGE these may be few.
   */
  private def readForLookup: AttributeSet =
    if (joinType == FullOuter) AttributeSet(streamedOutput)
    else AttributeSet.fromAttributeSets((streamedKeys ++ condition).map(_.references))
}
