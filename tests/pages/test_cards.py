"""Every card is a picture of its own, well formed, with as many signs as it says."""

import itertools
from xml.etree import ElementTree

import pytest

from engine.notation import CODES
from services.pages import cards
from services.pages.assets import assets
from services.pages.pips import FRENCH, GERMAN

PIPS = {"7": 7, "8": 8, "9": 9, "T": 10}
CORNERS = 2


@pytest.mark.parametrize("style", cards.STYLES)
def test_each_card_is_drawn_differently(style):
    drawn = {code: cards.card(code, style) for code in CODES}
    for text in drawn.values():
        assert ElementTree.fromstring(text).get("viewBox") == "0 0 100 160"
    assert len(set(drawn.values())) == len(CODES) == 32
    for rank, suit in itertools.product(PIPS, cards.SUITS):
        assert drawn[rank + suit].count(cards.STYLES[style][suit].sign) == PIPS[rank] + CORNERS


def test_a_svrsek_bears_its_sign_high_and_a_spodek_low():
    def heights(code):
        """Where the signs of the upper half stand, from the top; those of the corners come last."""
        text = cards.card(code, "german").split("<g clip-path")[1].split('transform="rotate(180')[0]
        return [float(part.split(" ")[1].split(")")[0]) for part in text.split('translate(')[1:]]

    for suit in cards.SUITS:
        assert max(heights(f"Q{suit}")) < 40 < min(heights(f"J{suit}"))
        assert len(heights(f"K{suit}")) == 2


@pytest.mark.parametrize("style", cards.STYLES)
def test_the_sheet_has_a_row_for_each_suit_and_a_column_for_each_rank(style):
    sheet = ElementTree.fromstring(cards.sheet(style))
    places = [(int(each.get("x")), int(each.get("y"))) for each in sheet]
    assert places == [(100 * column, 160 * row) for row in range(4) for column in range(8)]
    assert sheet.get("viewBox") == "0 0 800 640"


def test_no_picture_loads_anything():
    for name, asset in assets().by_name.items():
        text = asset.body.decode().replace("http://www.w3.org/2000/svg", "")
        assert "//" not in text.replace("// ", ""), name
        assert "@import" not in text
        if name.endswith(".svg"):
            assert "href" not in text
            ElementTree.fromstring(asset.body)


def test_german_and_french_signs_are_eight_pictures():
    assert len({suit.sign for suit in (*GERMAN.values(), *FRENCH.values())}) == 8
