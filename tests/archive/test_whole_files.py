"""Files are there whole or not at all, however many are written together."""

import os

import pytest

from services import whole_files
from services.whole_files import FEW, write_all


@pytest.fixture(params=[1, FEW, FEW + 1, 40])
def files(request, tmp_path):
    return [(tmp_path / f"{number}.zst", b"%d" % number * 999) for number in range(request.param)]


def test_all_are_there_for_their_owner_alone_and_no_drafts(files, tmp_path):
    files[0][0].write_bytes(b"an old one")
    write_all(files)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == dict(files)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_none_has_its_name_before_all_are_on_the_disk(files, tmp_path, monkeypatch):
    def fails(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fails)
    monkeypatch.setattr(whole_files, "_force_all", fails)
    with pytest.raises(OSError, match="full"):
        write_all(files)
    assert list(tmp_path.iterdir()) == []


def test_what_the_system_could_not_write_is_an_error(tmp_path):
    with pytest.raises(OSError, match="nothing"):
        whole_files._force_all(tmp_path / "nothing")


def test_nothing_to_write_is_nothing(tmp_path):
    write_all([])
    assert list(tmp_path.iterdir()) == []
