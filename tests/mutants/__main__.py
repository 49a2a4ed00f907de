"""`./run mutants` breaks the product in one place after the other; the test that the table names must fail each time.

usage: ./run mutants [--shard i/n] [--find] [NAME ...]

Without a name it runs all mutants, or a shard of them. A name may be a prefix, such as `rule:` or `refusal:matching`.
First the tests run without a mutant, and pass. --find looks for a test for each mutant that has none in the table, and
writes the table.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from tests.mutants import finding, running, table
from tests.mutants.again import KINDS as IN_ONE_SESSION
from tests.mutants.catalogue import mutants
from tests.mutants.running import Outcome, passing, run


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    wanted = [name for name in mutants() if not options.names or name.startswith(tuple(options.names))]
    if options.find:
        return finding.find(wanted)
    part, parts = options.shard
    return check(wanted[part - 1 :: parts])


def check(wanted: Sequence[str]) -> int:
    """The exit code: 1 if a mutant is not found, or a test fails without one."""
    found_by = table.read()
    homeless = [name for name in wanted if name not in found_by]
    known = {name: found_by[name] for name in wanted if name in found_by}
    failing = passing(sorted(set(known.values())))
    in_one_session = {name: [test] for name, test in known.items() if name.startswith(IN_ONE_SESSION)}
    quickly = running.found_in_one_session(in_one_session) if in_one_session else {}
    survived = [name for name, test in known.items() if name not in quickly and not _fails(name, test)]
    print(f"{len(known) - len(survived)} of {len(wanted)} mutants were found")
    for title, names in (
        ("not found", survived),
        ("without a test in tests/mutants/table.json", homeless),
        ("tests that fail without a mutant", failing),
    ):
        if names:
            print(f"{title}:", *names, sep="\n  ")
    return 1 if survived or homeless or failing else 0


def _fails(mutant: str, test: str) -> bool:
    started = time.monotonic()
    outcome = run(mutant, [test])
    print(f"{mutant}: {outcome} by {test}, {time.monotonic() - started:.0f} s", flush=True)
    return outcome is Outcome.FOUND


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--find", action="store_true")
    parser.add_argument("--shard", type=_shard, default=(1, 1), metavar="i/n")
    return parser.parse_args(arguments)


def _shard(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text} is not i/n with i from 1 to n")
    return int(part), int(parts)


if __name__ == "__main__":
    sys.exit(main())
