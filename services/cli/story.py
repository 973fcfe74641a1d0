"""A table's public events as sentences, in English with the words that Czech players use."""

from collections.abc import Callable, Sequence
from typing import Any

Event = dict[str, Any]

SUITS = {"h": "červené", "d": "kule", "c": "žaludy", "s": "zelené"}
SIGNS = {"h": "♥", "d": "♦", "c": "♣", "s": "♠"}
RANKS = {
    "7": "sedma", "8": "osma", "9": "devítka", "T": "desítka", "J": "spodek", "Q": "svršek", "K": "král", "A": "eso",
}
PARTS = {
    "hra": "hra", "tiche_sto": "tiché sto", "sedma": "sedma", "ticha_sedma": "tichá sedma", "sto": "sto",
    "betl": "betl", "durch": "durch", "sedma_proti": "sedma proti", "sto_proti": "sto proti",
}
LEVELS = ("", "flek", "re", "tutti", "boty", "kalhoty", "kaiser")
GAMES = {"colour": "asks „Barva?“", "betl": "announces betl", "durch": "announces durch"}


class Story:
    """Tells what happens at one table. `names` are those of the seats."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._trick: list[str] = []
        self._tricks = 0
        self._levels: dict[str, int] = {}

    def lines(self, events: Sequence[Event]) -> list[str]:
        """The sentences about `events`; a trick is told when it is taken."""
        return [line for event in events for line in _TELL.get(event["type"], _nothing)(self, event)]

    def _name(self, event: Event) -> str:
        return self._names[event["seat"]]

    def _dealt(self, event: Event) -> list[str]:
        self._trick, self._tricks, self._levels = [], 0, {}
        forehand = self._names[(event["dealer"] + 1) % len(self._names)]
        return [f"{self._names[event['dealer']]} deals; {forehand} is the forehand (forhont)"]

    def _started(self, event: Event) -> list[str]:
        return ["", f"Deal {event['deal']}"]

    def _trumps(self, event: Event) -> list[str]:
        blind = " blind, from the cards not seen" if event.get("blind") is not None else ", face down"
        return [f"  {self._name(event)} chooses trumps{blind}"]

    def _discarded(self, event: Event) -> list[str]:
        return [f"  {self._name(event)} lays two cards into the talon"]

    def _declared(self, event: Event) -> list[str]:
        return [f"  {self._name(event)} {GAMES[event['game']]}"]

    def _good(self, event: Event) -> list[str]:
        return [f"  {self._name(event)}: dobrá (good)"]

    def _taken_over(self, event: Event) -> list[str]:
        return [f"  {self._name(event)}: špatná (bad), and takes the talon"]

    def _turned(self, event: Event) -> list[str]:
        return [f"  trumps are {SUITS[event['card'][1]]}: {card(event['card'])} is turned up"]

    def _contract(self, event: Event) -> list[str]:
        return [f"  {self._name(event)} plays {' and '.join(PARTS[part] for part in event['contract'])}"]

    def _doubled(self, event: Event) -> list[str]:
        said = []
        for part in event["raise"]:
            self._levels[part] = self._levels.get(part, 0) + 1
            said.append(f"{LEVELS[self._levels[part]]} on {PARTS[part]}")
        said += [f"joins on {PARTS[part]}" for part in event["join"]]
        said += [PARTS[part] for part in event["announce"]]
        return [f"  {self._name(event)}: {', '.join(said)}"] if said else []

    def _played(self, event: Event) -> list[str]:
        points = event.get("marriage_points")
        hlaska = f" with a hláška of {points}" if points else ""
        self._trick.append(f"{self._name(event)} {card(event['card'])}{hlaska}")
        return []

    def _taken(self, event: Event) -> list[str]:
        self._tricks += 1
        told = f"  trick {self._tricks:2}: {', '.join(self._trick)} → {self._name(event)}"
        self._trick = []
        return [told]

    def _scored(self, event: Event) -> list[str]:
        result = event["result"]
        points = result["points"]
        lines = []
        if any(points.values()):
            sides = (_side(name, points[name], result["marriages"][name]) for name in ("declarer", "defence"))
            lines.append(f"  points: {', '.join(sides)}")
        if not result["played"]:
            lines.append("  settled without play")
        lines += [f"  {_part(part)}" for part in result["parts"]]
        paid = ", ".join(
            f"{name} {chips:+d}" for name, chips in zip(self._names, result["payments"], strict=True)
        )
        return [*lines, f"  chips: {paid}"]

    def _extended(self, event: Event) -> list[str]:
        return ["", f"The first place is shared: they play on, to deal {event['deals']}"]

    def _finished(self, event: Event) -> list[str]:
        places = (f"{place['place']}. {self._names[place['seat']]} {place['chips']:+d}" for place in event["standing"])
        return ["", f"The session is over: {', '.join(places)}"]


def _side(name: str, points: int, marriages: list[int]) -> str:
    """Such as `declarer 50 + 40`: card points, and what the hlášky brought."""
    return " ".join([f"{name} {points}", *(f"+ {worth}" for worth in marriages)])


def card(code: str) -> str:
    """`Ah` as `eso ♥`."""
    return f"{RANKS[code[0]]} {SIGNS[code[1]]}"


def _part(part: Event) -> str:
    level = f" ({LEVELS[part['level']]})" if 0 < part["level"] < len(LEVELS) else ""
    return f"{PARTS[part['part']]}{level}: {'won' if part['won'] else 'lost'}, {abs(part['per_defender'])} each"


def _nothing(story: Story, event: Event) -> list[str]:
    """The rest is for clients, not for a tale."""
    return []


_TELL: dict[str, Callable[[Story, Event], list[str]]] = {
    "deal_started": Story._started,
    "dealt": Story._dealt,
    "trump_chosen": Story._trumps,
    "discarded": Story._discarded,
    "game_declared": Story._declared,
    "said_good": Story._good,
    "taken_over": Story._taken_over,
    "trump_turned": Story._turned,
    "contract_announced": Story._contract,
    "doubled": Story._doubled,
    "card_played": Story._played,
    "trick_taken": Story._taken,
    "deal_scored": Story._scored,
    "round_extended": Story._extended,
    "table_finished": Story._finished,
}
