package org.apache.spark.sql.colocate

import org.apache.spark.sql.AnalysisException

/** Bad input: a headline, both sides and the cure in one message. PySpark shows it as an AnalysisException. */
class ColocateException(val code: String, message: String, cause: Option[Throwable] = None)
    extends AnalysisException(
      message,
      line = None,
      startPosition = None,
      cause = cause,
      errorClass = None,
      messageParameters = Map.empty,
      context = Array.empty)
