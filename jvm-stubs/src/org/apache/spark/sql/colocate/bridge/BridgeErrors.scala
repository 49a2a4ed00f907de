package org.apache.spark.sql.colocate.bridge

import org.apache.spark.sql.colocate.ColocateException

/** What can go wrong between the JVM and Python; errors of policy come from Python, with their own codes. */
private[bridge] object BridgeErrors {

  /** The process did not start, or has ended. The message has the reason. */
  class NotAttached(message: String) extends Exception(message)

  def down(cause: String): ColocateException = new ColocateException(
    "CONTROL_PLANE_DOWN",
    s"The control plane of colocation groups is not up, so nothing was changed: $cause. " +
      "Install spark-colocate for that Python (pip install spark-colocate), or name another Python in " +
      "spark.colocate.python; queries go on meanwhile.")

  def failed(verb: String, e: Throwable): ColocateException = new ColocateException(
    "CONTROL_PLANE_FAILED",
    s"The control plane failed at $verb: ${e.getMessage}. This is a fault in spark-colocate; please report it.",
    Some(e))

  def otherStore(held: String, wanted: String): ColocateException = new ColocateException(
    "STORE_ALREADY_CHOSEN",
    s"This application uses the store $held, and the session asks for $wanted. " +
      "Set spark.colocate.store before the application's first statement on a group, or unset it here.")
}
