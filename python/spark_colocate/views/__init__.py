"""The shapes in which the service's values are shown. SQL, REST and the command line have the same."""
