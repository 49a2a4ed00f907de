"""Where the driver's JVM and Python meet: the only modules that touch Py4J.

`process` is the control plane, which the JVM starts as `python -m spark_colocate.bridge`; `endpoint` has its verbs,
`wire` their JSON, `watcher` looks for changes of other drivers. `driver` is the other way: from a PySpark driver to the
JVM that runs beside it; `secrets_of_settings` keeps secrets out of that JVM's settings.
"""
