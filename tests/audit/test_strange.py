"""What lies where it does not belong, or cannot be read, is named; an audit that cannot begin says so, and no more."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.archive import folder
from services.audit.notes import Notes, NotOurs
from services.audit.run import audit_folder
from services.cli.audit import audit as command
from services.store import keys, log_keys
from tests.audit import tampers_shelf
from tests.audit.conftest import contents, put_back
from tests.audit.town import FREE, FRESH, Town
from tests.worker.house import ANA

HOME = Path("01") / FREE
"""Of the archive's only table, in the archive."""


def elsewhere(archive: Path) -> Path:
    (archive / "ff").mkdir()
    return (archive / HOME).rename(archive / "ff" / FREE)


def at_the_top(archive: Path) -> Path:
    return (archive / HOME).rename(archive / FREE)


def a_loop(archive: Path) -> Path:
    shutil.rmtree(archive / HOME)
    (archive / HOME).symlink_to(FREE)
    return archive / HOME


def a_file(archive: Path) -> Path:
    shutil.rmtree(archive / HOME)
    (archive / HOME).write_bytes(b"")
    return archive / HOME


def a_file_for_a_partition(archive: Path) -> Path:
    shutil.rmtree(archive / HOME.parent)
    (archive / HOME.parent).write_bytes(b"")
    return archive / HOME.parent


@pytest.mark.parametrize("do", [elsewhere, at_the_top, a_loop, a_file, a_file_for_a_partition])
def test_a_folder_that_is_not_where_its_table_belongs_is_named(town: Town, do: Callable[[Path], Path]) -> None:
    place = do(town.archive)
    for report in (town.audited_folder(), town.audited()):
        first = report.faults[0]
        assert (first.check, first.field, first.place) == ("archive", "file", str(place))
        assert first.table in (FREE, "")
    assert any(each.table == FREE for each in town.audited().faults)


def test_digits_of_other_scripts_name_no_file(town: Town) -> None:
    file = folder.files(town.archive, FREE)[0].path
    file.rename(file.with_name(file.name.replace("000001", "٠٠٠٠٠١")))
    [fault] = town.audited_folder().faults
    assert (fault.table, fault.version, fault.field) == (FREE, 1, "file")


