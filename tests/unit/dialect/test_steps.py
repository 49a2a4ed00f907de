"""Partitions by a step, buckets that are left out, properties of partitions, and tables made of a query."""

import json

import pytest
from spark_colocate.dialect import Options, Translation, translate

ENDS = {
    ("DATE", 'FROM ("2024-01-01") TO ("2024-04-15") INTERVAL 1 MONTH'): [
        ("p_202401", "2024-01-01", "2024-02-01"),
        ("p_202402", "2024-02-01", "2024-03-01"),
        ("p_202403", "2024-03-01", "2024-04-01"),
        ("p_202404", "2024-04-01", "2024-04-15"),
    ],
    ("DATETIME", 'START ("2024-02-28") END ("2024-03-01") EVERY (INTERVAL 1 DAY)'): [
        ("p20240228", "2024-02-28 00:00:00", "2024-02-29 00:00:00"),
        ("p20240229", "2024-02-29 00:00:00", "2024-03-01 00:00:00"),
    ],
    ("DATETIME", 'FROM ("2024-01-01 22:00:00") TO ("2024-01-02 00:00:00") INTERVAL 1 HOUR'): [
        ("p_2024010122", "2024-01-01 22:00:00", "2024-01-01 23:00:00"),
        ("p_2024010123", "2024-01-01 23:00:00", "2024-01-02 00:00:00"),
    ],
    ("DATE", 'START ("20230101") END ("2025-1-1") EVERY (INTERVAL 1 YEAR)'): [
        ("p2023", "2023-01-01", "2024-01-01"),
        ("p2024", "2024-01-01", "2025-01-01"),
    ],
    ("DATE", 'FROM ("2024-01-29") TO ("2024-02-12") INTERVAL 1 WEEK'): [
        ("p_2024_05", "2024-01-29", "2024-02-05"),
        ("p_2024_06", "2024-02-05", "2024-02-12"),
    ],
    ("BIGINT", 'START ("1") END ("10") EVERY (4)'): [("p1", "1", "5"), ("p5", "5", "9"), ("p9", "9", "10")],
    ("INT", "FROM (-10) TO (10) INTERVAL 10"): [("p__10", "-10", "0"), ("p_0", "0", "10")],
}


def run(text: str, options: Options | None = None) -> Translation:
    done = translate(text, options)
    assert done is not None
    return done


def ranges(text: str) -> list[tuple[str, str, str]]:
    listed = json.loads(run(text).statement.split("'range_partitions' = '")[1].split("'")[0])
    return [(one["name"], one["lower"][0], one["upper"][0]) for one in listed]


@pytest.mark.parametrize(("kind", "clause"), ENDS)
def test_steps_become_plain_ranges(kind: str, clause: str) -> None:
    text = f"CREATE TABLE t (c {kind}, v INT) PARTITION BY RANGE(c) ({clause}) DISTRIBUTED BY HASH(v) BUCKETS 2"
    assert ranges(text) == ENDS[kind, clause]


def test_several_clauses_and_partitions_together() -> None:
    clauses = "PARTITION low VALUES LESS THAN ('0'), FROM (0) TO (4) INTERVAL 2 FROM (10) TO (12) INTERVAL 2"
    found = ranges(f"CREATE TABLE t (k INT) PARTITION BY RANGE(k) ({clauses}) DISTRIBUTED BY HASH(k) BUCKETS 2")
    assert found == [("low", "MINVALUE", "0"), ("p_0", "0", "2"), ("p_2", "2", "4"), ("p_10", "10", "12")]


def test_partitions_are_added_by_a_step_in_one_call() -> None:
    done = run('ALTER TABLE db.t ADD PARTITIONS FROM ("2024-01-01") TO ("2024-01-03") INTERVAL 1 DAY')
    assert done.statement == (
        "CALL system.add_partitions(table => 'db.t', partitions => "
        '\'[{"name":"p_20240101","lower":"2024-01-01","upper":"2024-01-02"},'
        '{"name":"p_20240102","lower":"2024-01-02","upper":"2024-01-03"}]\', if_not_exists => false)'
    )


@pytest.mark.parametrize("buckets", ["", " BUCKETS AUTO"])
def test_buckets_that_are_left_out_are_the_groups_else_the_advices(buckets: str) -> None:
    asked: list[tuple[str, str]] = []

    def of_group(group: str, db: str) -> int | None:
        asked.append((group, db))
        return 12 if group == "g" else None

    head = f"CREATE TABLE db.t (k INT) DISTRIBUTED BY HASH(k){buckets}"
    with_group = run(f'{head} PROPERTIES ("colocate_with" = "g")', Options(group_buckets=of_group))
    assert "INTO 12 BUCKETS" in with_group.statement
    assert with_group.warnings[0].startswith("BUCKETS is left to us: 12 buckets, as the group g has.")
    new_group = run(f'{head} PROPERTIES ("colocate_with" = "new")', Options(group_buckets=of_group))
    assert "INTO 8 BUCKETS" in new_group.statement
    assert "INTO 8 BUCKETS" in run(head, Options(group_buckets=of_group)).statement
    assert asked == [("g", "db"), ("new", "db")]


def test_properties_of_a_partition_stand_anywhere_behind_it() -> None:
    done = run(
        'ALTER TABLE t ADD PARTITION IF NOT EXISTS p VALUES LESS THAN ("5") ("replication_num" = "1") '
        "DISTRIBUTED BY HASH(k) BUCKETS 3"
    )
    assert done.statement == (
        "CALL system.add_partition(table => 't', partition => 'p', lower => NULL, upper => '5', buckets => 3, "
        "keys => '`k`', if_not_exists => true)"
    )
    assert done.warnings == ("Without a meaning in Spark, and left out: replication_num.",)
    created = run(
        'CREATE TABLE t (k INT) PARTITION BY RANGE(k) (PARTITION p VALUES LESS THAN ("5") ("storage_medium" = "SSD"), '
        "PARTITION q VALUES LESS THAN MAXVALUE) DISTRIBUTED BY HASH(k) BUCKETS 2"
    )
    assert created.warnings == ("Without a meaning in Spark, and left out: storage_medium.",)


def test_a_table_made_of_a_query_has_keys_and_ranges() -> None:
    head = "CREATE TABLE t UNIQUE KEY(k) PARTITION BY RANGE(k) (FROM (1) TO (20) INTERVAL 10) DISTRIBUTED BY HASH(k)"
    done = run(f"{head} BUCKETS 2 AS SELECT 1 AS k, 2 AS v")
    assert done.statement == (
        "CREATE TABLE `t` USING delta CLUSTERED BY (`k`) INTO 2 BUCKETS TBLPROPERTIES ('key_model' = 'unique', "
        "'key_columns' = 'k', 'range_partition_by' = 'k', 'range_partitions' = "
        '\'[{"name":"p_1","upper":["11"],"lower":["1"]},{"name":"p_11","upper":["20"],"lower":["11"]}]\') '
        "AS SELECT 1 AS k, 2 AS v"
    )


def test_a_long_row_is_a_warning() -> None:
    [warning] = run("CREATE TABLE t (a VARCHAR(65533), b VARCHAR(65533)) DISTRIBUTED BY HASH(a) BUCKETS 2").warnings
    assert "131066 bytes; in Doris a row has at most 102400 (100 KB)" in warning
