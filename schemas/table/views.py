"""The current view of a table as bytes: one part for all, one for each seat; and who may see which."""

from typing import Final, NamedTuple

import msgspec

from engine.table import Table
from engine.table.state import Fairness, Occupant, Session, game_of, settings
from engine.table.view import PublicSession, Seated, private_deal, public_deadline, public_session
from schemas.games.voleny_rules import kept_rules
from schemas.games.voleny_view import private_bytes, public_bytes
from schemas.kept import by_identity
from schemas.table.events import show_place
from schemas.times import rfc3339

_encode = msgspec.json.Encoder().encode


class Fragments(NamedTuple):
    """JSON members without braces: `{` + public + `,` + the private one of a seat + `}` is that seat's view.

    `brief` is the part of the public one that moves change, and begins with the version; `about` is the rest: who
    sits there and what was agreed. It stays the same for a whole deal, so that a push of a move may leave it out.
    """

    brief: bytes
    about: bytes
    private: tuple[bytes, ...]

    @property
    def public(self) -> bytes:
        """All that everybody may know."""
        return b"%b,%b" % (self.brief, self.about)


SPECTATOR: Final = b'"seat":null,"hand":[],"legal":[]'
"""The private part of who has no seat."""


def view_fragments(table: Table, version: int) -> Fragments:
    """What each seat may know of the table at `version`."""
    return Fragments(
        b'"version":%d,%b' % (version, _play(table)),
        _about(table.session),
        private_bytes(private_deal(table)),
    )


def who(table: Table) -> str:
    """Who sees and plays each seat now: a player's id, `bot:<seat>`, or nothing; joined by `|`."""
    return _who(table.session.seats)


@by_identity
def _who(seats: tuple[Occupant | None, ...]) -> str:
    return "|".join(
        "" if occupant is None else f"bot:{seat}" if occupant.is_automatic else occupant.player
        for seat, occupant in enumerate(seats)
    )


def join_code(table: Table) -> str:
    """What a stranger must know to watch the table or to sit down; "" for a public one."""
    opened = settings(table.session)
    return opened.code if opened.private else ""


def _play(table: Table) -> bytes:
    session, stage = table.session, table.session.stage
    view = game_of(session).public(table.state)
    members = public_bytes(view, view.phase if stage == "deal" else _PHASES.get(stage, stage))
    deadline = public_deadline(table)
    if deadline is None:
        return b'%b,%b,"deadline":null' % (members, _stands(session))
    return b'%b,%b,"deadline":"%b"' % (members, _stands(session), rfc3339(deadline).encode())


_PHASES: Final = {"reveal": "lobby"}
"""Clients that know of no nonces need not know that one is awaited."""


@by_identity
def _stands(session: Session) -> bytes:
    return b'"deal":%d,"bank":%b' % (session.deal, _encode(session.bank))


@by_identity
def _about(session: Session) -> bytes:
    """The same for all moves of a deal, so its bytes are kept."""
    shown = public_session(session)
    members: dict[str, object] = {
        "game": shown.game,
        "rules": kept_rules(shown.rules),
        "stake": shown.stake,
        "deals": shown.deals,
        "bot_policy": shown.bot_policy,
        "auto_ready": shown.auto_ready,
        "turn_seconds": shown.turn_seconds,
        "seats": [seat and _seated(seat) for seat in shown.seats],
        "ready": shown.ready,
        "forehand": shown.forehand,
    }
    if shown.stake == "bankroll":
        members["buy_in"] = shown.buy_in
    if shown.fairness is not None:
        members["fairness"] = _fairness(shown.fairness, shown)
    if shown.standing:
        members["standing"] = [show_place(place) for place in shown.standing]
    return _encode(members)[1:-1]


def _fairness(fairness: Fairness, session: PublicSession) -> dict[str, object]:
    """What was committed to; once the cards are dealt only the root, under which they lie."""
    members: dict[str, object] = {"deal": fairness.deal, "root": fairness.root}
    if session.stage != "reveal":
        return members
    return members | {
        "server_commitment": fairness.server_commitment,
        "commitments": [each or None for each in fairness.commitments],
        "awaiting": session.awaiting,
    }


def _seated(seat: Seated) -> dict[str, object]:
    if seat.bot:
        return {"bot": seat.bot}
    here: dict[str, object] = {"player": seat.player, "name": seat.name}
    return here | {"away": True} if seat.away else here
