"""`python -m spark_colocate.worker`: the same as `colocate worker`."""

import sys

from spark_colocate.faces.cli.main import run

if __name__ == "__main__":
    run(["worker", *sys.argv[1:]])
