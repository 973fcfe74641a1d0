"""The view of a table as a bot of volený reads it: cards as integers, only what it thinks about."""

from collections.abc import Mapping
from typing import NamedTuple, cast

from engine.cards import SUITS, TEN_HIGH, strength
from engine.notation import CARD

Json = Mapping[str, object]


class Sight(NamedTuple):
    """What a bot looks at. `hand` rises; `trick` is seat and card in the order played."""

    seat: int
    hand: tuple[int, ...]
    trump: int | None
    trump_card: int | None
    declarer: int | None
    forehand: int
    contract: tuple[str, ...]
    levels: Mapping[str, int]
    said: tuple[str, ...]
    trick: tuple[tuple[int, int], ...]

    @property
    def is_declarer(self) -> bool:
        """Does this seat play alone?"""
        return self.seat == self.declarer

    @property
    def is_trick_game(self) -> bool:
        """Are aces and tens worth points?"""
        return self.trump is not None


def look(view: Json) -> Sight:
    """What `view`, as the contract of the API shapes it, tells a bot."""
    trump, trump_card = view["trump"], view.get("trump_card")
    trick = cast(list[dict[str, object]], view["trick"])
    return Sight(
        seat=cast(int, view["seat"]),
        hand=tuple(sorted(CARD[code] for code in cast(list[str], view["hand"]))),
        trump=None if trump is None else SUITS.index(cast(str, trump)),
        trump_card=None if trump_card is None else CARD[cast(str, trump_card)],
        declarer=cast(int | None, view["declarer"]),
        forehand=(cast(int, view["dealer"]) + 1) % 3,
        contract=tuple(cast(list[str], view["contract"])),
        levels=cast(Mapping[str, int], view["levels"]),
        said=tuple(cast(list[str], view.get("said", ()))),
        trick=tuple((cast(int, played["seat"]), CARD[cast(str, played["card"])]) for played in trick),
    )


STRENGTH = strength(TEN_HIGH)
"""How strong a card is within its suit in a trump game; in betl and durch it is the rank itself, `card % 8`."""

SUIT_CARDS = tuple(tuple(range(8 * suit, 8 * suit + 8)) for suit in range(4))


def of_suit(cards: tuple[int, ...], suit: int) -> tuple[int, ...]:
    """The cards of one suit of a rising hand."""
    return tuple(card for card in cards if card >> 3 == suit)


def is_point(card: int) -> bool:
    """Is it an ace or a ten?"""
    return card % 8 in (3, 7)
