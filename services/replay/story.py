"""A table's events, as one may know them, as sentences."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from services.replay.words import ENGLISH, LEVELS, PARTS, Words, level_name

Event = dict[str, Any]
_FROM_THE_RIGHT = frozenset({"R", "AL"})
ROOT_SHOWN = 12


def isolated(name: str) -> str:
    """A name that may stand in any sentence: written from the right to the left it would turn round what follows it,
    "+5" into "5+"."""
    if any(unicodedata.bidirectional(letter) in _FROM_THE_RIGHT for letter in name):
        return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"
    return name


class Story:
    """Tells what happens at one table. `names` are those of the seats; with `plays` each card is told as it is
    played, else the trick when it is taken."""

    def __init__(self, names: Sequence[str], words: Words = ENGLISH, *, plays: bool = False) -> None:
        self._names = list(names)
        self._plays = plays
        self._words = words
        self._trick: list[str] = []
        self._tricks = 0
        self._levels: dict[str, int] = {}

    def meet(self, view: Event, events: Sequence[Event]) -> list[str]:
        """Who sits at a table that looks like `view` after `events`; who left by them is told of by his name."""
        ended = any(event["type"] == "deal_ended" for event in events)
        self._names = [
            self._names[number] if here is None and ended else self._called(number, here)
            for number, here in enumerate(view["seats"])
        ]
        return self._names

    def lines(self, events: Sequence[Event]) -> list[str]:
        """The sentences about `events`; a trick is told when it is taken."""
        return [line for event in events for line in _TELL.get(event["type"], _nothing)(self, event)]

    def hand(self, seat: int, cards: list[str]) -> str:
        """The sentence about the cards that a seat holds."""
        return self._say("hand", name=self._names[seat], cards=self._words.cards(cards))

    def table(self, view: Event, used_ms: Sequence[int]) -> list[str]:
        """The sentences about what can be seen in `view`: the trick, levels, points, who is to act, time used."""
        levels = [f"{PARTS[part]} {LEVELS[level]}" for part, level in view["levels"].items() if level]
        lies = ", ".join(f"{self._name(played)} {self._words.card(played['card'])}" for played in view["trick"])
        return [
            *([self._say("lies", cards=lies)] if lies else []),
            *([self._say("levels", levels=", ".join(levels))] if levels else []),
            *([self._say("so far", **view["points"])] if any(view["points"].values()) else []),
            *([self._say("awaited", names=", ".join(self._names[seat] for seat in view["to_act"]))]
              if view["to_act"] else []),
            *self.used(used_ms),
        ]

    def used(self, used_ms: Sequence[int]) -> list[str]:
        """How long each seat has been waited for, if any has."""
        times = (f"{name} {ms / 1000:.1f} s" for name, ms in zip(self._names, used_ms, strict=True))
        return [self._say("used", times=", ".join(times))] if any(used_ms) else []

    def _called(self, number: int, here: Event | None) -> str:
        if here is None:
            return self._say("seat", number=number)
        return isolated(str(here.get("name") or self._say("bot", number=number)))

    def _say(self, what: str, **places: object) -> str:
        return self._words.tell[what].format(**places)

    def _name(self, event: Event) -> str:
        return self._names[event["seat"]]

    def _dealt(self, event: Event) -> list[str]:
        self._trick, self._tricks, self._levels = [], 0, {}
        forehand = self._names[(event["dealer"] + 1) % len(self._names)]
        return [self._say("dealer", dealer=self._names[event["dealer"]], forehand=forehand)]

    def _fair(self, event: Event) -> list[str]:
        """What makes a deal fair is told to who follows step by step."""
        if not self._plays:
            return []
        if event["type"] == "deal_committed":
            return [self._say("fixed", root=event["root"][:ROOT_SHOWN])]
        return [self._say("nonce" if event["type"] == "nonce_committed" else "revealed", name=self._name(event))]

    def _started(self, event: Event) -> list[str]:
        return ["", self._say("deal", deal=event["deal"])]

    def _trumps(self, event: Event) -> list[str]:
        name = self._name(event)
        if event.get("blind") is not None:
            return [self._say("trumps blind", name=name)]
        if event.get("card"):
            return [self._say("trumps seen", name=name, card=self._words.card(event["card"]))]
        return [self._say("trumps", name=name)]

    def _discarded(self, event: Event) -> list[str]:
        if event.get("cards"):
            return [self._say("talon seen", name=self._name(event), cards=self._words.cards(event["cards"]))]
        return [self._say("talon", name=self._name(event))]

    def _declared(self, event: Event) -> list[str]:
        return [self._say(event["game"], name=self._name(event))]

    def _good(self, event: Event) -> list[str]:
        return [self._say("good", name=self._name(event))]

    def _taken_over(self, event: Event) -> list[str]:
        return [self._say("bad", name=self._name(event))]

    def _turned(self, event: Event) -> list[str]:
        card = event["card"]
        return [self._say("turned", suit=self._words.suits[card[1]], card=self._words.card(card))]

    def _contract(self, event: Event) -> list[str]:
        parts = self._words.joiner.join(self._words.parts[part] for part in event["contract"])
        return [self._say("contract", name=self._name(event), parts=parts)]

    def _doubled(self, event: Event) -> list[str]:
        said = []
        for part in event["raise"]:
            self._levels[part] = self._levels.get(part, 0) + 1
            said.append(self._say("flek", level=LEVELS[self._levels[part]], part=self._words.parts[part]))
        said += [self._say("joins", part=self._words.parts[part]) for part in event["join"]]
        said += [PARTS[part] for part in event["announce"]]
        return [self._say("says", name=self._name(event), said=", ".join(said))] if said else []

    def _played(self, event: Event) -> list[str]:
        points = event.get("marriage_points")
        hlaska = self._say("marriage", points=points) if points else ""
        card = f"{self._words.card(event['card'])}{hlaska}"
        self._trick.append(f"{self._name(event)} {card}")
        return [self._say("play", name=self._name(event), card=card)] if self._plays else []

    def _taken(self, event: Event) -> list[str]:
        self._tricks += 1
        what = "goes to" if self._plays else "trick"
        told = self._say(what, number=self._tricks, cards=", ".join(self._trick), name=self._name(event))
        self._trick = []
        return [told]

    def _scored(self, event: Event) -> list[str]:
        result = event["result"]
        points, marriages = result["points"], result["marriages"]
        lines = []
        if any(points.values()):
            sides = (
                " ".join([self._say(side), str(points[side]), *(f"+ {worth}" for worth in marriages[side])])
                for side in ("declarer", "defence")
            )
            lines.append(self._say("points", sides=", ".join(sides)))
        if not result["played"]:
            lines.append(self._say("unplayed"))
        lines += [self._part(part) for part in result["parts"]]
        paid = ", ".join(
            f"{name} {chips:+d}" for name, chips in zip(self._names, result["payments"], strict=True)
        )
        return [*lines, self._say("chips", paid=paid)]

    def _part(self, part: Event) -> str:
        called = level_name(part["level"])
        level = f" ({called})" if called else ""
        ended = "won" if part["won"] else "lost"
        return self._say(ended, part=f"{PARTS[part['part']]}{level}", chips=abs(part["per_defender"]))

    def _late(self, event: Event) -> list[str]:
        return [self._say("late", name=self._name(event))]

    def _extended(self, event: Event) -> list[str]:
        return ["", self._say("round", deals=event["deals"])]

    def _finished(self, event: Event) -> list[str]:
        places = (f"{place['place']}. {self._names[place['seat']]} {place['chips']:+d}" for place in event["standing"])
        return ["", self._say("over", places=", ".join(places))]


def _nothing(story: Story, event: Event) -> list[str]:
    """The rest is for clients, not for a tale."""
    return []


_TELL: dict[str, Callable[[Story, Event], list[str]]] = {
    "nonce_committed": Story._fair,
    "deal_committed": Story._fair,
    "nonce_revealed": Story._fair,
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
    "turn_expired": Story._late,
    "round_extended": Story._extended,
    "table_finished": Story._finished,
}
