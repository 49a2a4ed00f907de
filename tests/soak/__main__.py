"""`./run soak`: a cluster on which things break for twenty minutes, while queries and changes go on."""

import argparse
import logging
import os
import random
import sys
import time

from tests.soak.soak import soak

FAULTS_PER_MINUTE = 3
QUERIES_PER_MINUTE = 100


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a random one, which is printed")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    os.environ["TZ"] = "UTC"
    time.tzset()
    logging.disable(logging.ERROR)  # Py4J says of each object of a killed driver that it can not be released
    report = soak(seed, arguments.minutes * 60, sys.stdout)
    print(report.summary())
    few = [
        f"only {number} {what} in {arguments.minutes:g} minutes; {least * arguments.minutes:.0f} were wanted"
        for what, number, least in (
            ("faults", sum(report.faults.values()), FAULTS_PER_MINUTE),
            ("queries", report.queries, QUERIES_PER_MINUTE),
        )
        if number < least * arguments.minutes
    ]
    print(*few, sep="\n" if few else "", end="\n" if few else "")
    return 1 if report.wrong or few else 0


if __name__ == "__main__":
    sys.exit(main())
