package org.apache.spark.sql.colocate.compat

import org.apache.spark.sql.connector.catalog.procedures.SimpleProcedure

/** A procedure without overloads, bound as it is: a class of Spark since 4.2. */
trait PlainProcedure extends SimpleProcedure
