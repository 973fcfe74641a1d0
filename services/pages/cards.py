"""The 32 cards as SVG pictures of 100 by 160, with German or French signs, and their back.

Pictures have two heads, as Czech players know them. The sign of a svršek hangs high, that of a spodek low.
"""

from typing import Final

from services.pages.pips import FRENCH, GERMAN, Suit

RANKS: Final = "789TJQKA"
SUITS: Final = "hdcs"
STYLES: Final = {"german": GERMAN, "french": FRENCH}

GERMAN_INDEX: Final = dict(zip(RANKS, ("VII", "VIII", "IX", "X", "Sp", "Sv", "K", "E"), strict=True))
FRENCH_INDEX: Final = dict(zip(RANKS, ("7", "8", "9", "10", "J", "Q", "K", "A"), strict=True))
_INDEX: Final = {"german": GERMAN_INDEX, "french": FRENCH_INDEX}
_LEFT, _MIDDLE, _RIGHT = 34, 50, 66
_THREE = [(x, y) for x in (_LEFT, _RIGHT) for y in (36, 80, 124)]
_FOUR = [(x, y) for x in (_LEFT, _RIGHT) for y in (32, 64, 96, 128)]
_PLACES: Final = {
    "7": [*_THREE, (_MIDDLE, 58)],
    "8": [*_THREE, (_MIDDLE, 58), (_MIDDLE, 102)],
    "9": [*_FOUR, (_MIDDLE, 80)],
    "T": [*_FOUR, (_MIDDLE, 48), (_MIDDLE, 112)],
}
_SKIN, _LINE, _GOLD = "#f4d3ae", "#3a2a1c", "#e8b93a"
_FONT = "Georgia,'Times New Roman','DejaVu Serif',serif"
_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" height="160" viewBox="0 0 100 160">'
    '<rect x=".75" y=".75" width="98.5" height="158.5" rx="8" fill="#fffdf6" stroke="#a89c84" stroke-width="1.5"/>'
    "{in_it}</svg>"
)


def card(code: str, style: str) -> str:
    """The picture of a card such as `Ah`. Raises KeyError for what is no card or style."""
    rank, suit = code[0], STYLES[style][code[1]]
    corner = _corner(_INDEX[style][rank], suit)
    if rank in _PLACES:
        middle = "".join(_sign(suit, x, y, 1, upside_down=y > 80) for x, y in _PLACES[rank])
    elif rank == "A":
        middle = _ace(suit) if style == "german" else _sign(suit, 50, 80, 2.4)
    else:
        middle = _picture(_FIGURES[style][rank], suit)
    return _FRAME.format(in_it=middle + corner + _turned(corner))


def back() -> str:
    """The back of all cards."""
    return _FRAME.format(in_it=(
        '<defs><pattern id="p" width="12" height="12" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="12" height="12" fill="#27476b"/><path d="M0 0H12M0 0V12" stroke="#5f86b0" stroke-width="1.4"/>'
        '<circle cx="6" cy="6" r="1.5" fill="#e8c66a"/></pattern></defs>'
        '<rect x="7" y="7" width="86" height="146" rx="5" fill="url(#p)" stroke="#1b3450" stroke-width="1.5"/>'
    ))


