"""The current view of a table as bytes: one part for all, one for each seat; and who may see which."""

from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from engine.cards import CARDS
from engine.games.voleny.commands import Discard, Move, PlayCard, discards, play
from engine.games.voleny.view import Private
from engine.notation import CODES
from engine.table import SEATS, Table
from engine.table.state import Occupant, Session, game_of, settings
from engine.table.view import Seated, private, public_deadline, public_session
from schemas.games.voleny_rules import dump_rules
from schemas.kept import by_identity
from schemas.table.events import GAME, show_place
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
        tuple([_private(table, seat) for seat in range(SEATS)]),
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
    members = GAME.dump_public(game_of(table.session).public(table.state))
    if table.session.stage != "deal":
        members["phase"] = table.session.stage
    members["declared"] = members.pop("game")
    for name in _OFTEN_EMPTY:
        if not members[name]:
            del members[name]
    deadline = public_deadline(table)
    members["deal"] = table.session.deal
    members["bank"] = table.session.bank
    members["deadline"] = None if deadline is None else rfc3339(deadline)
    return _encode(members)[1:-1]


_OFTEN_EMPTY: Final = ("declared", "proti", "open", "said", "result")
"""What is absent rather than empty, to keep the view of a move small."""


@by_identity
def _about(session: Session) -> bytes:
    """The same for all moves of a deal, so its bytes are kept."""
    shown = public_session(session)
    members: dict[str, object] = {
        "game": shown.game,
        "rules": dump_rules(shown.rules),
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
    if shown.standing:
        members["standing"] = [show_place(place) for place in shown.standing]
    return _encode(members)[1:-1]


def _seated(seat: Seated) -> dict[str, object]:
    if seat.bot:
        return {"bot": seat.bot}
    here: dict[str, object] = {"player": seat.player, "name": seat.name}
    return here | {"away": True} if seat.away else here


def _private(table: Table, seat: int) -> bytes:
    known = private(table, seat)
    return _known(seat, known) if known.legal else _waiting(seat, known)


@lru_cache(maxsize=4096)
def _waiting(seat: int, known: Private) -> bytes:
    """Who is not to act mostly knows what he knew before."""
    return _known(seat, known)


def _known(seat: int, known: Private) -> bytes:
    _, cards, trump_card, legal = known
    trump = b"" if trump_card is None else b'"trump_card":"%b",' % CODES[trump_card].encode()
    return b'"seat":%d,"hand":[%b],%b"legal":[%b]' % (seat, _hand(cards), trump, b",".join(map(_move, legal)))


def _hand(cards: tuple[int, ...]) -> bytes:
    return '"{}"'.format('","'.join([CODES[card] for card in cards])).encode() if cards else b""


def _move(move: Move) -> bytes:
    """Nearly all legal moves are plays without a word and discards, and to be found by hash takes them longer."""
    if isinstance(move, PlayCard) and move.marriage is None:
        return _PLAYS[move.card]
    return _DISCARDS[move.cards] if isinstance(move, Discard) else _seldom(move)


_PLAYS: Final = tuple([_encode(GAME.dump_move(play(0, card))) for card in range(CARDS)])
_DISCARDS: Final = {cards: _encode(GAME.dump_move(discard)) for cards, discard in discards(0).items()}


@by_identity
def _seldom(move: Move) -> bytes:
    return _encode(GAME.dump_move(move))
