"""The REST interface: the calls of Doris' and StarRocks' documents, and /api/v1 for all verbs that need no Spark.

It adds no logic of its own: it reads a call, calls a verb of the service, and sends its answer.
"""
