"""A store without a network and without a JVM."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from spark_colocate.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = open_store(f"sqlite:///{tmp_path}/store.sqlite")
    yield made
    made.close()
