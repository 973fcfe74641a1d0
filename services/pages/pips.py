"""The signs of the suits, German and French, each drawn in a square from -10 to 10."""

from typing import Final, NamedTuple


class Suit(NamedTuple):
    """One suit: its sign as SVG, and the colours of index, robe and trimming."""

    sign: str
    ink: str
    robe: str
    trim: str


_HEART = "M0 9C-2.4 6-9.2 1.8-9.2-3.4-9.2-6.8-6.8-8.8-4.3-8.8-2.3-8.8-.8-7.6 0-6 .8-7.6 2.3-8.8 4.3-8.8 6.8-8.8 9.2-6.8"
_HEART += " 9.2-3.4 9.2 1.8 2.4 6 0 9Z"
_SPADE = "M0-9C2.4-6 8.8-2 8.8 2.6 8.8 5.2 6.8 6.8 4.6 6.8 2.8 6.8 1.4 5.8.7 4.6.9 6.6 1.7 8.4 3 9.2H-3C-1.7 8.4-.9 6.6"
_SPADE += "-.7 4.6-1.4 5.8-2.8 6.8-4.6 6.8-6.8 6.8-8.8 5.2-8.8 2.6-8.8-2-2.4-6 0-9Z"
_LEAF = "M0-9.4C1.6-7.4 4-6.4 5.8-4.4 7.6-2.4 9-.2 8.4 2.4 7.9 4.8 5.6 6.2 3.4 5.6 1.9 5.2.8 4.4.2 3.4-.6 4.6-1.9 5.4"
_LEAF += "-3.4 5.6-5.6 6.2-7.9 4.8-8.4 2.4-9-.2-7.6-2.4-5.8-4.4-4-6.4-1.6-7.4 0-9.4Z"

_HEARTS = (
    f'<path d="{_HEART}" fill="#cf2030"/>'
    '<path d="M-6.9-3.6C-6.9-5.4-5.8-6.6-4.2-6.7" fill="none" stroke="#fff" stroke-opacity=".65" stroke-width="1.5"'
    ' stroke-linecap="round"/>'
)
_BELLS = (
    '<circle cy="-8.4" r="1.5" fill="none" stroke="#7a4a08" stroke-width="1.1"/>'
    '<circle cy="1" r="8" fill="#f2bb2e" stroke="#7a4a08" stroke-width="1"/>'
    '<path d="M-7.9.2H7.9A8 8 0 0 1 7.6 3.6H-7.6A8 8 0 0 1-7.9.2Z" fill="#c5282f"/>'
    '<path d="M0 4.2V7.4M-1.2 4.6H1.2" stroke="#7a4a08" stroke-width="1.3" stroke-linecap="round"/>'
    '<path d="M-5-2.2C-4.4-4-3.2-5.1-1.6-5.4" fill="none" stroke="#fff" stroke-opacity=".75" stroke-width="1.3"'
    ' stroke-linecap="round"/>'
)
_LEAVES = (
    '<path d="M0 2C.2 5 .9 7.6 2.6 9.4" fill="none" stroke="#1d5a2b" stroke-width="1.6" stroke-linecap="round"/>'
    f'<path d="{_LEAF}" fill="#2f8f3f"/>'
    '<path d="M0-6.4V3.4M0-2.2 3.8-3.6M0-2.2-3.8-3.6M0 1.4 4.8.6M0 1.4-4.8.6" fill="none" stroke="#d8efcf"'
    ' stroke-opacity=".8" stroke-width=".9" stroke-linecap="round"/>'
)
_ACORNS = (
    '<path d="M0-7C-.2-8.4.4-9.3 1.8-9.6" fill="none" stroke="#4d3315" stroke-width="1.6" stroke-linecap="round"/>'
    '<path d="M-5.7-1.6H5.7C6 3.2 3.4 7.2 0 9.6-3.4 7.2-6 3.2-5.7-1.6Z" fill="#cf9230"/>'
    '<path d="M-3.2 1C-3 3.2-2.2 4.8-1.2 6" fill="none" stroke="#fff" stroke-opacity=".6" stroke-width="1.2"'
    ' stroke-linecap="round"/>'
    '<path d="M-7.4-2.4C-7.4-5.8-4-7.6 0-7.6S7.4-5.8 7.4-2.4C7.4-1 6.4-.8 5.4-.8H-5.4C-6.4-.8-7.4-1-7.4-2.4Z"'
    ' fill="#6b4a22"/>'
    '<path d="M-4.6-6-1.4-1M-1.4-7.3 2-1M2-7.3 5-1M4.6-6 1.4-1M1.4-7.3-2-1M-2-7.3-5-1" stroke="#b08a4c"'
    ' stroke-width=".6"/>'
)
_DIAMONDS = '<path d="M0-9.4C2-6 4.4-2.8 7.4 0 4.4 2.8 2 6 0 9.4-2 6-4.4 2.8-7.4 0-4.4-2.8-2-6 0-9.4Z" fill="#cf2030"/>'
_CLUBS = (
    '<g fill="#1f2430"><circle cy="-4.9" r="4.3"/><circle cx="-4.9" cy="2" r="4.3"/><circle cx="4.9" cy="2" r="4.3"/>'
    '<path d="M-1.6-2H1.6L1 2.4C1.2 5.6 1.9 8.2 3.2 9.2H-3.2C-1.9 8.2-1.2 5.6-1 2.4Z"/></g>'
)

GERMAN: Final = {
    "h": Suit(_HEARTS, "#b3142a", "#b3202c", "#f0c75e"),
    "d": Suit(_BELLS, "#8a5606", "#d99a1c", "#a32a24"),
    "c": Suit(_ACORNS, "#5f3f16", "#7d5226", "#d8a548"),
    "s": Suit(_LEAVES, "#1d6a2d", "#2f7a3c", "#e9d27a"),
}
FRENCH: Final = {
    "h": Suit(f'<path d="{_HEART}" fill="#cf2030"/>', "#b3142a", "#b3202c", "#f0c75e"),
    "d": Suit(_DIAMONDS, "#b3142a", "#c2542a", "#f3dc9a"),
    "c": Suit(_CLUBS, "#1f2430", "#2d4a63", "#d8b455"),
    "s": Suit(f'<path d="{_SPADE}" fill="#1f2430"/>', "#1f2430", "#3b3560", "#c9cdda"),
}
