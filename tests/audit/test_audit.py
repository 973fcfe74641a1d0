"""An audit of what is sound: all of it is looked at, nothing is found, and it may be broken off anywhere."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from services.audit import source, table
from services.audit.notes import Notes, NotOurs
from services.audit.run import Installation, audit
from services.audit.shuffle import UNCHECKED
from services.cli.audit import audit as command
from services.intake import CLOCK
from services.jobs.archive_deals import work
from services.store import accounts, history, keys
from services.store.cold import version_of
from services.worker.build import TAG
from services.worker.held import replay, snapshot
from tests.audit.town import CAP, FREE, FRESH, RICH, Town
from tests.worker.house import ANA, BARA, PARTITIONS


def test_a_sound_town_is_clean_and_all_of_it_was_looked_at(town: Town) -> None:
    report = town.audited()
    assert report.faults == []
    assert (report.tables, report.missing) == (3, [])
    assert report.deals == 4 + 1 + 2 + 1
    assert report.entries == sum(town.view(each)["version"] for each in (FREE, RICH, FRESH))
    assert (report.accounts, report.postings) == (6, 3 * 2 + 3 + 1)


def test_one_table_alone(town: Town) -> None:
    for each in (FREE, RICH, FRESH):
        report = town.audited(only=each)
        assert (report.tables, report.faults) == (1, [])


def test_an_archive_that_begins_while_the_audit_runs_is_read(town: Town, tmp_path: Path) -> None:
    later = tmp_path / "later"
    place, notes = Installation(town.redis, later, PARTITIONS), Notes(None, "all")

    def begins(*_: object) -> None:
        if not later.exists():
            shutil.copytree(town.archive, later)

    report = audit(place, notes, begins)
    notes.close(is_done=True)
    assert (report.faults, report.missing, report.deals) == ([], [], 4 + 1 + 2 + 1)


def test_the_archive_by_itself(town: Town) -> None:
    report = town.audited_folder()
    assert (report.tables, report.deals, report.faults) == (1, 3, [])


def test_deals_that_are_archived_and_still_in_the_stream_are_compared(town: Town) -> None:
    held = town.redis.hgetall(keys.fold(FREE))
    town.redis.hset(keys.fold(FREE), "v", 1)  # So that nothing is trimmed.
    for partition in PARTITIONS:
        work(town.redis, town.archive, partition)
    town.redis.hset(keys.fold(FREE), mapping=held)
    assert town.audited().faults == []


@pytest.mark.parametrize("named", [False, True])
def test_without_the_archive_it_is_said_what_could_not_be_read(town: Town, tmp_path: Path, named: bool) -> None:
    notes = Notes(None, "all")
    report = audit(Installation(town.redis, tmp_path / "none" if named else None, PARTITIONS), notes, lambda *_: None)
    notes.close(is_done=True)
    assert [each.partition(":")[0] for each in report.missing] == [FREE]
    assert report.tables == 2
    assert report.faults == []


def test_a_table_that_goes_on_meanwhile_gives_no_alarm(growing: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between reading what was made of it and reading its events, and between any two pages."""
    read = table.derived

    def played(redis, name):
        found = read(redis, name)
        if name == FREE:
            growing.play(9, FREE, seed=growing.said)
            growing.follow()
        return found

    monkeypatch.setattr(source, "PAGE", 10)
    monkeypatch.setattr(table, "derived", played)
    assert growing.audited().faults == []
    assert growing.audited(only=FREE).faults == []


