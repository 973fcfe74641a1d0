"""Files of the program Mariášek (`.hra`): XML, read strictly into plain values.

A file tells the cards, the game and the tricks; who said what before them it does not tell.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from engine.cards import CARDS, RANKS, SUITS
from engine.games.voleny.rules import SEATS
from engine.notation import CODES

BYTES_MAX: Final = 262_144
TRICKS_MAX: Final = 10

_SUIT: Final = {"cerveny": "h", "zeleny": "s", "kule": "d", "zaludy": "c"}
_RANK: Final = dict(zip(
    ("Sedma", "Osma", "Devitka", "Desitka", "Spodek", "Svrsek", "Kral", "Eso"), RANKS, strict=True
))
_ENCODING: Final = re.compile(r"""<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)""")
_COUNT, _NUMBER = re.compile("[0-9]{1,2}"), re.compile("[+-]?[0-9]{1,12}")
_PLAYERS: Final = ("Hrac1", "Hrac2", "Hrac3")
_PARTS: Final = (*_PLAYERS, "Talon", "Fleky", "Stychy", "Zuctovani")
_CARD: Final = {
    (suit, rank): 8 * SUITS.index(_SUIT[suit]) + RANKS.index(_RANK[rank]) for suit in _SUIT for rank in _RANK
}
KINDS: Final = ("Hra", "Sedma", "Kilo", "SedmaProti", "KiloProti", "Betl", "Durch")


class Refused(Exception):
    """A file that is no deal of volený mariáš. `code` is permanent, `place` says where, `message` is for people."""

    def __init__(self, code: str, place: str, message: str) -> None:
        super().__init__(f"{code}: {place}: {message}" if place else f"{code}: {message}")
        self.code = code
        self.place = place
        self.message = message


class Trick(NamedTuple):
    """A finished trick: who led, and the card of each seat."""

    leader: int
    cards: tuple[int, int, int]


class Hra(NamedTuple):
    """A file. Seats are 0-2 for Hrac1-Hrac3; cards are ints.

    `hands` are what each still holds, `talon` is () where it is not told; `kinds` are of KINDS, () where nothing was
    chosen yet. `raises` are how often each kind was doubled. `points` and `money` are by seat, None where not told.
    """

    leader: int | None
    chooser: int
    kinds: tuple[str, ...]
    trump: int | None
    hands: tuple[tuple[int, ...], ...]
    talon: tuple[int, ...]
    raises: dict[str, int]
    tricks: tuple[Trick, ...]
    points: tuple[int | None, ...]
    money: tuple[int | None, ...]


def read_hra(text: bytes) -> Hra:
    """The file of these bytes, UTF-8 with or without a mark. Raises Refused."""
    root = _root(text)
    _once(root, "Hra", _PARTS)
    for number, stych in enumerate(root.iterfind("Stychy/Stych"), 1):
        _once(stych, f"Stych {number}", _PLAYERS)
    for paid in root.iterfind("Zuctovani"):
        _once(paid, "Zuctovani", _PLAYERS)
    tricks = tuple(_trick(each, f"Stych {number}") for number, each in enumerate(root.iterfind("Stychy/Stych"), 1))
    if len(tricks) > TRICKS_MAX:
        raise Refused("too_many_tricks", "Stychy", f"{len(tricks)} tricks; a deal has {TRICKS_MAX}.")
    chooser = _seat(root, "Voli", "Hra")
    if chooser is None:
        raise Refused("bad_file", "Hra", "Voli is missing: who chose the game?")
    hands = tuple(_cards(root.find(f"Hrac{seat + 1}"), f"Hrac{seat + 1}") for seat in range(SEATS))
    talon = _cards(root.find("Talon"), "Talon")
    if len(talon) not in (0, 2):
        raise Refused("wrong_cards", "Talon", f"{len(talon)} cards; the talon has two, or is not told.")
    everywhere = [*(card for hand in hands for card in hand), *talon, *(card for each in tricks for card in each.cards)]
    _different(everywhere, CARDS if talon else None)
    return Hra(
        _seat(root, "Zacina", "Hra"), chooser, _kinds(root), _trump(root), hands, talon, _raises(root), tricks,
        _numbers(root, "Body"), _numbers(root, "Zisk"),
    )


def _root(text: bytes) -> Element:
    if len(text) > BYTES_MAX:
        raise Refused("too_large", "", f"Longer than {BYTES_MAX} bytes.")
    try:
        root = fromstring(_decoded(text), forbid_dtd=True)
    except DefusedXmlException:
        raise Refused("bad_file", "", "A document type or entities: no such file has them.") from None
    except (ParseError, ValueError, LookupError) as error:
        raise Refused("bad_file", "", f"Not XML: {error}.") from None
    if root.tag != "Hra":
        raise Refused("bad_file", "", f"The root is {root.tag[:40]!r}, not Hra.")
    assert isinstance(root, Element)
    return root


def _decoded(text: bytes) -> str:
    """Raises Refused for another encoding: bytes that are not told apart are not guessed at."""
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("bad_file", "", f"Not text in UTF-8 (byte {error.start}).") from None
    if decoded[:2] in ("<\0", "\0<"):  # The parser would read it, and we would not see what encoding it tells.
        raise Refused("bad_file", "", "Not text in UTF-8: it is in UTF-16.")
    told = _ENCODING.match(decoded)
    if told and told[1].lower() not in ("utf-8", "us-ascii"):
        raise Refused("bad_file", "", f"It says that it is in {told[1][:40]!r}; such files are in UTF-8.")
    return decoded


def _once(element: Element, place: str, names: Sequence[str]) -> None:
    """Of two elements of one name either could be meant."""
    counts = Counter(each.tag for each in element)
    for name in names:
        if counts[name] > 1:
            raise Refused("bad_file", place, f"{name} is there {counts[name]} times.")


def _seat(element: Element, name: str, place: str) -> int | None:
    value = element.get(name)
    if value is None:
        return None
    if value not in _PLAYERS:
        raise Refused("bad_file", place, f"{name}={value[:40]!r} is no player.")
    return int(value[-1]) - 1


def _card(element: Element, place: str) -> int:
    suit, rank = element.get("Barva", ""), element.get("Hodnota", "")
    card = _CARD.get((suit.lower(), rank))
    if card is None:
        raise Refused("bad_file", place, f"Barva={suit[:40]!r} Hodnota={rank[:40]!r} is no card.")
    return card


def _cards(element: Element | None, place: str) -> tuple[int, ...]:
    return () if element is None else tuple(_card(each, place) for each in element.iterfind("Karta"))


def _trick(element: Element, place: str) -> Trick:
    leader = _seat(element, "Zacina", place)
    played = [element.find(f"Hrac{seat + 1}") for seat in range(SEATS)]
    first, second, third = (
        _card(each, f"{place}, Hrac{seat}") for seat, each in enumerate(_all_there(played, place), 1)
    )
    if leader is None:
        raise Refused("bad_file", place, "Zacina is missing: who led?")
    return Trick(leader, (first, second, third))


def _all_there(played: list[Element | None], place: str) -> Iterator[Element]:
    for number, each in enumerate(played, 1):
        if each is None:
            raise Refused("bad_file", place, f"The card of Hrac{number} is missing.")
        yield each


def _different(cards: list[int], count: int | None) -> None:
    """Just so many different cards; None: where the talon is not told, it may be missing, or not be laid away yet."""
    seen: set[int] = set()
    for card in cards:
        if card in seen:
            raise Refused("wrong_cards", "", f"{CODES[card]} is there twice.")
        seen.add(card)
    if len(cards) not in ((CARDS - 2, CARDS) if count is None else (count,)):
        raise Refused("wrong_cards", "", f"{len(cards)} cards; a deal has 32, or 30 where the talon is not told.")


def _kinds(root: Element) -> tuple[str, ...]:
    kinds = tuple(root.get("Typ", "").split())
    for kind in kinds:
        if kind not in KINDS:
            raise Refused("bad_file", "Hra", f"Typ={kind[:40]!r} is none of {' '.join(KINDS)}.")
    return kinds


def _trump(root: Element) -> int | None:
    name = root.get("Trumf")
    if name is None:
        return None
    if name.lower() not in _SUIT:
        raise Refused("bad_file", "Hra", f"Trumf={name[:40]!r} is no suit.")
    return SUITS.index(_SUIT[name.lower()])


def _raises(root: Element) -> dict[str, int]:
    raises: dict[str, int] = {}
    for each in root.iterfind("Fleky/Flek"):
        kind, count = each.get("Hra", ""), each.get("Pocet", "")
        if kind not in KINDS or not _COUNT.fullmatch(count):
            raise Refused("bad_file", "Fleky", f"Hra={kind[:40]!r} Pocet={count[:40]!r} is no flek.")
        raises[kind] = int(count)
    return raises


def _numbers(root: Element, name: str) -> tuple[int | None, ...]:
    return tuple(_number(root.find(f"Zuctovani/Hrac{seat + 1}"), name, f"Zuctovani, Hrac{seat + 1}")
                 for seat in range(SEATS))


def _number(element: Element | None, name: str, place: str) -> int | None:
    value = "" if element is None else element.get(name, "").strip()
    if not value:
        return None
    if not _NUMBER.fullmatch(value):
        raise Refused("bad_file", place, f"{name}={value[:40]!r} is no whole number, or too large.")
    return int(value)
