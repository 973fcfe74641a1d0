"""What a replay shows at each version, made of moments as `marias replay --json` tells them."""

import re

import pytest

from services.pages.frames import Call, Frame, Hand, frames
from services.pages.rendering import VISITOR, Page
from services.pages.replay import COMINGS_MAX, replay_page
from services.pages.words import LABELS

NAMES = ("Ana", "Bára", "Cyril")
OWN = ("7h", "8h", "9h", "Th", "Jh", "Qh", "Kh")
MORE = ("7d", "8d", "9d", "Td", "Jd")


class Telling:
    """Makes moments one after the other: what changes in the view is named, everything else stays."""

    def __init__(self, seat: object = 0) -> None:
        self.seat = seat
        self.moments: list[dict] = []
        self.view: dict = {
            "phase": "lobby", "dealer": None, "to_act": [], "declarer": None, "trump": None, "contract": [],
            "levels": {}, "trick": [], "last_trick": None, "tricks_taken": [0, 0, 0], "bank": [0, 0, 0],
            "points": {"declarer": 0, "defence": 0}, "marriages": {"declarer": [], "defence": []},
            "seats": [{"player": name, "name": name} for name in NAMES],
            "seat": seat if isinstance(seat, int) else None, "hand": [], "legal": [],
        }
        self.used = [0, 0, 0]

    def tell(self, *events: dict, took: int | None = None, **changed: object) -> "Telling":
        self.view = self.view | changed
        if took is not None:
            self.used[events[0]["seat"]] += took
        version = len(self.moments) + 1
        at = f"2026-11-30T{version // 60:02d}:{version % 60:02d}:00Z"
        self.moments.append({
            "version": version, "at": at, "deal": 1, "actor": "", "took_ms": took,
            "used_ms": list(self.used), "events": list(events), "view": self.view,
        })
        return self

    def frames(self, language: str = "en") -> list[Frame]:
        return frames(self.moments, self.seat, LABELS[language])


def dealt(seat: object = 0, hand: tuple[str, ...] = OWN) -> Telling:
    """Cyril has dealt: Ana is the forehand and sees seven cards."""
    return Telling(seat).tell(
        {"type": "deal_started", "deal": 1, "dealer": 2}, {"type": "dealt", "dealer": 2, "hand": list(hand)},
        phase="choose_trump", dealer=2, to_act=[0], hand=list(hand),
    )


def hands(frame: Frame) -> list[Hand]:
    return [seat.hand for seat in sorted(frame.seats, key=lambda seat: seat.number)]


def test_hidden_hands_are_counted_from_the_deal_to_the_last_trick():
    telling = dealt(seat=None, hand=()).tell(
        {"type": "trump_chosen", "seat": 0}, {"type": "hand_completed", "seat": 0}
    ).tell({"type": "discarded", "seat": 0}).tell({"type": "taken_over", "seat": 1}).tell(
        {"type": "discarded", "seat": 1}).tell({"type": "card_played", "seat": 1, "card": "Ad"})
    assert [[hand.hidden for hand in hands(frame)] for frame in telling.frames()] == [
        [7, 10, 10], [12, 10, 10], [10, 10, 10], [10, 12, 10], [10, 10, 10], [10, 9, 10],
    ]
    assert all(hand.cards == () for frame in telling.frames() for hand in hands(frame))


def test_the_own_seat_is_at_the_bottom_and_the_next_one_to_the_left():
    for seat, places in [(0, ["own", "left", "right"]), (1, ["right", "own", "left"]), (2, ["left", "right", "own"]),
                         (None, ["own", "left", "right"]), ("auditor", ["own", "left", "right"])]:
        frame = dealt(seat).frames()[0]
        assert [each.place for each in sorted(frame.seats, key=lambda each: each.number)] == places


def test_the_talon_is_seen_by_who_laid_it_until_somebody_takes_it():
    telling = dealt().tell({"type": "hand_completed", "seat": 0, "cards": list(MORE)}, hand=[*OWN, *MORE])
    telling.tell({"type": "discarded", "seat": 0, "cards": ["7d", "8d"]}, hand=[*OWN, *MORE[2:]])
    telling.tell({"type": "taken_over", "seat": 1}).tell({"type": "discarded", "seat": 1})
    assert [frame.talon for frame in telling.frames()] == [
        Hand((), 0), Hand((), 0), Hand(("7d", "8d"), 0), Hand((), 0), Hand((), 2),
    ]


def test_who_has_left_no_longer_sees_his_hand():
    telling = dealt().tell({"type": "seat_left", "seat": 0, "player": "Ana"}, seat=None, hand=[])
    telling.tell({"type": "sat_down", "seat": 0, "player": "Ana", "name": "Ana"}, seat=0, hand=list(OWN))
    assert [hands(frame)[0] for frame in telling.frames()] == [Hand(OWN, 0), Hand((), 7), Hand(OWN, 0)]


def test_an_auditor_sees_all_hands():
    telling = dealt("auditor")
    telling.tell({"type": "play_began", "seat": 0},
                 seats_see=[{"seat": seat, "hand": [f"{rank}s"]} for seat, rank in enumerate("789")])
    assert hands(telling.frames()[1]) == [Hand(("7s",), 0), Hand(("8s",), 0), Hand(("9s",), 0)]


