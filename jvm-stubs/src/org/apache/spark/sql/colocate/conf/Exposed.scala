package org.apache.spark.sql.colocate.conf

import org.apache.spark.SparkEnv
import org.apache.spark.sql.colocate.ColocateException
import org.apache.spark.sql.colocate.compat.hooks.SecretSettings

/**
 * Refuses secrets in the application's configuration. Spark shows that in its UI, in the event log, by `SET` and, where
 * it came from a command line, in the list of processes, and `spark.redaction.regex` is the user's to replace.
 */
object Exposed {

  val Store = "spark.colocate.store"
  val Token: String = SecretSettings.Token

  /** `scheme://user:password@`, as SQLAlchemy reads it, and a password among the parameters. */
  private val Password = """(?is)^[a-z][\w+.-]*:/*[^:/@?]*:[^@]+@.*|.*pass(?:word|wd)?\s*=.*|.*pwd\s*=.*""".r

  def hasPassword(url: String): Boolean = !url.trim.toLowerCase.startsWith("sqlite") && Password.matches(url.trim)

  /** When an application starts, before its first session reads its settings. */
  def refuseAtStart(): Unit = Option(SparkEnv.get).map(_.conf).foreach { conf =>
    if (conf.getOption(Store).exists(hasPassword)) throw store("The application was started with it: change it.")
    if (conf.getOption(Token).exists(_.trim.nonEmpty)) throw token
  }

  /** @param more what else there is to do */
  def store(more: String): ColocateException = new ColocateException("SECRET_EXPOSED",
    s"Cannot use a password in $Store: Spark shows settings in its UI, in the event log and by SET. $more " +
      "Write postgresql://user@host/database, and the password into ~/.pgpass, into the variable PGPASSWORD, or into " +
      s"a file that $Store.passwordFile names.")

  def readable(key: String): ColocateException = new ColocateException("SECRET_EXPOSED",
    s"Cannot keep $key from being read back: this release of Spark keeps settings in another way. Put the token into " +
      s"the variable COLOCATE_TOKEN, or into a file that ${Token}File names.")

  private def token: ColocateException = new ColocateException("SECRET_EXPOSED",
    s"Cannot use $Token in the application's settings: Spark shows them in its UI and in the event log. The " +
      "application was started with the token: revoke it. Set one in the session, or put it into the variable " +
      s"COLOCATE_TOKEN, or into a file that ${Token}File names.")
}
