"""The REST interface: the calls of Doris' and StarRocks' documents, and /api/v1 for all verbs that need no Spark.

It adds no rule of its own: a call is read, a verb of the service is called, and its answer is shown.
"""
