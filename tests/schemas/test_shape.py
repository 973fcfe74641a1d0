"""The shape of stored values: the same for the same fields and types, another for others."""

import dataclasses
import enum
from typing import Literal, NamedTuple

import msgspec
import pytest

from schemas.shape import describe, digest_of


class Card(NamedTuple):
    rank: int
    suit: str


@dataclasses.dataclass
class Hand:
    cards: tuple[Card, ...]
    trump: Card | None


class Side(enum.Enum):
    US = 1
    THEM = 2


def renamed() -> type:
    return NamedTuple("Card", [("rank", int), ("colour", str)])


def retyped() -> type:
    return NamedTuple("Card", [("rank", str), ("suit", str)])


def turned() -> type:
    return NamedTuple("Card", [("suit", str), ("rank", int)])


def moved() -> type:
    fields = [("rank", int), ("suit", str)]
    return NamedTuple("Card", fields)


def test_a_record_is_spelt_out_once_however_deep_it_lies():
    assert describe(Hand) == "Hand Card(rank:int,suit:str) Hand(cards:tuple[Card,...],trump:Union[Card,None])"


@pytest.mark.parametrize("other", [renamed, retyped, turned])
def test_another_name_type_or_order_is_another_shape(other):
    assert digest_of(other()) != digest_of(Card)


def test_what_a_word_may_be_belongs_to_the_shape():
    assert describe(Literal["a"]) != describe(Literal["a", "b"])
    assert describe(Side) == "Side Side(US:'1',THEM:'2')"


def test_where_a_type_lives_does_not():
    assert digest_of(moved()) == digest_of(Card)


def test_structs_are_records_too():
    struct = msgspec.defstruct("Kept", [("began", int), ("due", int | None)])
    assert describe(struct) == "Kept Kept(began:int,due:Union[int,None])"
