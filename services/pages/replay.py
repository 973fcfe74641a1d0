"""The page of one deal, made of the document that the Clerk answered with."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from services.pages.frames import Frame, frames, names_in
from services.pages.moments import moments_html
from services.pages.rendering import Page, render

COMINGS_MAX: Final = 60
"""Moments that are about the table alone: that many are shown, the latest."""
AUDITOR: Final = "auditor"
SPECTATOR: Final = "spectator"


class Eye(NamedTuple):
    """A choice of whose eyes to look with: what to ask for, how it is called, whether it is so now."""

    key: str
    name: str
    is_now: bool


class Row(NamedTuple):
    """A version and what was said of it."""

    version: int
    lines: tuple[str, ...]


class Card(NamedTuple):
    """A card of a trick in the list; `version` leads to its moment."""

    version: int
    card: str
    name: str
    said: str
    takes: bool


class Trick(NamedTuple):
    """A trick in the list, with the points after it."""

    number: int
    cards: tuple[Card, ...]
    points: dict[str, int]


def replay_page(page: Page, document: dict[str, Any], *, asked: str, has_next: bool) -> str:
    """HTML of the deal in `document`: `{"table", "deal", "seat", "finished", "moments"}`, as the Clerk tells it.

    `asked` is the seat that was asked for, "" if none.
    """
    moments = document["moments"]
    shown = _without_crowds(frames(moments, document["seat"], page.labels))
    ending = [Row(each.version, each.lines[each.kind == "play":]) for each in shown if each.result]
    return render(
        "replay.html", page, table=document["table"], deal=document["deal"], count=len(shown),
        finished=document["finished"], has_proof=_has_proof(moments), has_next=has_next, asked=asked,
        eyes=_eyes(page, document), moments=moments_html(page, shown, _opening(shown)),
        before=_rows(shown, "table"), calls=_rows(shown, "deal", "call"), tricks=_tricks(shown), ending=ending,
    )


def _has_proof(moments: Sequence[dict[str, Any]]) -> bool:
    """Whether something was committed to before the cards were dealt; deals of older builds have no proof."""
    return any(event["type"] == "deal_committed" for moment in moments for event in moment["events"])


def _without_crowds(shown: Sequence[Frame]) -> list[Frame]:
    """Without those who came and went long ago: nobody's comings may make a page of megabytes."""
    comings = [each.version for each in shown if each.kind == "table"]
    since = comings[-COMINGS_MAX] if len(comings) > COMINGS_MAX else 0
    return [each for each in shown if each.kind != "table" or each.version >= since]


def _rows(shown: Sequence[Frame], *kinds: str) -> list[Row]:
    return [Row(each.version, each.lines) for each in shown if each.kind in kinds and each.lines and not each.result]


def _opening(shown: Sequence[Frame]) -> int:
    """The version that is shown first: the deal; what led to it is of less interest."""
    return next((each.version for each in shown if each.kind == "deal"), shown[0].version)


def _eyes(page: Page, document: dict[str, Any]) -> list[Eye]:
    """What this reader may choose between; what it is now is what the Clerk granted."""
    text, now = page.labels.text, document["seat"]
    view = _at_deal(document["moments"])
    seats, names = view["seats"], names_in(view, page.labels)
    found = []
    if page.reader.role == AUDITOR:
        found.append(Eye("", text["auditor"], now == AUDITOR))
    for seat, here in enumerate(seats):
        own = here is not None and here.get("player") == page.reader.id
        if own or page.reader.role == AUDITOR or now == seat:
            found.append(Eye(str(seat), f"{names[seat]} ({text['you']})" if own else names[seat], now == seat))
    return [*found, Eye(SPECTATOR if found else "", text["spectator"], now is None)]


def _at_deal(moments: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The table as the deal began: who sat there then had the seats."""
    began = (moment for moment in moments if any(event["type"] == "dealt" for event in moment["events"]))
    found: dict[str, Any] = next(began, moments[0])["view"]
    return found


def _tricks(shown: Sequence[Frame]) -> list[Trick]:
    """All tricks, the last one perhaps not complete."""
    found: dict[int, Trick] = {}
    for each in shown:
        if each.kind != "play" or not each.trick:
            continue
        before = found.get(each.trick_number)
        new = next(laid for laid in each.trick if laid.is_new)
        seat = next(seat for seat in each.seats if seat.number == new.seat)
        cards = (*(before.cards if before else ()), Card(each.version, new.card, seat.name, seat.said, False))
        if taken := [laid.card for laid in each.trick if laid.takes]:
            cards = tuple(card._replace(takes=card.card == taken[0]) for card in cards)
        found[each.trick_number] = Trick(each.trick_number, cards, dict(each.points))
    return list(found.values())