def test_folders_that_cannot_be_read_are_faults(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, iterated = os.listdir, Path.iterdir

    def refuse(path) -> None:
        if Path(path).name == FREE:
            raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", lambda path=".": refuse(path) or listed(path))
    monkeypatch.setattr(Path, "iterdir", lambda path: refuse(path) or iterated(path))
    for report in (town.audited_folder(), town.audited()):
        assert (report.faults[0].table, report.faults[0].field) == (FREE, "file")
        assert "Permission denied" in report.faults[0].found
    monkeypatch.setattr(os, "listdir", lambda path: refuse(Path(FREE)))
    told = CliRunner().invoke(command, ["--archive", str(town.archive), "--data", str(town.archive / "none")])
    assert told.exit_code == 2
    assert "Permission denied" in told.output


def test_deals_of_the_log_that_the_archive_lacks_are_named_and_no_fault(town: Town) -> None:
    def missing() -> list[str]:
        report = town.audited_folder()
        assert report.faults == []
        return [each.partition(",")[0] for each in report.missing if each.startswith(FREE)]

    files = folder.files(town.archive, FREE)
    assert missing() == [f"{FREE}: deal 4"]  # It is over, and not archived yet.
    files[2].path.unlink()
    assert missing() == [f"{FREE}: deals 3 to 4"]
    shutil.rmtree(town.archive / HOME)
    assert missing() == [f"{FREE}: deals 1 to 4"]


def test_what_was_made_of_deals_is_compared_in_an_archive_alone(town: Town) -> None:
    kept = contents(town.redis)
    assert list(town.archive.rglob("*.shelf.zst"))
    for row in tampers_shelf.rows():
        if row.kind == "shelves, number" or row.what == "remove a file":
            continue
        place = row.do(town)
        notes = Notes(None, "all")
        faults = audit_folder(town.archive, notes, lambda *_: None).faults
        notes.close(is_done=True)
        assert [(each.table, each.check) for each in faults[:1]] == [(FREE, "projections")], row.what
        assert place.version in (-1, faults[0].version), row.what
        put_back(town.redis, kept)
        town.put_files_back()
    (town.archive / HOME / "000099.shelf.zst").write_bytes(b"")
    assert [each.found for each in town.audited_folder().faults] == ["000099.shelf.zst"]


def test_keys_that_are_none_of_ours_are_named(town: Town) -> None:
    strange = {
        keys.events(FREE).replace("{p01}", "{pff}"): lambda key: town.redis.copy(keys.events(FREE), key),
        "m:{p01}:ev:t-01-x": lambda key: town.redis.set(key, "x"),
        b"m:{p01}:ev:\xff": lambda key: town.redis.set(key, "x"),
        keys.account(ANA).replace("{p00}", "{p01}"): lambda key: town.redis.hset(key, "b", "1"),
        b"m:{p00}:acct:\xff\xfe": lambda key: town.redis.hset(key, "b", "1"),
    }
    assert town.audited().faults == []
    for key, make in strange.items():
        make(key)
        told = key if isinstance(key, str) else key.decode(errors="backslashreplace")
        faults = town.audited().faults
        assert told in [each.place for each in faults if each.field == "key"], told
        town.redis.delete(key)
    for member in (b"\xff", "junk", FRESH):
        town.redis.sadd(keys.tables("01"), member)
        assert next(each.place for each in town.audited().faults if each.check == "versions") == keys.tables("01")
        town.redis.srem(keys.tables("01"), member)
    assert town.audited().faults == []


@pytest.mark.parametrize("key", [
    keys.lobby(), keys.lobby_versions(), keys.lobby_order(), keys.tables("01"), keys.archived("01"), keys.log("01"),
    keys.handled("01"), keys.frozen("01"), keys.buy_ins("01"),
])
def test_a_key_that_many_tables_share_and_that_is_of_another_type_is_named(town: Town, key: str) -> None:
    town.redis.delete(key)
    town.redis.set(key, "x")
    for only in ("", FREE):
        report = town.audited(only=only)
        assert [(each.field, each.place) for each in report.faults] == [("type", key)]
        assert any(each.startswith("everything else") for each in report.unchecked)


GHOST = "t-01-0000000000ff"
MADE = {
    "view": keys.view, "feed": keys.feed, "snapshot": keys.snapshot, "bank": keys.bank, "records": keys.records,
    "sealed records": keys.sealed_records, "what the projections remember": keys.fold, "log": log_keys.table,
}


@pytest.mark.parametrize("made", MADE)
def test_what_is_made_of_no_table_is_found(town: Town, made: str) -> None:
    town.redis.copy(MADE[made](FREE), MADE[made](GHOST))
    assert [each.table for each in town.audited().faults][:1] == [GHOST]


def test_a_row_of_no_table_in_the_lobby_is_found(town: Town) -> None:
    town.redis.hset(keys.lobby(), GHOST, "{}")
    assert [each.table for each in town.audited().faults][:1] == [GHOST]


def test_heads_that_are_gone_are_missed_also_by_the_audit_of_one_table(town: Town) -> None:
    for spoil in (lambda: town.heads.write_bytes(b""), town.heads.unlink):
        spoil()
        for only in ("", FREE):
            first = town.audited(only=only).faults[0]
            assert (first.check, first.field, first.place) == ("log", "size", str(town.heads))
        town.put_files_back()


def asked(town: Town, data: Path, *words: str) -> Result:
    return CliRunner().invoke(command, ["--archive", str(town.archive), "--data", str(data), *words])


def test_broken_keys_are_not_told_as_a_fault_of_the_past(town: Town, tmp_path: Path) -> None:
    ring = tmp_path / "data" / "keys" / "receipts"
    ring.mkdir(parents=True)
    for text in (b"", b"no key"):
        (ring / "k1.pem").write_bytes(text)
        told = asked(town, tmp_path / "data", "--heads", str(town.heads))
        assert told.exit_code == 2
        assert "k1.pem" in told.output


def test_a_file_that_is_no_state_of_an_audit_is_neither_written_to_nor_deleted(town: Town, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_bytes(b"-----BEGIN PRIVATE KEY-----")
    base = sqlite3.connect(tmp_path / "other")
    base.execute("CREATE TABLE cookies (name TEXT)")
    base.commit()
    base.close()
    kept = (tmp_path / "other").read_bytes()
    for words in (["--resume", str(key)], ["--resume", str(key), "--fresh"], ["--resume", str(tmp_path / "other")]):
        told = asked(town, tmp_path / "none", *words)
        assert told.exit_code == 2, told.output
        assert "not the state of an audit" in told.output
    assert (key.read_bytes(), (tmp_path / "other").read_bytes()) == (b"-----BEGIN PRIVATE KEY-----", kept)
    Notes(tmp_path / "state", "another").close(is_done=False)
    assert asked(town, tmp_path / "none", "--resume", str(tmp_path / "state")).exit_code == 2
    told = asked(town, tmp_path / "none", "--resume", str(tmp_path / "state"), "--fresh", "--json")
    assert json.loads(told.stdout)["ok"]
    for no_state in (key, tmp_path):
        with pytest.raises(NotOurs):
            Notes.begin_anew(no_state)