def sheet(style: str) -> str:
    """All cards in one picture: a row for each suit of SUITS, a column for each rank of RANKS."""
    placed = (
        card(rank + suit, style).replace("<svg ", f'<svg x="{100 * column}" y="{160 * row}" width="100" ', 1)
        for row, suit in enumerate(SUITS) for column, rank in enumerate(RANKS)
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 640">{"".join(placed)}</svg>'


def signs(style: str) -> str:
    """The signs of SUITS in one row."""
    placed = (_sign(STYLES[style][suit], 10.5 + 21 * place, 10.5, 1) for place, suit in enumerate(SUITS))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 84 21">{"".join(placed)}</svg>'


def _sign(suit: Suit, x: float, y: float, scale: float, *, upside_down: bool = False) -> str:
    turn = " rotate(180)" if upside_down else ""
    return f'<g transform="translate({x} {y}){turn} scale({scale})">{suit.sign}</g>'


def _turned(half: str) -> str:
    return f'<g transform="rotate(180 50 80)">{half}</g>'


def _corner(index: str, suit: Suit) -> str:
    squeezed = {"VIII": 28, "Sp": 16, "Sv": 16}.get(index)
    width = f' textLength="{squeezed}" lengthAdjust="spacingAndGlyphs"' if squeezed else ""
    return (
        f'<text x="5" y="19" font-family="{_FONT}" font-weight="700" font-size="17" fill="{suit.ink}"{width}>'
        f"{index}</text>{_sign(suit, 11.5, 29.5, 0.66)}"
    )


def _ace(suit: Suit) -> str:
    """Two large signs on one stalk: the ace of these packs was a deuce once."""
    return (
        f'<path d="M50 62C40 70 60 90 50 98" fill="none" stroke="{suit.robe}" stroke-width="3"/>'
        f'{_sign(suit, 50, 45, 2)}{_sign(suit, 50, 115, 2, upside_down=True)}'
        f'<path d="M22 74Q50 67 78 74L74 80 78 86Q50 93 22 86L26 80Z" fill="{suit.trim}" stroke="{_LINE}"/>'
        f'<path d="M34 79.500Q50 76 66 79.5" fill="none" stroke="{_LINE}" stroke-width=".9" stroke-dasharray="3 2"/>'
    )


def _picture(figure: str, suit: Suit) -> str:
    half = _HALF.format(robe=suit.robe, trim=suit.trim) + figure.format(
        robe=suit.robe, trim=suit.trim, high=_sign(suit, 31.5, 24.5, 0.75), both=_sign(suit, 68.5, 24.5, 0.75),
        low=_ROUND + _sign(suit, 33, 69, 0.75),
    )
    return (
        '<defs><clipPath id="c"><path d="M22 14H78V74L22 86Z"/></clipPath></defs>'
        f'<g><rect x="22" y="14" width="56" height="132" rx="2" fill="#faf1da"/>'
        f'<g clip-path="url(#c)">{half}</g><g transform="rotate(180 50 80)" clip-path="url(#c)">{half}</g>'
        f'<path d="M22 86 78 74" stroke="{suit.trim}" stroke-width="3.4"/>'
        f'<path d="M22 86 78 74" stroke="{_LINE}" stroke-width=".7"/>'
        f'<rect x="22" y="14" width="56" height="132" rx="2" fill="none" stroke="{suit.ink}" stroke-width="1.2"/></g>'
    )


_ROUND = f'<circle cx="33" cy="69" r="9.5" fill="#faf1da" stroke="{_LINE}" stroke-width=".7"/>'
_HALF = (
    # The robe with its trimming, the neck, the face.
    '<path d="M24 92C24 70 36 58 50 57S76 70 76 92Z" fill="{robe}" stroke="#3a2a1c"/>'
    '<path d="M45 57 50 92 55 57Z" fill="{trim}"/>'
    f'<path d="M45 50H55V58L50 62 45 58Z" fill="{_SKIN}" stroke="{_LINE}" stroke-width=".7"/>'
)
_FACE = (
    f'<path d="M40.5 36C40 46 44 54 50 54S60 46 59.5 36C58 30 42 30 40.5 36Z" fill="{_SKIN}" stroke="{_LINE}"'
    ' stroke-width=".8"/>'
    f'<g fill="{_LINE}"><circle cx="46" cy="41" r="1.1"/><circle cx="54" cy="41" r="1.1"/></g>'
    f'<path d="M50 41V45.500H48.6" fill="none" stroke="{_LINE}" stroke-width=".8"/>'
    '<path d="M47.5 49Q50 50.8 52.5 49" fill="none" stroke="#a8443a" stroke-width="1.1" stroke-linecap="round"/>'
)
_KING = (
    '<path d="M37 38C34 50 38 60 50 63 62 60 66 50 63 38Z" fill="#8d8a86"/>' + _FACE
    + '<path d="M40.5 43C41 56 45 62 50 63 55 62 59 56 59.5 43 57 48.5 53 47.5 50 47.500S43 48.5 40.5 43Z"'
    f' fill="#a9a6a1" stroke="{_LINE}" stroke-width=".6"/>'
    '<path d="M47.5 50.600Q50 52 52.5 50.6" fill="none" stroke="#a8443a" stroke-width="1.1"/>'
    '<path d="M31 67C38 60 44 62 50 68 56 62 62 60 69 67L66 74C60 68 55 69 50 75 45 69 40 68 34 74Z" fill="#fffdf6"'
    f' stroke="{_LINE}" stroke-width=".7"/>'
    '<path d="M37 67.500V69.500M44 67V69M56 67V69M63 67.500V69.500M50 70.500V72.5" stroke="#3a2a1c"/>'
    f'<path d="M38.5 35 36 20 43 27 50 17 57 27 64 20 61.5 35Q50 31 38.5 35Z" fill="{_GOLD}" stroke="{_LINE}"'
    ' stroke-width=".9"/><g fill="#c5282f"><circle cx="50" cy="29" r="1.7"/><circle cx="43" cy="30.6" r="1.2"/>'
    '<circle cx="57" cy="30.6" r="1.2"/></g>'
)
_OVER = (
    '<path d="M38 36C35 46 37 52 40 56H60C63 52 65 46 62 36Z" fill="#6a4423"/>' + _FACE
    + f'<path d="M44 47.400Q47 45.4 50 47Q53 45.4 56 47.4" fill="none" stroke="#4a2f18" stroke-width="1.5"'
    ' stroke-linecap="round"/>'
    f'<path d="M38 60Q44 57 50 60.5 56 57 62 60L60 66Q50 63 40 66Z" fill="#fffdf6" stroke="{_LINE}"'
    ' stroke-width=".7"/>'
    # A hat with a wide brim and a feather.
    f'<path d="M41 33C41 23 46 21 51 21S60 24 59.5 33Z" fill="{{robe}}" stroke="{_LINE}" stroke-width=".8"/>'
    f'<path d="M33 35.500C38 30.5 62 30.5 67 35.5 62 37.5 38 37.5 33 35.500Z" fill="{{robe}}" stroke="{_LINE}"'
    ' stroke-width=".8"/><path d="M41.5 31.500H59.3" stroke="{trim}" stroke-width="2"/>'
    f'<path d="M58 31C64 28 70 22 71 15 64 16 59 21 57 28Z" fill="{{trim}}" stroke="{_LINE}" stroke-width=".7"/>'
    '<path d="M58 30C62 26 66 21 69 17" fill="none" stroke="#3a2a1c" stroke-width=".5"/>'
)
_UNDER = (
    '<path d="M38 34C35 46 37 54 40 57 44 55 42 44 42 40H58C58 44 56 55 60 57 63 54 65 46 62 34Z" fill="#b07a35"/>'
    + _FACE
    + f'<path d="M43 59 50 69 57 59 60 61 50 76 40 61Z" fill="#fffdf6" stroke="{_LINE}" stroke-width=".6"/>'
    f'<path d="M38.5 35C37 26 44 21 53 22 62 22 66 27 62.5 31 56 29 46 30 38.5 35Z" fill="{{robe}}" stroke="{_LINE}"'
    ' stroke-width=".8"/><path d="M38.5 35C44 31 56 29.5 62.5 31L61.5 34C54 32.5 46 33 39 37.500Z" fill="{trim}"'
    f' stroke="{_LINE}" stroke-width=".6"/>'
    '<g fill="#e8b93a"><circle cx="50" cy="80" r="1.3"/><circle cx="50" cy="86" r="1.3"/></g>'
)
_QUEEN = (
    '<path d="M39 32C33 44 33 58 37 66H63C67 58 67 44 61 32Z" fill="#8a4b1f"/>' + _HALF + _FACE
    + f'<path d="M40.5 38C43 32 57 32 59.5 38 58 29 42 29 40.5 38Z" fill="#8a4b1f"/>'
    f'<path d="M40 32 38 22 44.5 27 50 20 55.5 27 62 22 60 32Q50 28.5 40 32Z" fill="{_GOLD}" stroke="{_LINE}"'
    ' stroke-width=".8"/><g fill="#fffdf6" stroke="#3a2a1c" stroke-width=".4"><circle cx="44" cy="62" r="1.5"/>'
    '<circle cx="47" cy="64" r="1.5"/><circle cx="50" cy="65" r="1.5"/><circle cx="53" cy="64" r="1.5"/>'
    '<circle cx="56" cy="62" r="1.5"/></g>'
)
_FIGURES: Final = {
    "german": {"K": _KING + "{high}{both}", "Q": _OVER + "{high}", "J": _UNDER + "{low}"},
    "french": {"K": _KING + "{high}", "Q": _QUEEN + "{high}", "J": _UNDER + "{high}"},
}
