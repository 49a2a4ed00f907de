"""Event logs as Spark writes them: packed, rolling, cut off."""

import json
from pathlib import Path

import pytest
from spark_colocate.workload.logs import applications, events
from zstandard import ZstdCompressor

START = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"


def line(number: int) -> str:
    return json.dumps({"Event": START, "executionId": number, "time": 1}, separators=(",", ":")) + "\n"


def numbers(path: Path) -> list[list[int]]:
    return [[event["executionId"] for event in events(one)] for one in applications(path)]


def test_a_plain_file_and_a_folder_of_files(tmp_path: Path) -> None:
    (tmp_path / "app-2").write_text(line(2))
    (tmp_path / "app-1").write_text('{"Event":"SparkListenerTaskEnd"}\n' + line(1))
    (tmp_path / ".app-1.crc").write_text("x")
    assert numbers(tmp_path) == [[1], [2]]
    assert numbers(tmp_path / "app-1") == [[1]]


def test_the_uri_of_a_local_folder(tmp_path: Path) -> None:
    (tmp_path / "app").write_text(line(1))
    assert [one.name for one in applications(f"file://{tmp_path}")] == ["app"]
    assert [one.name for one in applications(f"file:{tmp_path}")] == ["app"]


def test_a_packed_file_of_many_frames(tmp_path: Path) -> None:
    frames = [ZstdCompressor().compress(line(number).encode()) for number in range(3)]
    (tmp_path / "app.zstd").write_bytes(b"".join(frames))
    assert numbers(tmp_path) == [[0, 1, 2]]


def test_the_parts_of_a_rolling_log_by_their_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "eventlog_v2_app"
    folder.mkdir()
    (folder / "appstatus_app").write_text("")
    for number in (1, 2, 10):
        (folder / f"events_{number}_app").write_text(line(number))
    assert numbers(tmp_path) == numbers(folder) == [[1, 2, 10]]
    (folder / "events_2_app.compact").write_text(line(20))
    assert numbers(folder) == [[20, 10]]


@pytest.mark.parametrize("name", ["app.inprogress", "app.zstd.inprogress"])
def test_what_was_cut_off_counts_until_there(tmp_path: Path, name: str) -> None:
    text = (line(1) + line(2)).encode()
    whole = ZstdCompressor().compress(line(1).encode()) + ZstdCompressor().compress(line(2).encode())[:-8]
    (tmp_path / name).write_bytes(whole if "zstd" in name else text[:-9])
    assert numbers(tmp_path) == [[1]]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere", "There is no event log of Spark at"),
        ("", "There is no event log of Spark at"),
        ("hdfs://host/logs", r"is on another file system \(hdfs\)"),
    ],
)
def test_a_place_without_logs_is_told(tmp_path: Path, place: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        applications(place if ":" in place else tmp_path / place)


def test_a_packing_that_is_not_read_is_told_with_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "app.lz4").write_bytes(b"")
    with pytest.raises(Exception, match=r"packed by lz4.*Set spark\.eventLog\.compression\.codec to zstd"):
        numbers(tmp_path)
