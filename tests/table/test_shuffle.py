"""A deck from a deal key: always the same, each order as likely as any other."""

import hmac
from collections import Counter
from itertools import islice

import pytest

from engine import shuffle
from engine.shuffle import deck_from_key


@pytest.mark.parametrize(
    ("key", "deck"),
    [
        (b"", "18 28 6 14 3 15 2 5 4 7 19 31 8 0 22 12 30 25 16 1 11 26 27 21 29 23 9 13 20 17 24 10"),
        (b"deal 1", "11 28 23 26 13 9 25 6 4 31 18 15 0 30 22 24 14 2 19 10 27 21 20 7 17 5 12 1 8 16 29 3"),
        (bytes(32), "18 28 6 14 3 15 2 5 4 7 19 31 8 0 22 12 30 25 16 1 11 26 27 21 29 23 9 13 20 17 24 10"),
    ],
)
def test_a_key_gives_the_same_deck_for_ever(key, deck):
    assert " ".join(map(str, deck_from_key(key))) == deck


@pytest.mark.parametrize("length", [0, 1, 32, 63, 64, 65, 200])
def test_the_words_are_those_of_hmac(length):
    key = bytes(range(200))[:length]
    expected = b"".join(hmac.digest(key, counter.to_bytes(8, "big"), "sha256") for counter in range(3))
    found = [word for block in islice(shuffle._words(key), 3) for word in block]
    assert b"".join(word.to_bytes(4, "big") for word in found) == expected


def test_a_deck_holds_each_card_once():
    for number in range(100):
        assert sorted(deck_from_key(b"%d" % number)) == list(range(32))


def test_every_order_of_four_cards_comes_as_often():
    """Chi-squared over the 24 orders: 49.7 would be exceeded by chance once in a thousand keys."""
    keys = 12_000
    orders = Counter(deck_from_key(b"key %d" % number, 4) for number in range(keys))
    fair = keys / 24
    assert len(orders) == 24
    assert sum((count - fair) ** 2 / fair for count in orders.values()) < 49.7


def test_every_card_comes_to_every_place_as_often():
    keys = 3_200
    first = Counter(deck_from_key(b"%d" % number)[0] for number in range(keys))
    assert sum((first[card] - 100) ** 2 / 100 for card in range(32)) < 61.1


def test_a_word_that_would_favour_low_cards_is_thrown_away(monkeypatch):
    """Of 2**32 words the last one has no place when three cards are left: 2**32 is 3 · 1431655765 + 1."""
    words = [0xFFFFFFFF] * 9 + [5, 1] + [0] * 5
    blocks = iter([words[:8], words[8:]])
    monkeypatch.setattr(shuffle, "_words", lambda key: blocks)
    assert deck_from_key(b"any", 3) == (0, 1, 2)
    assert next(blocks, None) is None