def test_deals_that_are_archived_and_trimmed_meanwhile_give_no_alarm(
    growing: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive was noted up to an earlier deal when what was made of the table was read."""
    read, trimmed = table.derived, list[int]()

    def archived(redis, name):
        found = read(redis, name)
        if name == FREE:
            growing.play_deals(1, FREE, seed=growing.said)
            growing.follow()
            for partition in PARTITIONS:
                work(growing.redis, growing.archive, partition)
            trimmed.append(version_of(growing.redis.execute_command("XRANGE", keys.events(FREE), "-", "+")[0]))
            assert trimmed[-1] > found.mark[0] + 1
        return found

    monkeypatch.setattr(table, "derived", archived)
    assert growing.audited().faults == []
    assert growing.audited(only=FREE).faults == []
    assert len(trimmed) == 2


def test_chips_that_are_on_their_way_give_no_alarm(growing: Town) -> None:
    """A player leaves and the settlement has not come to it; another's buy-in has not come to its table."""
    actor = next(player for player in growing.view(RICH)["seats"] if player is not None)["player"]
    assert growing.say(RICH, actor, "leave")["s"] == "applied"
    accounts.withdraw(growing.redis, ANA, f"{RICH}.99-0", 10, RICH)
    report = growing.audited()
    assert report.faults == []
    assert report.unchecked == {"chips that the settlement has not come to yet": 1, UNCHECKED: 3}
    growing.follow()
    assert growing.audited().faults == []


def test_a_deal_that_all_have_left_by_the_clock_gives_no_alarm(growing: Town) -> None:
    version = growing.view(FREE)["version"]
    growing.send(FREE, CLOCK, {"type": "close", "version_seen": version})
    growing.settle()
    assert growing.view(FREE)["version"] == version + 1
    growing.follow()
    assert growing.audited(only=FREE).faults == []


def test_an_audit_goes_on_where_it_was_stopped(town: Town, tmp_path: Path) -> None:
    file, place = tmp_path / "state", Installation(town.redis, town.archive, PARTITIONS)

    def stop(what: str, done: int, of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    notes = Notes(file, "all")
    with pytest.raises(KeyboardInterrupt):
        audit(place, notes, stop)
    notes.close(is_done=False)
    again = Notes(file, "all")
    assert again.is_resumed
    assert again.totals.tables == 2
    report = audit(place, again, lambda *_: None)
    again.close(is_done=True)
    assert (report.tables, report.faults) == (3, [])
    assert not file.exists()


def test_the_state_of_another_audit_is_refused(tmp_path: Path) -> None:
    Notes(tmp_path / "state", "all").close(is_done=False)
    with pytest.raises(NotOurs, match="of all, not of one"):
        Notes(tmp_path / "state", "one")
    (tmp_path / "text").write_text("anything that is long enough to be looked at" * 99)
    with pytest.raises(NotOurs, match="not the state"):
        Notes(tmp_path / "text", "all")
    with pytest.raises(NotOurs, match="cannot be the state"):
        Notes(tmp_path, "all")


def test_the_command_audits_an_archive_without_any_store(town: Town, tmp_path: Path) -> None:
    said = CliRunner().invoke(command, ["--archive", str(town.archive), "--json", "--data", str(tmp_path / "none")])
    assert said.exit_code == 0, said.output
    assert (json.loads(said.stdout)["ok"], json.loads(said.stdout)["deals"]) == (True, 3)
    file = next(town.archive.rglob("*.jsonl.zst"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    said = CliRunner().invoke(command, ["--archive", str(town.archive)], env={"MARIAS_DATA": str(tmp_path / "none")})
    assert said.exit_code == 1
    assert f"FAULT {FREE} at version" in said.output
    shutil.rmtree(town.archive / "01")
    said = CliRunner().invoke(command, ["--archive", str(town.archive), FREE])
    assert said.exit_code == 2


@pytest.mark.parametrize("words", [[], ["--all", FREE], ["nonsense"], ["--all", "--archive", "."]])
def test_the_command_refuses_what_makes_no_sense(words: list[str]) -> None:
    assert CliRunner().invoke(command, words).exit_code == 2


def test_a_table_that_the_clock_has_closed_is_sound(town: Town) -> None:
    town.open("t-02-0000000000aa", stake="bankroll", buy_in=300, rules=CAP)
    town.say("t-02-0000000000aa", BARA, "sit")
    town.send("t-02-0000000000aa", CLOCK, {"type": "close", "version_seen": 2})
    town.settle()
    town.follow()
    assert town.view("t-02-0000000000aa")["phase"] == "over"
    assert town.audited().faults == []


@pytest.mark.parametrize(("field", "value", "found"), [
    pytest.param("", b"", None, id="one of an earlier rest"),
    pytest.param("ob", b"broken", "ob", id="broken"),
    pytest.param("ov", b"999999", "ov", id="of a version that the table has not reached"),
    pytest.param("ov", b"no number", "ov", id="of no version"),
    pytest.param("ox", None, "fields", id="of no shape"),
])
def test_the_snapshot_beside_that_of_the_last_rest_is_compared_too(
    growing: Town, field: str, value: bytes | None, found: str | None
) -> None:
    """A worker that was killed while it read a long past has left one."""
    name = keys.snapshot(FRESH)
    rested = replay(FRESH, history.entries_between(growing.redis, FRESH, 1, 1))
    growing.redis.hset(name, mapping={"ov": 1, "ox": TAG, "ob": snapshot(rested)})
    if value is None:
        growing.redis.hdel(name, field)
    elif field:
        growing.redis.hset(name, field, value)
    report = growing.audited()
    assert [(each.check, each.field, each.place) for each in report.faults] == (
        [("snapshot", found, name)] if found else []
    )
