package org.apache.spark.sql.colocate.compat.hooks

import org.apache.spark.util.Utils

/**
 * A private part of Spark or Delta that we use. Another patch release may lack it.
 *
 * @param name     for messages, such as `delta.prepared-scan`
 * @param neededBy the rules that are switched off without it; names as in conf/rules.json, if they are there
 * @param guards   what is refused without it, because it would be shown or written wrong; in words
 * @param probe    fails if the part is not as expected
 */
private[colocate] case class Hook(name: String, neededBy: Seq[String], guards: Option[String] = None)(
    val probe: () => Unit)

/** Checks whether a part is there; the error names what is missing. */
private[colocate] object Probe {

  /** Public methods of these names with so many arguments. */
  def methodsOf(owner: String, names: (String, Int)*): Unit = {
    val found = load(owner).getMethods
    names.foreach { case (name, arguments) =>
      if (!found.exists(m => m.getName == name && m.getParameterCount == arguments)) {
        throw new NoSuchMethodException(s"$owner.$name with $arguments arguments")
      }
    }
  }

  /** A constructor of so many arguments. */
  def constructor(owner: String, arguments: Int): Unit =
    if (!load(owner).getConstructors.exists(_.getParameterCount == arguments)) {
      throw new NoSuchMethodException(s"a constructor of $owner with $arguments arguments")
    }

  /** A class that is recognised by its name. */
  def load(name: String): Class[_] = Utils.classForName[Any](name, initialize = false, noSparkClassLoader = false)
}
