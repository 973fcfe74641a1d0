"""Past deals written anew, with every hash after them made to fit: the log of finished deals names them."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from services.archive import folder
from services.audit import log, run
from services.audit.log import Kept
from services.audit.notes import Notes
from services.audit.run import audit_folder
from services.cli.audit import audit as command
from services.signing import Signer
from services.store import chain, deal_log, log_keys
from services.store.history import recorded
from services.transparency import leaves
from services.transparency.heads import Head
from tests.audit.tampers import entries, flipped, forge, of_type, put, replaced
from tests.audit.tampers_files import read, write
from tests.audit.town import FREE, RICH, Town
from tests.worker.house import PLAYERS


def forge_archive(town: Town) -> tuple[int, int]:
    """Change the key of a command of deal 2 in the archive, and hash all of its files behind that anew.

    Gives the deal and the version at which it ended.
    """
    previous = b""
    for file in folder.files(town.archive, FREE):
        header, lines = read(file.path)
        if file.deal == 2:
            move = next(line for line in lines if '"card_played"' in line["e"])
            move["k"] = flipped(move["k"].encode()).decode()
        began = chain.text(previous or chain.genesis(FREE))
        for line in lines:
            flat = [part.encode() for name, value in line.items() if name != "id" for part in (name, value)]
            previous = chain.link(previous, FREE, recorded((line["id"].encode(), flat)))
            line["h"] = chain.text(previous)
        write(file.path, {**header, "previous": began, "head": chain.text(previous)}, lines)
    return 2, folder.files(town.archive, FREE)[1].last


def without_heads(town: Town):
    notes = Notes(None, "all")
    try:
        return audit_folder(town.archive, notes, lambda *_: None)
    finally:
        notes.close(is_done=True)


def test_an_archive_that_was_forged_to_its_end_is_told_by_the_heads_alone(town: Town) -> None:
    sound = town.audited_folder()
    assert (sound.faults, [each.partition(",")[0] for each in sound.missing if each.startswith(FREE)]) == (
        [], [f"{FREE}: deal 4"])
    deal, last = forge_archive(town)
    assert without_heads(town).faults == []
    [fault] = town.audited_folder().faults
    assert (fault.check, fault.table, fault.version, fault.field) == ("log", FREE, last, "head")
    assert f"deal {deal}" in fault.place


def test_a_stream_that_was_forged_to_its_end_is_told_by_the_log(town: Town) -> None:
    def change(found: list) -> int:
        place = of_type(found, b"card_played", last=False)
        return replaced(found, place, b"k", flipped(found[place][1][b"k"]))

    forge(town, RICH, change)
    [fault] = [each for each in town.audited(only=RICH).faults if each.check == "log"]
    assert (fault.table, fault.field) == (RICH, "head")
    assert fault.place.endswith("deal 1")


def test_a_log_that_grows_meanwhile_gives_no_alarm(growing: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the lines were read, and after the leaves were."""
    lines, tables = run.of_lines, run.audit_table

    def grow() -> None:
        growing.play_deals(1, FREE, seed=growing.said)
        growing.follow()
        growing.sign()

    def of_lines(*given, **named):
        found = lines(*given, **named)
        grow()
        return found

    def audit_table(*given):
        if given[2] == FREE:
            grow()
        return tables(*given)

    monkeypatch.setattr(run, "of_lines", of_lines)
    monkeypatch.setattr(run, "audit_table", audit_table)
    assert growing.audited().faults == []
    assert growing.audited(only=FREE).faults == []


def test_a_deal_that_waits_for_nonces_gives_no_alarm(growing: Town) -> None:
    growing.play_deals(1, FREE, seed=growing.said)
    for player in PLAYERS:
        assert growing.say(FREE, player, "ready", nonce_commitment="ab" * 32)["s"] == "applied"
    assert growing.view(FREE)["fairness"]["awaiting"] == [0, 1, 2]
    growing.follow()
    growing.sign()
    assert growing.audited().faults == []


def test_heads_that_other_keys_have_signed_are_no_heads(town: Town, tmp_path: Path) -> None:
    notes = Notes(None, "all")
    run.read_heads(Kept(town.log.kept, Signer(tmp_path / "other").find), notes)
    [fault] = notes.faults
    assert (fault.field, fault.place) == ("line 1", str(town.heads))
    notes.close(is_done=True)


def test_the_command_holds_an_archive_against_the_heads(town: Town, tmp_path: Path) -> None:
    words = ["--archive", str(town.archive), "--heads", str(town.heads), "--json", "--data", str(tmp_path)]
    refused = CliRunner().invoke(command, words)
    assert refused.exit_code == 2
    assert "keys/receipts" in refused.output
    shutil.copytree(town.archive.parent / "keys", tmp_path / "keys" / "receipts")
    said = CliRunner().invoke(command, words)
    assert (said.exit_code, json.loads(said.stdout)["faults"]) == (3, []), said.output
    assert [each.partition(",")[0] for each in json.loads(said.stdout)["missing"]] == [
        f"{FREE}: deal 4", f"{RICH}: deals 1 to 2"]
    _, last = forge_archive(town)
    said = CliRunner().invoke(command, [*words, "--fresh"])
    [fault] = json.loads(said.stdout)["faults"]
    assert (said.exit_code, fault["table"], fault["version"], fault["check"]) == (1, FREE, last, "log")


def test_the_audit_of_one_table_reads_its_own_leaves_alone(town: Town) -> None:
    own, foreign = (int(town.redis.hget(log_keys.table(table), "1")) for table in (FREE, RICH))
    change_leaf(town, foreign)
    assert town.audited(only=FREE).faults == []
    assert town.audited().faults[0].field == f"{foreign + 1}-0"
    change_leaf(town, own)
    first = town.audited(only=FREE).faults[0]
    assert (first.check, first.table, first.field) == ("log", FREE, f"{own + 1}-0")


def test_a_head_that_the_store_has_a_moment_later_gives_no_alarm(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    state, asked = deal_log.state, list[int]()

    def behind(redis):
        found = state(redis)
        asked.append(found.signed)
        return found._replace(signed=found.signed - 1) if len(asked) == 1 else found

    for only in ("", FREE):
        asked.clear()
        monkeypatch.setattr(deal_log, "state", behind)
        assert town.audited(only=only).faults == []
        assert len(asked) > 1


def change_leaf(town: Town, index: int) -> None:
    """Give a leaf another hash at the end of its deal."""
    found = entries(town, log_keys.leaves())
    id_, fields = found[index]
    told = leaves.read(fields[b"d"])
    found[index] = id_, {b"d": leaves.leaf(told.table, told.deal, told.first, told.last, "A" * 43).data}
    put(town, log_keys.leaves(), found)


def test_a_projector_that_is_slow_to_tell_the_store_of_a_head_gives_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps the head outside first, and a busy machine may then leave it alone for seconds."""
    for_three_seconds = 30
    states = iter([SimpleNamespace(signed=1)] * for_three_seconds + [SimpleNamespace(signed=2)])
    monkeypatch.setattr(log.deal_log, "state", lambda _: next(states))
    monkeypatch.setattr(log, "PAUSE_SECONDS", 0.0)
    assert log.state_since(None, Head(2, "", 0)).signed == 2
