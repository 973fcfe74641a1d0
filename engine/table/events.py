"""What happened at a table, beside the events of the game, which ride along in the same entry."""

from dataclasses import dataclass
from typing import Literal

from engine.table.play import GameEvent, Rules

DeadlineKind = Literal["turn", "bot", "ready", "reveal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One line of a final standing; equal `chips` share a `place`, counted from 1. A bot has no name."""

    place: int
    seat: int
    player: str
    name: str
    chips: int


class OfTable:
    """What tells the events of the table from those of the game: of each event this is asked many times, and one
    class is asked for ten times as fast as the union of all."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOpened(OfTable):
    """The table and all its options, fixed from now on. `code` is for those who were told it."""

    creator: str
    game: str
    rules: Rules
    deals: int | None
    bots: tuple[int, ...]
    bot_policy: str
    auto_ready: bool
    turn_seconds: int | None
    private: bool
    code: str
    stake: str
    buy_in: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SatDown(OfTable):
    """`player` took `seat`, or came back to it."""

    seat: int
    player: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BecameReady(OfTable):
    """`seat` waits for the next deal."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatLeft(OfTable):
    """`player` no longer plays; in a deal a bot goes on with the cards of `seat`."""

    seat: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatFreed(OfTable):
    """Anybody may take `seat` now."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipsBrought(OfTable):
    """`chips` came to `seat` from the account of `player`, or for a bot (player "") from the house."""

    seat: int
    player: str
    chips: int
    transfer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipsReturned(OfTable):
    """`chips` went from `seat` back to where they came from, by a transfer of its own id."""

    seat: int
    player: str
    chips: int
    transfer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NonceCommitted(OfTable):
    """`seat` has a nonce for the next deal, and this is its commitment (hexadecimal digits, as all hashes here)."""

    seat: int
    commitment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DealCommitted(OfTable):
    """The order of the cards of deal `deal`, which `dealer` will deal, is fixed; no nonce is known yet. Its `name` is
    hashed with all that is told of it, so that nothing of one deal passes for another's.

    `commitments` are those of the players' nonces by seat, "" where a seat gave none; `leaves` are told where there is
    any. Secret: what opens the leaves (`order`, `seed`), and the deal key, sealed to the auditor.
    """

    name: str
    deal: int
    dealer: int
    root: str
    server_commitment: str
    commitments: tuple[str, ...]
    leaves: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    seed: str = ""
    sealed_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NonceRevealed(OfTable):
    """`seat` revealed the nonce that it had committed to, and perhaps committed to one for the deal after."""

    seat: int
    nonce: str
    next_commitment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoncesJoined(OfTable):
    """All nonces by seat, "" where the server's stands in: the root and these decide where each leaf lies."""

    server_nonce: str
    nonces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavesOpened(OfTable):
    """What opens the leaves of the cards that `seat` was dealt, in that order. Secret: `salts`, and the seat's `key`,
    told with its first cards, from which the salts of its own tokens come."""

    seat: int
    salts: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandsCommitted(OfTable):
    """`seat` has laid two cards away: all hands and the talon are committed to afresh, for the `round`th time.

    `tokens` by seat, and the `talon`, are told where a player committed to a nonce.
    """

    seat: int
    round: int
    commitment: str
    tokens: tuple[tuple[str, ...], ...] = ()
    talon: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOpened(OfTable):
    """The salt of a card that was played or turned: it opens one of its seat's tokens."""

    card: int
    salt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TalonOpened(OfTable):
    """`seat` picked the talon up. Secret: the `salt` that opens it."""

    seat: int
    salt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealStarted(OfTable):
    """Deal number `deal` is dealt by `dealer`. Secret: the sealed key of the deck, of deals that nothing was committed
    to before."""

    deal: int
    dealer: int
    sealed_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealEnded(OfTable):
    """Deal number `deal` is paid, chips by seat."""

    deal: int
    payments: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineSet(OfTable):
    """Who is to act has until `at`; None: no deadline any more, and `kind` is what the old one was."""

    at: int | None
    kind: DeadlineKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnExpired(OfTable):
    """`seat` let its deadline pass; its most modest move follows in the same entry."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundExtended(OfTable):
    """The first place is shared: the table now plays `deals` deals."""

    deals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFinished(OfTable):
    """The last deal is played and the standing final."""

    standing: tuple[Place, ...]


TableEvent = (
    TableOpened
    | SatDown
    | BecameReady
    | SeatLeft
    | SeatFreed
    | ChipsBrought
    | ChipsReturned
    | NonceCommitted
    | DealCommitted
    | NonceRevealed
    | NoncesJoined
    | LeavesOpened
    | HandsCommitted
    | CardOpened
    | TalonOpened
    | DealStarted
    | DealEnded
    | DeadlineSet
    | TurnExpired
    | RoundExtended
    | TableFinished
)
Event = TableEvent | GameEvent
