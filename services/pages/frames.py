"""What a replay shows at each version: hands, trick, calls and standing, made of the moments that its reader may know.

A moment is one of `marias replay --json`. Nothing is added to it but what can be counted: how many cards a hidden hand
has, how long a seat has been waited for, which trick it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from services.pages.words import Labels
from services.replay.story import Story
from services.replay.words import LANGUAGES, PARTS, level_name

SEATS: Final = 3
PLACES: Final = ("own", "left", "right")
"""Where the seats are seen, clockwise from the reader's own."""
TALON: Final = 2
_FOREHAND, _OTHERS, _SECOND = 7, 10, 5

Json = dict[str, Any]


class Hand(NamedTuple):
    """Cards that the reader sees, or how many there are."""

    cards: tuple[str, ...]
    hidden: int


class Seat(NamedTuple):
    """One seat at one moment. `said` is its last call, `used_ms` its time so far, `paid` what the deal paid it."""

    number: int
    place: str
    name: str
    hand: Hand
    said: str
    tricks: int
    used_ms: int
    chips: int
    paid: int | None
    is_dealer: bool
    is_declarer: bool
    acts: bool


class Laid(NamedTuple):
    """A card of a trick: who laid it, where he is seen, whether just now, whether it has taken the trick."""

    card: str
    seat: int
    place: str
    is_new: bool
    takes: bool


class Call(NamedTuple):
    """A part of the game with its level in words, "" without one."""

    part: str
    level: str


class Frame(NamedTuple):
    """The table at one version."""

    version: int
    at: str
    took_ms: int | None
    lines: tuple[str, ...]
    kind: str
    seats: tuple[Seat, ...]
    trick: tuple[Laid, ...]
    last: tuple[Laid, ...]
    trick_number: int
    talon: Hand
    trump: str | None
    trump_card: str | None
    calls: tuple[Call, ...]
    points: Mapping[str, int]
    marriages: Mapping[str, Sequence[int]]
    phase: str
    result: Json | None


def base_of(seat: object) -> int:
    """The seat that is seen at the bottom: the reader's own, else the first."""
    return seat if isinstance(seat, int) else 0


def frames(moments: Sequence[Json], seat: object, labels: Labels) -> list[Frame]:
    """A frame for each moment, as seen from `seat`: its number, None for a spectator, or "auditor"."""
    return list(_Telling(base_of(seat), labels).frames(moments))


def names_in(view: Json, labels: Labels) -> list[str]:
    """What those are called who sit at a table that looks like `view`."""
    return Story([""] * SEATS, LANGUAGES[labels.language]).meet(view, ())


