"""Both languages say the same things, and a reader gets the one he can read."""

from string import Formatter

import pytest

from services.pages.words import LABELS, REFUSALS, language_of


def places(text):
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


def texts(labels):
    """Everything a language says, by where it says it."""
    found = {}
    for name, value in labels._asdict().items():
        rows = value.items() if hasattr(value, "items") else [("", value)]
        found |= {(name, key): text for key, text in rows}
    return found


def test_both_languages_say_the_same_with_the_same_places():
    english, czech = texts(LABELS["en"]), texts(LABELS["cs"])
    assert english.keys() == czech.keys()
    for key, text in english.items():
        assert czech[key].strip()
        assert places(czech[key]) == places(text), key


def test_czech_readers_are_told_of_every_refusal():
    assert REFUSALS["en"].keys() <= REFUSALS["cs"].keys()


@pytest.mark.parametrize(("wished", "accepted", "language"), [
    ("", "", "en"), ("cs", "en", "cs"), ("en", "cs", "en"), ("xx", "cs", "cs"), ("", "cs-CZ,cs;q=0.9,en;q=0.8", "cs"),
    ("", "en;q=0.9, cs;q=0.95", "cs"), ("", "de, fr;q=0.5", "en"), ("", "cs;q=0, en;q=0.1", "en"),
    ("", "cs;q=much, en;q=0.1", "en"), ("", "CS", "cs"), ("", ",;q=,;;", "en"), ("", "cs;q=nan, en;q=0.2", "en"),
])
def test_the_language_is_the_wished_one_or_the_best_that_is_accepted(wished, accepted, language):
    assert language_of(wished, accepted) == language
