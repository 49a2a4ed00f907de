"""`./run soak`: two drivers and a cluster on which things break, while queries, changes and DDL go on.

Ends with 0 if all is well; 1 for a wrong row, something lost or stuck, or an assertion that does not hold; 3 if the
machine was so busy that too little was done to say anything.
"""

import argparse
import logging
import os
import random
import sys
import time

from tests.soak.assertions import assertions, exit_code
from tests.soak.soak import soak
from tests.soak.stores import STORES


def main(given: list[str] | None = None) -> int:
    arguments = _parser().parse_args(given)
    seed = random.SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    os.environ["TZ"] = "UTC"
    time.tzset()
    logging.disable(logging.ERROR)  # Py4J says of each object of a killed driver that it can not be released
    conf = dict(setting.split("=", 1) for setting in arguments.conf)
    report = soak(seed, arguments.minutes * 60, sys.stdout, store=arguments.store, conf=conf, only=arguments.only)
    found = assertions(report, arguments.minutes)
    print(report.summary(), "asserted:", *(f"  {one}" for one in found), sep="\n")
    return exit_code(report, found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a random one, which is printed")
    parser.add_argument("--store", choices=tuple(STORES), default="postgresql", help="default: %(default)s")
    parser.add_argument("--conf", metavar="KEY=VALUE", action="append", default=[], help="a setting of both drivers")
    parser.add_argument("--only", metavar="FAULT", action="append", help="no other faults than these; may come twice")
    return parser


if __name__ == "__main__":
    sys.exit(main())
