"""What happened in a deal. Decisions are recorded, totals are not."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.cards import CARDS
from engine.game import Result
from engine.games.voleny.rules import SEATS, Kind, Part, Proti, Rules
from engine.marriages import MATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt:
    """The cards were dealt (§2.2). Secret: `deck`; a seat is shown what it sees at once as `hand` instead."""

    rules: Rules
    dealer: int
    deck: tuple[int, ...] | None = None
    hand: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrumpChosen:
    """The forehand chose his trump card (§3.1). Secret: `card`; whether it was blind, and where, is public."""

    seat: int
    card: int | None = None
    blind: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandCompleted:
    """The forehand took up his second five (§2.3). Secret: `cards`."""

    seat: int
    cards: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discarded:
    """Two cards were laid into the talon (§3.3, §4.3). Secret: `cards`."""

    seat: int
    cards: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameDeclared:
    """The seat asked "Barva?" or announced betl or durch (§4.1, §4.3)."""

    seat: int
    game: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidGood:
    """The seat approved, or raised nothing (§4.2, §4.4, §6.2)."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOver:
    """The seat took over the game and picked up the talon (§4.3). Secret: `cards`."""

    seat: int
    cards: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrumpTurned:
    """Both others approved the colour: the trump card lies face up (§5)."""

    card: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractAnnounced:
    """The forehand announced his contract (§5.1)."""

    seat: int
    contract: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubled:
    """The seat raised parts, joined raises of its partner, announced proti (§6.2, §5.6)."""

    seat: int
    raises: tuple[Part, ...]
    joins: tuple[Part, ...]
    announces: tuple[Proti, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOpened:
    """The other side speaks next, `seat` first, about `parts` (§6.2)."""

    seat: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayBegan:
    """Doubling ended; `seat` leads to the first trick (§4.6, §6.2)."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlayed:
    """A card was played; it announced a marriage worth `marriage_points`, None if it did not (§7.8).

    `marriage` is the word that was asked for, None if none was. Secret: a "no", which tells of the partner card.
    """

    seat: int
    card: int
    marriage: bool | None = None
    marriage_points: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrickTaken:
    """The seat took the trick (§7.7). Recorded, so that an old deal replays the same."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DealScored:
    """The deal ended and was settled (§8)."""

    result: Result


Event = (
    Dealt
    | TrumpChosen
    | HandCompleted
    | Discarded
    | GameDeclared
    | SaidGood
    | TakenOver
    | TrumpTurned
    | ContractAnnounced
    | Doubled
    | TurnOpened
    | PlayBegan
    | CardPlayed
    | TrickTaken
    | DealScored
)

# The same few events happen over and over: each is made once, those that decide returns alone as its tuple.
PLAYED: Final = tuple(tuple((CardPlayed(seat=seat, card=card),) for card in range(CARDS)) for seat in range(SEATS))
TAKEN: Final = tuple((TrickTaken(seat=seat),) for seat in range(SEATS))
SAID_GOOD: Final = tuple((SaidGood(seat=seat),) for seat in range(SEATS))
PLAY_BEGAN: Final = tuple((PlayBegan(seat=seat),) for seat in range(SEATS))


@cache
def played(seat: int, card: int, marriage: bool | None, marriage_points: int | None) -> tuple[CardPlayed]:
    """A king or queen played while the other is in hand."""
    assert MATES[card]
    return (CardPlayed(seat=seat, card=card, marriage=marriage, marriage_points=marriage_points),)


@cache
def trump_chosen(seat: int, card: int, blind: int | None) -> TrumpChosen:
    """A trump card chosen."""
    return TrumpChosen(seat=seat, card=card, blind=blind)


@cache
def discarded(seat: int, cards: tuple[int, ...]) -> tuple[Discarded]:
    """Two cards laid away."""
    return (Discarded(seat=seat, cards=cards),)


@cache
def declared(seat: int, game: Kind) -> tuple[GameDeclared]:
    """A game declared."""
    return (GameDeclared(seat=seat, game=game),)


@cache
def announced(seat: int, contract: tuple[Part, ...]) -> tuple[ContractAnnounced]:
    """A contract announced."""
    return (ContractAnnounced(seat=seat, contract=contract),)


@cache
def doubled(
    seat: int, raises: tuple[Part, ...], joins: tuple[Part, ...], announces: tuple[Proti, ...]
) -> tuple[Doubled]:
    """Parts raised or joined, proti announced."""
    return (Doubled(seat=seat, raises=raises, joins=joins, announces=announces),)


@cache
def turn_opened(seat: int, parts: tuple[Part, ...]) -> tuple[TurnOpened]:
    """The turn of the other side."""
    return (TurnOpened(seat=seat, parts=parts),)
