"""`python -m spark_colocate.bridge`, as the JVM starts it."""

import sys

from spark_colocate.bridge.process import main

sys.exit(main())
