"""Finished deals as those who played them can check them: nonces count once each, and all proofs hold.

The proofs are made from the events and checked twice, by `marias verify` and by the file that needs nothing of this
program; those that were told over HTTP meanwhile must be the same.
"""

import importlib.util
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from engine.fairness.check import AUDITOR, check, check_together, covers_the_deck
from engine.fairness.shape import Unfair
from engine.table import SEATS
from engine.table.events import DealCommitted, DealEnded, Event, NonceRevealed, NoncesJoined
from schemas.proofs import Holder, proof_of
from schemas.table import load_events
from services.store.history import Recorded
from services.transparency.leaves import Told
from tests import sources
from tests.faults.history import Operation
from tests.faults.verdict import Verdict

PLAYERS: tuple[Holder, ...] = (0, 1, 2, None)

OpenKey = Callable[[str], bytes | None]
"""The deal key in what was sealed to the auditor; None when it was changed."""


class ToldProof(NamedTuple):
    """The proof of a deal as a node has told it."""

    table: str
    deal: int
    text: bytes


class Dealt(NamedTuple):
    """A deal that has ended: what the log must tell of it, and its events from its commitment on."""

    told: Told
    events: Sequence[tuple[int, Event]]
    """Each with its version."""


def ended(table: str, entries: Sequence[Recorded]) -> Iterator[Dealt]:
    """The deals of `table` that have ended, in order."""
    begins, events = 1, list[tuple[int, Event]]()
    for entry in entries:
        for event in load_events(entry.events):
            if isinstance(event, DealCommitted):
                events = []
            events.append((entry.version, event))
            if isinstance(event, DealEnded):
                yield Dealt(Told(table, event.deal, begins, entry.version, entry.hash), events)
                begins, events = entry.version + 1, []


class Seen(NamedTuple):
    """What clients did and saw at a table. Without `open_key` the sealed deal keys are left closed."""

    operations: Sequence[Operation]
    proofs: Sequence[ToldProof]
    open_key: OpenKey | None


def check_fair(table: str, dealt: Sequence[Dealt], seen: Seen, verdict: Verdict) -> None:
    """Every finished deal of `table`."""
    operations, told, open_key = seen
    answered = {each.version: each for each in operations if each.outcome == "ok" and each.body["type"] == "reveal"}
    known: dict[str, int] = {}
    verdict.proofs += len(told)
    for deal in dealt:
        verdict.deals += 1
        verdict.shuffled += any(isinstance(event, NonceRevealed) for _, event in deal.events)
        for what in (*_nonces(deal, known, answered), *_proofs(deal, told, open_key)):
            verdict.add("unfair", f"{table}, deal {deal.told.deal}: {what}")
    for number in sorted({each.deal for each in told} - {deal.told.deal for deal in dealt}):
        verdict.add("unfair", f"{table}, deal {number}: a proof of it was told, and it has not ended")


def _nonces(deal: Dealt, known: dict[str, int], answered: dict[int | None, Operation]) -> Iterator[str]:
    """Each seat reveals once at the most, and what it was told is revealed is what shuffles."""
    told = [""] * SEATS
    for version, event in deal.events:
        match event:
            case NonceRevealed(seat=seat, nonce=nonce):
                if told[seat] or nonce in known:
                    yield f"the nonce of seat {seat} at version {version} was revealed before, or another in its place"
                told[seat], known[nonce] = nonce, version
                if (said := answered.pop(version, None)) is not None and said.body["nonce"] != nonce:
                    yield f"{said.actor} revealed another nonce than version {version} has"
            case NoncesJoined(nonces=nonces) if list(nonces) != told:
                yield f"{told} were revealed, and {list(nonces)} have shuffled"
    first, last = deal.told.first, deal.told.last
    for version, said in answered.items():
        if version is not None and first <= version <= last:
            yield f"the nonce that {said.actor} was told is revealed at version {version} is not there"


def _proofs(deal: Dealt, told: Sequence[ToldProof], open_key: OpenKey | None) -> Iterator[str]:
    holders: tuple[Holder, ...] = (*PLAYERS, AUDITOR)
    try:
        proofs = {holder: proof_of((event for _, event in deal.events), holder) for holder in holders}
    except Exception as error:
        yield f"it has no proof: {error!r}"
        return
    texts = {holder: msgspec.json.encode(proof) for holder, proof in proofs.items()}
    try:
        documents = [msgspec.json.decode(text) for text in texts.values()]
        whole = check_together(documents)[-1]
        if not covers_the_deck([whole]):
            yield "its proofs do not open all 32 leaves"
        if open_key is not None:
            if (key := open_key(str(documents[-1]["sealed_key"]))) is None:
                yield "its key is not sealed to the auditor"
            else:
                check(documents[-1], key)
    except (Unfair, TypeError) as fault:
        yield f"marias verify: {fault}"
    if (said := _verified([texts[holder] for holder in PLAYERS])) is not None:
        yield f"verify_deal.py: {said}"
    for each in told:
        if each.deal == deal.told.deal and each.text != texts.get(_holder(each.text)):
            yield f"the proof that was told is not what the events make of it: {each.text[:120]!r}"


def _holder(text: bytes) -> Any:
    return msgspec.json.decode(text).get("seat")


def _verified(texts: Sequence[bytes]) -> str | None:
    """What the file for players says is wrong with proofs of one deal; None: nothing."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.json" for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_bytes(text)
        try:
            with redirect_stdout(io.StringIO()):
                verify_deal().main([str(file) for file in files])
        except SystemExit as refused:
            return str(refused.code).replace(folder, "")
    return None


@cache
def verify_deal() -> ModuleType:
    """The file that players check their deals with."""
    spec = importlib.util.spec_from_file_location("verify_deal", sources.ROOT / "deploy" / "verify_deal.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
