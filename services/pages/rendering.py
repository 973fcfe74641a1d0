"""How pages become text: the templates, what stands around every page, and how numbers and times are written."""

import re
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from services.pages.drawn import Drawn
from services.pages.words import Labels
from services.replay.words import PARTS, SIGNS, level_name

_SIGN = re.compile("|".join(SIGNS.values()))
_DRAWN = {
    sign: f'<i class="sign s{suit}"></i><span class="unseen">{sign}</span>' for suit, sign in SIGNS.items()
}


class Reader(NamedTuple):
    """Who reads a page: the id of a player, how he is called, in which role."""

    id: str
    name: str
    role: str


VISITOR: Final = Reader("", "", "player")
"""Somebody who has not signed in."""


class Page(NamedTuple):
    """What every page is made with. `style` is that of the cards, `assets` where the parts of the page are, `kept` what
    each link carries on, as a wished language or a table's code."""

    labels: Labels
    style: str
    reader: Reader
    path: str
    query: dict[str, str]
    kept: dict[str, str]
    assets: str

    @property
    def here(self) -> str:
        """This very page."""
        return _address(self.path, self.query)

    def to(self, path: str, **query: object) -> str:
        """The address of another page, with what is carried on."""
        return _address(path, self.kept | {name: str(value) for name, value in query.items()})

    def again(self, **query: str) -> str:
        """This page with something chosen otherwise."""
        return _address(self.path, self.query | query)


def render(template: str, page: Page, **facts: Any) -> str:
    """A page as HTML; everything in `facts` is escaped."""
    labels = page.labels
    return _environment().get_template(template).render(
        page=page, labels=labels, text=labels.text, drawn=Drawn(labels.language), parts=PARTS, **facts
    )


def _address(path: str, query: dict[str, str]) -> str:
    said = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{said}" if said else path


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("services.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "signs": with_signs, "signed": signed, "clock": clock, "seconds": seconds, "moment": moment_at,
        "level": level_of,
    }
    return made


def with_signs(line: str) -> Markup:
    """A sentence whose signs of suits are drawn in the style of the page's cards."""
    return Markup(_SIGN.sub(lambda found: _DRAWN[found[0]], str(escape(line))))


def signed(chips: int) -> str:
    """With the sign that people write, and no sign for nothing."""
    return f"{chips:+,d}".replace("-", "−").replace(",", "\u202f") if chips else "0"


def clock(milliseconds: int) -> str:
    """Minutes and seconds."""
    seconds = round(milliseconds / 1000)
    return f"{seconds // 60}:{seconds % 60:02d}"


def seconds(milliseconds: int) -> str:
    """With one decimal."""
    return f"{milliseconds / 1000:.1f}"


def moment_at(at: str) -> str:
    """A time (RFC 3339) for people."""
    return datetime.fromisoformat(at).strftime("%Y-%m-%d %H:%M:%S UTC")


def level_of(level: int) -> str:
    """How a level is called."""
    return level_name(level) or "–"
