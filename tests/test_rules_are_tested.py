"""A rulebook, its RULES.md and its tests name the same paragraphs: none is forgotten, none invented."""

import re

import pytest

from tests import sources

PARAGRAPH = re.compile(r"§(\d+\.\d+)")


def _numbered(**counts: int) -> set[str]:
    """`s3=5` stands for the paragraphs 3.1 to 3.5."""
    return {f"{section[1:]}.{number}" for section, count in counts.items() for number in range(1, count + 1)}


RULEBOOKS = {
    "voleny": _numbered(s1=4, s2=3, s3=5, s4=6, s5=6, s6=4, s7=10, s8=11, s9=1),
}


def _order(paragraphs: set[str]) -> list[str]:
    return sorted(paragraphs, key=lambda text: [int(part) for part in text.split(".")])


def _named_in(*patterns: str) -> set[str]:
    files = (file for pattern in patterns for file in sorted(sources.ROOT.glob(pattern)))
    return {found for file in files for found in PARAGRAPH.findall(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("game", RULEBOOKS)
def test_the_rules_in_our_words_cover_the_rulebook(game):
    written = _named_in(f"engine/games/{game}/RULES.md")
    assert _order(written) == _order(RULEBOOKS[game])


@pytest.mark.parametrize("game", RULEBOOKS)
def test_every_paragraph_is_named_by_a_test(game):
    tested = _named_in("tests/engine/**/*.py", "tests/contract/**/*.py")
    assert _order(RULEBOOKS[game] - tested) == [], "these paragraphs have no test"
    assert _order(tested - set().union(*RULEBOOKS.values())) == [], "these paragraphs are in no rulebook"


def test_every_registered_game_has_a_rulebook():
    from engine.games import GAMES

    assert sorted(GAMES) == sorted(RULEBOOKS)
