"""A house whose deals are projected and archived, to be exported from."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakeredis import FakeRedis, FakeServer

from tests.archive.conftest import Archived


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Archived]:
    """No table yet, nothing archived."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    yield Archived(client, tmp_path / "archive")
    client.close()
