"""Doris' rules for data division, as one table: facts of a table, and the advice for it."""

import pytest
from spark_colocate.checks.advice import GB, GIB, MB, MIB, TB, Division, TableFacts, advise, division, hints


@pytest.mark.parametrize(
    ("size", "fitting"),
    [
        (0, "4 to 8 buckets"),
        (500 * MB, "4 to 8 buckets"),
        (501 * MB, "8 to 16 buckets"),
        (5 * GB, "8 to 16 buckets"),
        (50 * GB, "32 buckets"),
        (500 * GB, "16 to 32 buckets in each of 10 partitions"),
        (5 * TB, "16 to 32 buckets in each of 100 partitions"),
    ],
)
def test_the_documents_table_of_sizes(size: int, fitting: str) -> None:
    assert str(division(size)) == fitting


KEYS = ("bigint",)

GOLDEN: list[tuple[TableFacts, str]] = [
    (TableFacts(16, bytes=16 * GIB, key_types=KEYS), ""),
    (TableFacts(8, bytes=10 * MIB), ""),
    (
        TableFacts(16, bytes=10 * MIB),
        "TABLETS_SMALL: 16 buckets for about 10 MiB make 0.6 MiB per bucket; 4 to 8 buckets would fit better.",
    ),
    (
        TableFacts(1000, bytes=GIB),
        "TABLETS_SMALL!: 1000 buckets for about 1024 MiB make 1.0 MiB per bucket; 8 to 16 buckets would fit better.",
    ),
    (
        TableFacts(4, bytes=400 * GIB),
        "TABLETS_LARGE!: 4 buckets for about 409600 MiB make 102400.0 MiB per bucket; 40 to 400 buckets, or "
        "16 to 32 buckets in each of 9 partitions would fit better.",
    ),
    (
        TableFacts(2, partitions=4, bytes=400 * GIB),
        "TABLETS_LARGE!: 2 buckets in each of 4 partitions for about 409600 MiB make 51200.0 MiB per bucket; "
        "16 to 32 buckets in each of 9 partitions would fit better.",
    ),
    (TableFacts(16, bytes=64 * GIB, disks=16), ""),
    (
        TableFacts(8, bytes=64 * GIB, disks=16),
        "TABLETS_FEW: 8 buckets are fewer than the 16 disks; a few more than disks keep all of them busy.",
    ),
    # As many tablets as disks would be small: the size counts more than the number.
    (TableFacts(4, bytes=8 * GIB, disks=16), ""),
    (
        TableFacts(3, partitions=5, disks=16),
        "TABLETS_FEW: 3 buckets in each of 5 partitions are fewer than the 16 disks; a few more than disks keep all of "
        "them busy.",
    ),
    (TableFacts(64, partitions=100), ""),
    (
        TableFacts(64, partitions=365),
        "TABLETS_MANY!: 64 buckets in each of 365 partitions are 23360 tablets, each with files of its own; a tablet "
        "should have 1 to 10 GB. Take fewer buckets, or longer ranges.",
    ),
    (
        TableFacts(8, key_types=("int", "varchar(20)")),
        "KEY_TEXT: Integer keys are hashed and compared faster than VARCHAR(20).",
    ),
    (
        TableFacts(8, key_types=("varchar(65533)",)),
        "KEY_TEXT: Integer keys are hashed and compared faster than VARCHAR(65533), and VARCHAR(65533) may be long; "
        "VARCHAR(n) with the length that is needed is enough.",
    ),
    (
        TableFacts(8, key_types=("string",)),
        "KEY_TEXT: Integer keys are hashed and compared faster than STRING, and STRING may be long; "
        "VARCHAR(n) with the length that is needed is enough.",
    ),
]


@pytest.mark.parametrize(("facts", "expected"), GOLDEN)
def test_the_advice_of_a_table(facts: TableFacts, expected: str) -> None:
    found = advise(facts)
    assert "\n".join(f"{one.code}{'!' if one.urgent else ''}: {one.text}" for one in found) == expected
    assert hints(facts) == tuple(one.text for one in found if one.urgent)


def test_a_table_that_follows_the_table_of_sizes_is_told_nothing_of_its_size() -> None:
    for size in (500 * MB, 5 * GB, 50 * GB, 500 * GB, 5 * TB):
        fitting: Division = division(size)
        for buckets in (fitting.least, fitting.most):
            assert advise(TableFacts(buckets, fitting.partitions, size)) == ()
