package org.apache.spark.sql.colocate.explain

import scala.util.control.{NoStackTrace, NonFatal}

import org.apache.spark.internal.Logging

/** Thrown where a verdict would take too much work. why: completes "because". */
private[explain] final class NotWorkedOut(val why: String) extends RuntimeException(why) with NoStackTrace

/**
 * Explaining never harms the query that is explained. Spark asks for each query's explanation, to show it in its UI,
 * so what fails here, or would take too long, gives a verdict that says so.
 */
private[explain] object NotWorkedOut extends Logging {

  /** Nodes of the plan, times its operators that have a verdict: each verdict looks at the nodes below. */
  val MostSteps: Long = 2000000

  def orElse[A](instead: Reason => A)(attempt: => A): A = try attempt catch {
    case given: NotWorkedOut => instead(reason(given.why))
    case e @ (NonFatal(_) | _: LinkageError | _: StackOverflowError) =>
      logWarning("The explanation of a query failed; the query runs as planned. Please report this.", e)
      instead(reason("its explanation failed, as the driver's log says"))
  }

  private def reason(why: String): Reason = Reason("NOT_WORKED_OUT", "why" -> why)
}
