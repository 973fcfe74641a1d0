"""Where a deal stands: one small value for each phase, each with the seat to act.

They are named tuples because a frozen dataclass of the same size costs five times as much to make.
Hands, talon and sets of cards are masks; sets of parts are bits (`rules.bits_of`).
"""

from typing import Final, NamedTuple

from engine.game import Result
from engine.games.voleny.rules import Kind, Part, Rules
from engine.tricks import Trick

Hands = tuple[int, int, int]
"""The cards of each seat."""
Levels = tuple[int, ...]
"""The level of each of the seven parts, in the order of the rule book."""

NOBODY: Final = -1
NO_CARD: Final = -1


class Undealt(NamedTuple):
    """Before the first card."""

    seat: int = NOBODY


class ChoosingTrump(NamedTuple):
    """The forehand sees seven cards and chooses trumps (§3.1)."""

    seat: int
    rules: Rules
    dealer: int
    hands: Hands
    five: tuple[int, ...]
    """The forehand's second five, in dealing order."""


class Discarding(NamedTuple):
    """The seat holds twelve cards and lays two away (§3.3, §4.3)."""

    seat: int
    rules: Rules
    dealer: int
    hands: Hands
    trump_card: int
    """The forehand's trump card, NO_CARD once trumps are void."""
    beaten: Kind | None
    """The game that was taken over, None for the forehand's own discard."""


class Declaring(NamedTuple):
    """The seat says which game it plays (§4.1, §4.3)."""

    seat: int
    rules: Rules
    dealer: int
    hands: Hands
    trump_card: int
    beaten: Kind | None
    talon: int


class Answering(NamedTuple):
    """The seat answers to "Barva?" (§4.2)."""

    seat: int
    rules: Rules
    dealer: int
    hands: Hands
    trump_card: int
    talon: int


class Announcing(NamedTuple):
    """The colour is approved, the trump card turned; the forehand announces his contract (§5.1)."""

    seat: int
    rules: Rules
    dealer: int
    hands: Hands
    trump_card: int
    talon: int


class Bid(NamedTuple):
    """What the declarer announced, and the cards it stands on: fixed while it is doubled."""

    rules: Rules
    dealer: int
    declarer: int
    game: Kind
    trump: int
    """The trump suit, NO_TRUMP in betl and durch."""
    parts: tuple[Part, ...]
    """The declarer's contract."""
    hands: Hands
    talon: int


class Doubling(NamedTuple):
    """The seat may raise parts (§6); in a betl the first turn of the defence is its answer (§4.4)."""

    seat: int
    bid: Bid
    turn: int
    """0 for the first turn of the defence; odd turns are the declarer's."""
    open: int
    """The parts that may be raised in this turn."""
    said: int
    """What the side has raised or announced in this turn."""
    levels: Levels
    doublers: tuple[int, int, int]
    """The parts that each seat has raised or joined."""
    protis: tuple[int, int]
    """The seats that announced sedma_proti and sto_proti."""


class Contract(NamedTuple):
    """All that the play is about: the bid and its doubling, fixed from the first card to the last."""

    rules: Rules
    dealer: int
    declarer: int
    game: Kind
    trump: int
    parts: tuple[Part, ...]
    hands: Hands
    """As they were before the first card."""
    talon: int
    levels: Levels
    doublers: tuple[int, int, int]
    protis: tuple[int, int]
    lead: int
    """The seat that leads to the first trick."""
    locked: tuple[int, int, int]
    """For the announcer of a sedma or sedma_proti his trump 7, for the others no card (§7.6)."""
    words: tuple[int, int, int]
    """1 for a seat that is asked for a word at each marriage, else 0 (§7.8)."""
    no_cards: Trick
    """The trick before its first card."""


class Playing(NamedTuple):
    """Cards are being played (§7)."""

    seat: int
    contract: Contract
    left: int
    """The cards not yet played, of all hands."""
    trick: Trick
    taken: tuple[tuple[int, tuple[int, ...]], ...]
    """Each finished trick: who took it, and its cards in the order played."""
    marriages: tuple[tuple[int, int], ...]
    """Each announced marriage: seat and points."""


class Over(NamedTuple):
    """The deal is settled; `ended` is how it stood then."""

    seat: int
    ended: Doubling | Playing
    result: Result


State = Undealt | ChoosingTrump | Discarding | Declaring | Answering | Announcing | Doubling | Playing | Over
