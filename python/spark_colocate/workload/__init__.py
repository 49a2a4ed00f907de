"""What Spark's event logs say of the shuffles that colocation would save.

`logs` reads the files, `queries` the plans and what was measured in them, `layouts` tells which Exchanges a layout
would remove, `proposals` looks for the layouts that save most. Nothing else is read: neither tables nor the store.
"""
