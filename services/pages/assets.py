"""What the pages load, all of it from here: style, script, cards. Addresses hold a stamp, so browsers keep it."""

import gzip
from functools import cache
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from services.pages import cards

PREFIX = "/replay/static/"
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FILES = ("page.css", "replay.js", "icon.svg")


class Asset(NamedTuple):
    """One part of the pages: its bytes, the same packed by gzip, and its media type."""

    body: bytes
    packed: bytes
    mimetype: str


class Assets(NamedTuple):
    """All of them by name; `stamp` changes with any of them."""

    stamp: str
    by_name: MappingProxyType[str, Asset]

    @property
    def address(self) -> str:
        """Where they are; names follow."""
        return f"{PREFIX}{self.stamp}/"


@cache
def assets() -> Assets:
    """Read and drawn at the first request."""
    texts = {name: (files("services.pages") / "static" / name).read_text(encoding="utf-8") for name in _FILES}
    texts["back.svg"] = cards.back()
    for style in cards.STYLES:
        texts[f"{style}.svg"] = cards.sheet(style)
        texts[f"{style}-signs.svg"] = cards.signs(style)
    stamp = sha256("\0".join(f"{name}\0{text}" for name, text in sorted(texts.items())).encode()).hexdigest()[:12]
    return Assets(stamp, MappingProxyType({name: _asset(name, text) for name, text in texts.items()}))


def _asset(name: str, text: str) -> Asset:
    body = text.encode()
    return Asset(body, gzip.compress(body, 9, mtime=0), _TYPES[name.rpartition(".")[2]])
