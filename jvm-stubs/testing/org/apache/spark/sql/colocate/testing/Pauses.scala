package org.apache.spark.sql.colocate.testing

import java.util.concurrent.{CopyOnWriteArrayList, CountDownLatch, TimeUnit}
import scala.jdk.CollectionConverters._

/** Holds up threads at named points, as if their process were suspended, while the test does other things. */
object Pauses {

  private case class Pause(point: String, reached: CountDownLatch, goes: CountDownLatch)

  private val planned = new CopyOnWriteArrayList[Pause]

  /** The next thread that comes to the point waits there; the ones after it do not. */
  def plan(point: String): Unit = planned.add(Pause(point, new CountDownLatch(1), new CountDownLatch(1)))

  /** Waits until a thread has come to the point that was planned last; false if none has after a minute. */
  def isReached: Boolean = planned.get(planned.size - 1).reached.await(1, TimeUnit.MINUTES)

  /** All of them go on. */
  def release(): Unit = {
    planned.forEach(_.goes.countDown())
    planned.clear()
  }

  /** Those that a thread has come to go on; the others wait for theirs. */
  def releaseReached(): Unit = planned.asScala.toSeq.filter(_.reached.getCount == 0).foreach { pause =>
    pause.goes.countDown()
    planned.remove(pause)
  }

  def at(point: String): Unit =
    planned.asScala.find(pause => pause.point == point && pause.reached.getCount > 0).foreach { pause =>
      pause.reached.countDown()
      pause.goes.await(5, TimeUnit.MINUTES)
    }
}