class _Telling:
    """What has to be remembered from one moment to the next."""

    def __init__(self, base: int, labels: Labels) -> None:
        self._base = base
        self._labels = labels
        self._story = Story([""] * SEATS, LANGUAGES[labels.language])
        self._names: list[str] = [""] * SEATS
        self._counts = [0] * SEATS
        self._hands: list[tuple[str, ...] | None] = [None] * SEATS
        self._said = [""] * SEATS
        self._levels: dict[str, int] = {}
        self._talon = Hand((), 0)
        self._tricks = 0
        self._last: tuple[Laid, ...] = ()
        self._shown_last: tuple[Laid, ...] = ()

    def frames(self, moments: Sequence[Json]) -> Iterator[Frame]:
        """One after the other."""
        for moment in moments:
            view = moment["view"]
            self._names = self._story.meet(view, moment["events"])
            for event in moment["events"]:
                self._note(event)
            self._look(view, moment["events"])
            yield self._frame(moment, view)

    def _note(self, event: Json) -> None:
        """Count cards, remember calls and the talon."""
        seat = event.get("seat")
        match event["type"]:
            case "dealt":
                forehand = (event["dealer"] + 1) % SEATS
                self._counts = [_FOREHAND if each == forehand else _OTHERS for each in range(SEATS)]
                self._hands, self._said = [None] * SEATS, [""] * SEATS
                self._talon, self._tricks, self._last, self._levels = Hand((), 0), 0, (), {}
                self._shown_last = ()
            case "hand_completed":
                self._counts[event["seat"]] += _SECOND
            case "discarded":
                self._counts[event["seat"]] -= TALON
                self._talon = Hand(tuple(event.get("cards") or ()), 0 if event.get("cards") else TALON)
            case "taken_over":
                self._counts[event["seat"]] += TALON
                self._talon = Hand((), 0)
            case "play_began":
                self._said = [""] * SEATS
            case "card_played":
                self._counts[event["seat"]] -= 1
                self._forget(event["seat"], event["card"])
            case "trick_taken":
                self._tricks += 1
        if isinstance(seat, int) and (said := self._call(event)) is not None:
            self._said[seat] = said

    def _call(self, event: Json) -> str | None:
        """What the seat has said, as others heard it; None: it said nothing."""
        labels = self._labels
        match event["type"]:
            case "said_good":
                return labels.good
            case "taken_over":
                return labels.bad
            case "game_declared":
                return labels.colour if event["game"] == "colour" else PARTS[event["game"]]
            case "contract_announced":
                return ", ".join(PARTS[part] for part in event["contract"])
            case "doubled":
                return ", ".join(self._raises(event))
            case "card_played":
                points = event.get("marriage_points")
                return labels.marriage.format(points=points) if points else ""
            case "turn_expired":
                return labels.late
        return None

    def _raises(self, event: Json) -> Iterator[str]:
        for part in event["raise"]:
            self._levels[part] = self._levels.get(part, 0) + 1
            yield f"{level_name(self._levels[part])} {PARTS[part]}"
        for part in event["join"]:
            yield f"+ {PARTS[part]}"
        for part in event["announce"]:
            yield PARTS[part]

    def _forget(self, seat: int, card: str) -> None:
        hand = self._hands[seat]
        if hand is not None:
            self._hands[seat] = tuple(each for each in hand if each != card)

    def _look(self, view: Json, events: Sequence[Json]) -> None:
        """Take the hands that are seen from the view; after the last trick it has none, and they stay as they are."""
        if any(event["type"] == "deal_ended" for event in events):
            return
        self._hands = [None] * SEATS  # Who has left sees no more of what is played with his cards.
        for each in view.get("seats_see", ()):
            self._hands[each["seat"]] = tuple(each["hand"])
        if isinstance(own := view.get("seat"), int):
            self._hands[own] = tuple(view["hand"])

    def _frame(self, moment: Json, view: Json) -> Frame:
        events = moment["events"]
        taken = any(event["type"] == "trick_taken" for event in events)
        played = next((event["card"] for event in events if event["type"] == "card_played"), None)
        trick = self._laid(view["trick"], played, None)
        self._shown_last = self._last
        if taken and view["last_trick"]:
            trick = self._laid(view["last_trick"]["cards"], played, view["last_trick"]["winner"])
            self._last = self._laid(view["last_trick"]["cards"], None, view["last_trick"]["winner"])
        return Frame(
            version=moment["version"], at=moment["at"], took_ms=moment["took_ms"], lines=self._lines(events),
            kind=_kind(events), seats=tuple(self._seat(number, moment) for number in self._clockwise()),
            trick=trick, last=self._shown_last,
            trick_number=self._tricks + (0 if taken or view["phase"] != "play" else 1), talon=self._talon,
            trump=view["trump"], trump_card=_trump_card(view),
            calls=tuple(
                Call(PARTS[part], level_name(view["levels"].get(part, 0)))
                for part in dict.fromkeys((*view["contract"], *view["levels"]))
            ),
            points=view["points"], marriages=view["marriages"], phase=self._labels.phases[view["phase"]],
            result=view.get("result") if any(event["type"] == "deal_ended" for event in events) else None,
        )

    def _clockwise(self) -> Iterator[int]:
        return ((self._base + step) % SEATS for step in range(SEATS))

    def _place(self, seat: int) -> str:
        return PLACES[(seat - self._base) % SEATS]

    def _seat(self, number: int, moment: Json) -> Seat:
        view = moment["view"]
        seen = self._hands[number]
        result = view.get("result")
        over = view["phase"] in ("lobby", "over")
        return Seat(
            number=number, place=self._place(number), name=self._names[number],
            hand=Hand((), max(0, self._counts[number])) if seen is None else Hand(seen, 0),
            said=self._said[number], tricks=view["tricks_taken"][number], used_ms=moment["used_ms"][number],
            chips=view["bank"][number], paid=result["payments"][number] if result and over else None,
            is_dealer=view["dealer"] == number, is_declarer=view["declarer"] == number,
            acts=number in view["to_act"],
        )

    def _laid(self, trick: Sequence[Json], played: str | None, winner: int | None) -> tuple[Laid, ...]:
        return tuple(
            Laid(each["card"], each["seat"], self._place(each["seat"]), each["card"] == played, each["seat"] == winner)
            for each in trick
        )

    def _lines(self, events: Sequence[Json]) -> tuple[str, ...]:
        """The sentences about a moment: those of the tale, and a short one for each card."""
        played = next((event for event in events if event["type"] == "card_played"), None)
        taken = next((event for event in events if event["type"] == "trick_taken"), None)
        lines = []
        if played is not None:
            lines.append(self._labels.played(
                self._names[played["seat"]], played["card"], played.get("marriage_points"),
                None if taken is None else self._names[taken["seat"]],
            ))
        rest = [event for event in events if event["type"] not in ("card_played", "trick_taken")]
        ended = any(event["type"] == "deal_ended" for event in events)
        for event in rest:
            if not (ended and event["type"] == "became_ready"):  # That bots are ready again at once is no news.
                lines += [line.strip() for line in self._story.lines([event]) if line.strip()]
                lines += self._labels.plain(event, self._names)
        return tuple(lines)


def _trump_card(view: Json) -> str | None:
    """The forehand's trump card, for those who know it."""
    found = view.get("trump_card") or next(
        (each["trump_card"] for each in view.get("seats_see", ()) if each.get("trump_card")), None
    )
    return None if found is None else str(found)


_KINDS: Final = {
    "card_played": "play", "deal_ended": "end", "deal_started": "deal", "sat_down": "table", "became_ready": "table",
    "table_opened": "table", "seat_left": "table", "seat_freed": "table",
    "nonce_committed": "table", "deal_committed": "table", "nonce_revealed": "table",
}


def _kind(events: Sequence[Json]) -> str:
    """How a moment is listed: a card of a trick, the end, the beginning, what is about the table, or a call."""
    kinds = {_KINDS.get(event["type"], "call") for event in events if event["type"] != "deadline_set"}
    return next((kind for kind in ("play", "deal", "end", "call") if kind in kinds), "table")
