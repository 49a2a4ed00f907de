"""Jobs as the store has them: their verbs and their states. `spark_colocate.jobs` runs them."""
