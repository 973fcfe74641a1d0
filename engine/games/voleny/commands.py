"""What a seat may ask for, and the deal that starts it all."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

from engine.cards import CARDS
from engine.games.voleny.rules import SEATS, Kind, Part, Proti, Rules
from engine.marriages import MATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """Deal `deck`, 32 cards in dealing order, under `rules` (§2)."""

    rules: Rules
    dealer: int
    deck: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseTrump:
    """Choose a card of the first seven, or draw the one at index `blind` of the second five (§3.1)."""

    seat: int
    card: int | None = None
    blind: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """Lay two cards face down as the talon (§3.3, §4.3). `cards` rise."""

    seat: int
    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declare:
    """Ask "Barva?" or announce betl or durch (§4.1, §4.3)."""

    seat: int
    game: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    """Approve the colour, a betl, or leave the parts as they are (§4.2, §4.4, §6.2)."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOver:
    """Take the talon and the game (§4.3)."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Announce:
    """Announce the contract of a trump game (§5.1)."""

    seat: int
    contract: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flek:
    """Raise parts, or join a raise, and announce proti (§6.2, §5.6)."""

    seat: int
    raises: tuple[Part, ...] = ()
    announces: tuple[Proti, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayCard:
    """Play a card; `marriage` is the word of §7.8, None where none is asked."""

    seat: int
    card: int
    marriage: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Claim the rest of the tricks (§9.1)."""

    seat: int


Move = ChooseTrump | Discard | Declare | Good | TakeOver | Announce | Flek | PlayCard | Claim
Command = Deal | Move

# The same few commands are legal over and over: each is made once.
PLAYS: Final = tuple(tuple(PlayCard(seat=seat, card=card) for card in range(CARDS)) for seat in range(SEATS))
PLAYS_WITH_WORD: Final = tuple(
    {
        word: tuple(PlayCard(seat=seat, card=card, marriage=word) if MATES[card] else None for card in range(CARDS))
        for word in (True, False)
    }
    for seat in range(SEATS)
)
GOODS: Final = tuple(Good(seat=seat) for seat in range(SEATS))
TAKE_OVERS: Final = tuple(TakeOver(seat=seat) for seat in range(SEATS))
CLAIMS: Final = tuple(Claim(seat=seat) for seat in range(SEATS))


def play(seat: int, card: int, marriage: bool | None = None) -> PlayCard:
    """The command to play `card`, made once."""
    if marriage is None:
        return PLAYS[seat][card]
    return PLAYS_WITH_WORD[seat][marriage][card] or PlayCard(seat=seat, card=card, marriage=marriage)


@cache
def trumps(seat: int, card: int | None = None, blind: int | None = None) -> ChooseTrump:
    """The choice of a trump card, made once."""
    return ChooseTrump(seat=seat, card=card, blind=blind)


@cache
def discards(seat: int) -> dict[tuple[int, ...], Discard]:
    """All discards of a seat by their two cards, the lower first."""
    return {pair: Discard(seat=seat, cards=pair) for pair in combinations(range(CARDS), 2)}


@cache
def declares(seat: int, game: Kind) -> Declare:
    """The declaration of a game, made once."""
    return Declare(seat=seat, game=game)


@cache
def announces(seat: int, contract: tuple[Part, ...]) -> Announce:
    """The announcement of a contract, made once."""
    return Announce(seat=seat, contract=contract)


@cache
def flek(seat: int, raises: tuple[Part, ...], protis: tuple[Proti, ...] = ()) -> Flek:
    """A flek, made once."""
    return Flek(seat=seat, raises=raises, announces=protis)
