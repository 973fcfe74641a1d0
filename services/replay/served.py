"""One deal, moment by moment, as the document that the Clerk answers with: who sees it with whose eyes, in words."""

import gzip
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from engine.table import SEATS
from engine.table.events import DealStarted
from schemas.recording import record_for
from schemas.times import rfc3339
from services.replay.moments import AUDITOR, Eye, Happened, Json, Moment, Player, as_json, seen, told
from services.replay.story import Story
from services.replay.words import LANGUAGES
from services.store.history import Recorded
from services.worker.held import events_of

SPECTATOR: Final = "spectator"
SEAT_WORDS: Final = ("", *map(str, range(SEATS)), SPECTATOR)
"""What may be asked for; "": whatever shows most of what one may see."""
LOBBY_MAX: Final = 100
"""So many moments before the cards are dealt are told at most, the last ones."""
GZIP_LEVEL: Final = 5


class NotYours(Exception):
    """The eyes are those of a seat that somebody else had in this deal."""


def holders(past: Sequence[Happened]) -> list[str]:
    """Who had the seats in a deal: players by their ids, "" for a bot. Nobody takes a seat over within a deal.

    Raises LookupError when no deal was dealt in `past`.
    """
    begun = next(filter(_starts, past), None)
    if begun is None:
        raise LookupError("no deal has begun")
    return ["" if occupant is None else occupant.player for occupant in begun.state.session.seats]


def eyes(seat: str, role: str, player: str, had: Sequence[str]) -> tuple[Eye, int | None]:
    """With whose eyes `player` may look at a deal in which `had` held the seats, and the seat they belong to.

    `seat` is one of SEAT_WORDS. An auditor may take any eyes; who had a seat takes his own, as far as he played it
    himself; anybody a spectator's. Raises NotYours.
    """
    if role == AUDITOR:
        wanted = int(seat) if seat.isdigit() else None
        return (wanted if seat else AUDITOR), wanted
    own = had.index(player) if player and player in had else None
    if seat.isdigit() and own != int(seat):
        raise NotYours
    return (None, None) if own is None or seat == SPECTATOR else (Player(player), own)


def document(table: str, past: Sequence[Happened], eye: Eye, seat: int | None, language: str) -> bytes:
    """The moments of a deal as JSON packed by gzip: `{"table", "deal", "seat", "language", "finished", "moments"}`.

    `seat` is a number, null for a spectator, "auditor". A moment is one of `marias replay --json` with `text`, the
    sentences about what happened in it; none in the language "".
    """
    moments = list(seen(_near(past), eye))
    text = msgspec.json.encode({
        "table": table,
        "deal": moments[0].deal,
        "seat": AUDITOR if eye == AUDITOR else seat,
        "language": language,
        "finished": any(event["type"] == "deal_ended" for event in moments[-1].events),
        "moments": list(_with_text(moments, language) if language else map(as_json, moments)),
    })
    return gzip.compress(text, compresslevel=GZIP_LEVEL, mtime=0)


def record_seen(record: bytes, seat: str) -> bytes:
    """A whole deal record as a seat may know it, or a spectator."""
    return msgspec.json.encode(record_for(msgspec.json.decode(record), int(seat) if seat.isdigit() else None))


def version(table: str, entry: Recorded, eye: Literal["auditor"] | None) -> bytes:
    """What one version did as JSON: `{"table", "version", "at", "actor", "events"}`."""
    return msgspec.json.encode({
        "table": table,
        "version": entry.version,
        "at": rfc3339(entry.at),
        "actor": entry.actor,
        "events": told(events_of(table, entry), eye),
    })


def _near(past: Sequence[Happened]) -> Sequence[Happened]:
    """Without what came long before the deal."""
    return past[max(0, _begins(past) - LOBBY_MAX) :]


def _begins(past: Sequence[Happened]) -> int:
    return next(place for place, each in enumerate(past) if _starts(each))


def _starts(each: Happened) -> bool:
    return any(isinstance(event, DealStarted) for event in each.events)


def _with_text(told: Iterable[Moment], language: str) -> Iterable[Json]:
    story = Story([""] * SEATS, LANGUAGES[language], plays=True)
    for moment in told:
        story.meet(moment.view, moment.events)
        yield as_json(moment) | {"text": [line.strip() for line in story.lines(moment.events) if line]}