def test_a_full_trick_lies_there_until_the_next_card_and_is_then_the_last_one():
    laid = [{"seat": 0, "card": "Ah"}, {"seat": 1, "card": "7h"}, {"seat": 2, "card": "8h"}]
    telling = dealt().tell({"type": "card_played", "seat": 2, "card": "8h"}, {"type": "trick_taken", "seat": 0},
                           phase="play", last_trick={"cards": laid, "winner": 0}, tricks_taken=[1, 0, 0])
    telling.tell({"type": "card_played", "seat": 0, "card": "Kh"}, trick=[{"seat": 0, "card": "Kh"}])
    _, full, following = telling.frames()
    assert [(each.card, each.place, each.is_new, each.takes) for each in full.trick] == [
        ("Ah", "own", False, True), ("7h", "left", False, False), ("8h", "right", True, False),
    ]
    assert (full.last, full.trick_number, following.trick_number) == ((), 1, 2)
    assert [each.card for each in following.trick] == ["Kh"]
    assert [(each.card, each.takes) for each in following.last] == [("Ah", True), ("7h", False), ("8h", False)]


def test_the_last_cards_stay_in_the_hands_when_a_deal_ends_early():
    telling = dealt().tell({"type": "play_began", "seat": 0}, hand=["Ah", "Kh"], phase="play")
    telling.tell(
        {"type": "card_played", "seat": 0, "card": "Ah"}, {"type": "deal_ended", "deal": 1, "payments": [-2, 1, 1]},
        hand=[], phase="lobby", result={"payments": [-2, 1, 1], "parts": [], "played": True},
    )
    ended = telling.frames()[-1]
    assert hands(ended)[0] == Hand(("Kh",), 0)
    assert [seat.paid for seat in ended.seats] == [-2, 1, 1]
    assert ended.result is not None


@pytest.mark.parametrize(("event", "said"), [
    ({"type": "said_good", "seat": 1}, "dobrá"), ({"type": "taken_over", "seat": 1}, "špatná"),
    ({"type": "game_declared", "seat": 1, "game": "colour"}, "Barva?"),
    ({"type": "game_declared", "seat": 1, "game": "durch"}, "durch"),
    ({"type": "contract_announced", "seat": 1, "contract": ["sto", "sedma"]}, "sto, sedma"),
    ({"type": "card_played", "seat": 1, "card": "Qh", "marriage_points": 40}, "hláška 40"),
])
def test_what_a_seat_says_stands_at_its_place(event, said):
    frame = dealt().tell(event).frames()[-1]
    assert [seat.said for seat in frame.seats if seat.number == 1] == [said]


def test_fleks_are_counted_up_and_calls_are_gone_when_play_begins():
    double = {"type": "doubled", "seat": 1, "raise": ["hra"], "join": [], "announce": []}
    telling = dealt().tell(double).tell(double | {"seat": 0}).tell({"type": "play_began", "seat": 0})
    said = [{seat.number: seat.said for seat in frame.seats} for frame in telling.frames()]
    assert [each[1] for each in said] == ["", "flek hra", "flek hra", ""]
    assert [each[0] for each in said] == ["", "", "re hra", ""]


def test_calls_of_both_sides_are_shown_with_their_levels():
    telling = dealt().tell(contract=["hra", "sedma"], levels={"hra": 2, "sedma": 0, "sedma_proti": 1})
    assert telling.frames()[-1].calls == (Call("hra", "re"), Call("sedma", ""), Call("sedma proti", "flek"))


def test_each_card_has_a_sentence_in_both_languages():
    telling = dealt().tell({"type": "card_played", "seat": 1, "card": "Qh", "marriage_points": 40},
                           {"type": "trick_taken", "seat": 2}, took=1500)
    assert telling.frames()[-1].lines == ("Bára plays the queen of hearts (hláška 40); Cyril takes the trick",)
    assert telling.frames("cs")[-1].lines == ("Bára hraje: svršek červené (hláška 40); štych bere Cyril",)
    assert [seat.used_ms for seat in telling.frames()[-1].seats] == [0, 1500, 0]


def test_sentences_come_in_the_order_of_what_happened():
    telling = dealt().tell({"type": "said_good", "seat": 2}, {"type": "play_began", "seat": 0})
    assert telling.frames()[-1].lines == ("Cyril: dobrá (good)", "Ana leads")


def test_a_crowd_that_comes_and_goes_does_not_fill_the_page():
    telling = Telling()
    for _ in range(COMINGS_MAX):
        telling.tell({"type": "sat_down", "seat": 0, "player": "Ana", "name": "Ana"})
        telling.tell({"type": "seat_left", "seat": 0, "player": "Ana"})
    telling.tell({"type": "deal_started", "deal": 1, "dealer": 2}, {"type": "dealt", "dealer": 2})
    document = {"table": "t", "deal": 1, "seat": None, "finished": False, "moments": telling.moments}
    page = Page(LABELS["en"], "german", VISITOR, "/replay/t/1", {}, {}, "/")
    shown = re.findall(r'data-version="(\d+)"', replay_page(page, document, asked="", has_next=False))
    assert list(map(int, shown)) == list(range(COMINGS_MAX + 1, 2 * COMINGS_MAX + 2))


def test_moments_are_told_apart_for_the_list():
    telling = Telling().tell({"type": "sat_down", "seat": 0, "player": "Ana", "name": "Ana"})
    telling.tell({"type": "deal_started", "deal": 1, "dealer": 2}, {"type": "dealt", "dealer": 2})
    telling.tell({"type": "said_good", "seat": 1}, {"type": "deadline_set", "at": None})
    telling.tell({"type": "card_played", "seat": 1, "card": "Qh"}, {"type": "deal_ended", "deal": 1, "payments": []})
    telling.tell({"type": "something_new"})
    assert [frame.kind for frame in telling.frames()] == ["table", "deal", "call", "play", "call"]
