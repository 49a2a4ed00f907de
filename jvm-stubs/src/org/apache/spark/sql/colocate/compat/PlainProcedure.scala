package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog.procedures.SimpleProcedure

/**
 * A procedure without overloads, bound as it is. Spark 4.1 has no `SimpleProcedure`: there a procedure is an unbound
 * and a bound one with a `bind` of its own.
 */
trait PlainProcedure extends SimpleProcedure
