"""Bodies of table commands as the worker reads them; who sent one decides what it may be."""

from collections.abc import Callable
from typing import Annotated, Literal, NamedTuple, assert_never

import msgspec

from engine.errors import RuleViolation
from engine.table import (
    Close,
    Expire,
    Leave,
    Move,
    OpenTable,
    Ready,
    Reveal,
    Sit,
    StartDeal,
    Table,
    TableCommand,
    seat_of,
)
from engine.table.state import settings
from schemas.errors import Malformed
from schemas.games import WIRE
from schemas.table_commands import HASH

CLOCK = "clock"

Body = dict[str, object]


class Draw(NamedTuple):
    """What chance gives to a deal: the dealer of a first deal, the order of cards, and the key that made it, sealed.

    `seed` is what hides and opens that order; without one nothing is committed to, and the deck is dealt as it is.
    """

    first_dealer: int
    deck: tuple[int, ...]
    sealed_key: str
    seed: bytes = b""


class Sender(NamedTuple):
    """What comes with a body: who sent it (id and name), its intake time in ms, and the table it meets.

    `transfer` begins the ids of buy-ins that the command may cause: unique, and the same if it is decided again.
    `table` is its id.
    """

    actor: str
    name: str
    now: int
    version: int
    transfer: str
    table: str = ""


class _Body(msgspec.Struct, forbid_unknown_fields=True, tag_field="type"):
    pass


class _Open(_Body, tag="open"):
    game: str
    rules: dict[str, object] = {}
    deals: int | None = None
    bots: tuple[Literal[0, 1, 2], ...] = ()
    bot_policy: Literal["rule", "random"] = "rule"
    auto_ready: bool = False
    turn_seconds: int | None = None
    private: bool = False
    code: str = ""
    stake: Literal["free", "bankroll"] = "free"
    buy_in: int | None = None


class _Sit(_Body, tag="sit"):
    seat: Literal[0, 1, 2] | None = None
    code: str = ""


_Hex = Annotated[str, msgspec.Meta(pattern=rf"^{HASH.pattern}\Z")]


class _Ready(_Body, tag="ready"):
    nonce_commitment: _Hex | None = None


class _Reveal(_Body, tag="reveal"):
    nonce: _Hex
    next_commitment: _Hex | None = None


class _Leave(_Body, tag="leave"):
    pass


class _Deal(_Body, tag="deal"):
    version_seen: int


class _Expire(_Body, tag="expire"):
    version_seen: int


class _Close(_Body, tag="close"):
    version_seen: int


_Parsed = _Open | _Sit | _Ready | _Reveal | _Leave | _Deal | _Expire | _Close

_PLAYERS = ("open", "sit", "ready", "reveal", "leave")
_CLOCKS = ("deal", "expire", "close")


def load_command(table: Table, sender: Sender, body: Body, draw: Callable[[], Draw]) -> TableCommand:
    """The command that `body` asks for. `draw` is called for a deal only.

    Raises Malformed for what no schema allows, RuleViolation `not_seated` for a move by one without a seat, and
    `forbidden` for a command that is not the sender's to give.
    """
    kind = body.get("type")
    if kind not in _PLAYERS and kind not in _CLOCKS:
        return _move(table, sender, body)
    if (sender.actor == CLOCK) != (kind in _CLOCKS) or sender.actor.startswith("bot:"):
        raise RuleViolation("forbidden")
    try:
        parsed = msgspec.convert(body, _Parsed, strict=True)
    except msgspec.ValidationError as error:
        raise Malformed("", str(error)) from None
    return _command(parsed, sender, draw)


def _move(table: Table, sender: Sender, body: Body) -> Move:
    if table.session.stage == "unopened":
        raise RuleViolation("not_found")
    seat = seat_of(table, sender.actor)
    if seat is None:
        raise RuleViolation("not_seated")
    wire = WIRE[settings(table.session).game]
    return Move(now=sender.now, seat=seat, move=wire.load_move(seat, body))


def _command(parsed: _Parsed, sender: Sender, draw: Callable[[], Draw]) -> TableCommand:
    actor, name, now, version, transfer, table = sender
    match parsed:
        case _Sit(seat=seat, code=code):
            return Sit(now=now, player=actor, name=name, seat=seat, code=code, transfer=transfer)
        case _Ready(nonce_commitment=commitment):
            return Ready(now=now, player=actor, nonce_commitment=commitment or "")
        case _Reveal(nonce=nonce, next_commitment=following):
            return Reveal(now=now, player=actor, nonce=nonce, next_commitment=following or "")
        case _Leave():
            return Leave(now=now, player=actor)
        case _Deal(version_seen=seen):
            first_dealer, deck, sealed_key, seed = draw()
            return StartDeal(
                now=now,
                version_seen=seen,
                version=version,
                first_dealer=first_dealer,
                deck=deck,
                sealed_key=sealed_key,
                transfer=transfer,
                seed=seed,
                table=table,
            )
        case _Expire(version_seen=seen):
            return Expire(now=now, version_seen=seen, version=version)
        case _Close(version_seen=seen):
            return Close(now=now, version_seen=seen, version=version)
        case _Open():
            return _open(parsed, sender)
        case _:
            assert_never(parsed)


def _open(body: _Open, sender: Sender) -> OpenTable:
    wire = WIRE.get(body.game)
    if wire is None:
        raise Malformed("game", f"Must be one of: {', '.join(WIRE)}.")
    return OpenTable(
        now=sender.now,
        creator=sender.actor,
        game=body.game,
        rules=wire.load_rules(body.rules),
        deals=body.deals,
        bots=body.bots,
        bot_policy=body.bot_policy,
        auto_ready=body.auto_ready,
        turn_seconds=body.turn_seconds,
        private=body.private,
        code=body.code,
        stake=body.stake,
        buy_in=body.buy_in or 0,
    )
