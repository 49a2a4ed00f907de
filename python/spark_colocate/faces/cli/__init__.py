"""The command line `colocate`: the verbs of the service that need no Spark, and `sql` and `explain`, which start it.

It adds no logic of its own. What is slow to load (PySpark, FastAPI) is imported by the commands that need it.
"""
