"""With the auditor's key: each deal was shuffled by the key that is sealed in its events."""

import random
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.exceptions import InvalidTag

from engine.table import StartDeal, step
from engine.table.events import DealCommitted
from schemas.table import dump_events
from services.audit.notes import Notes
from services.audit.run import Installation, audit
from services.audit.shuffle import UNCHECKED
from services.cli.audit import audit as command
from services.store import history
from services.worker.held import UNOPENED, events_of, gone_on
from services.worker.seal import make_auditor_keys
from tests.audit import tampers
from tests.audit.town import FRESH, Town
from tests.worker.house import PARTITIONS


def keys_of(seed: int = 1, draws: int = 99) -> dict[str, bytes]:
    """The deal keys of the town by what it has in the place of a sealed one."""
    chance, found = random.Random(seed), {}
    for _ in range(draws):
        key = chance.randbytes(32)
        chance.randrange(3)
        found[f"sealed-{key.hex()[:8]}"] = key
    return found


def audited(town: Town, known: dict[str, bytes]):
    def open_key(sealed: str) -> bytes:
        if sealed not in known:
            raise InvalidTag
        return known[sealed]

    notes = Notes(None, "all")
    try:
        return audit(Installation(town.redis, town.archive, PARTITIONS, open_key, town.kept), notes, lambda *_: None)
    finally:
        notes.close(is_done=True)


def test_every_deck_comes_from_its_sealed_key(town: Town) -> None:
    report = audited(town, keys_of())
    assert (report.faults, report.unchecked) == ([], {})
    assert town.audited().unchecked == {UNCHECKED: 3}


def test_another_key_and_one_that_cannot_be_opened_are_named(town: Town) -> None:
    [fault] = audited(town, {sealed: key[::-1] for sealed, key in keys_of().items()}).faults[:1]
    assert (fault.check, fault.field.rpartition(".")[2]) == ("shuffle", "order")
    assert fault.expected != fault.found
    [fault] = audited(town, {}).faults[:1]
    assert (fault.check, fault.field.rpartition(".")[2]) == ("shuffle", "sealed_key")


def test_a_stacked_deck_with_all_else_made_anew_is_found(town: Town) -> None:
    """The forger swaps two cards of the order; root, leaves and deal are decided anew by the rules themselves."""

    def change(found: list[tampers.Entry]) -> int:
        place = tampers.of_type(found, b"deal_committed", last=False)
        held = UNOPENED
        *before, last = islice(history.entries_after(town.redis, FRESH, 0), place + 1)
        for entry in before:
            held = gone_on(held, FRESH, entry)
        events = events_of(FRESH, last)
        [committed] = [each for each in events if isinstance(each, DealCommitted)]
        first, second, *others = committed.order
        start = StartDeal(
            now=last.at, version_seen=place, version=place, first_dealer=committed.dealer, table=FRESH,
            deck=(second, first, *others), sealed_key=committed.sealed_key, seed=bytes.fromhex(committed.seed),
        )
        return tampers.replaced(found, place, b"e", dump_events(step(held.table, start).events))

    version = tampers.forge(town, FRESH, change)
    [fault] = [each for each in audited(town, keys_of()).faults if each.table == FRESH][:1]
    assert (fault.check, fault.version) == ("shuffle", version)


@pytest.mark.parametrize("content", [None, b"no key"])
def test_a_folder_without_the_key_is_refused(town: Town, tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "auditor.key").write_bytes(content)
    said = CliRunner().invoke(command, ["--archive", str(town.archive), "--keys", str(tmp_path)])
    assert said.exit_code == 2
    assert "auditor.key" in said.output


def test_the_key_of_another_auditor_opens_nothing(town: Town, tmp_path: Path) -> None:
    make_auditor_keys(tmp_path)
    said = CliRunner().invoke(
        command, ["--archive", str(town.archive), "--keys", str(tmp_path), "--data", str(tmp_path / "none")])
    assert said.exit_code == 1
    assert "sealed_key" in said.output


