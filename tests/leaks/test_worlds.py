"""Two worlds that differ only in cards a reader may not know look the same to him: every byte on every wire.

Compared are status, headers and bodies of the table, its events, his own receipts and refusals, records, bank, lobby
and ledger, and all bytes of streams and sockets; of hashes and salts, which differ with the cards, which stand again
where, and that none opens a card that the reader may not know. `MARIAS_TEST_WORLDS` is how many pairs are compared.
"""

import itertools
import os
import random
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from engine.errors import RuleViolation
from engine.games.voleny import VOLENY
from engine.games.voleny.commands import CLAIMS, GOODS, TAKE_OVERS
from engine.notation import CODES
from engine.shuffle import deck_from_key
from schemas.moves import load_move
from services.api import edge, tables
from services.push import live
from services.store import views
from services.worker import handle
from tests.api.conftest import PARTITIONS
from tests.cast import CAST, Player
from tests.leaks.worlds import Deal, Heard, Telling, World, refused_asks, tables_of, tokens_of, worlds
from tests.table.house import after, deal, play
from tests.table.test_two_worlds import WAITING, Names, other_worlds, secrets_from, some_moves

PAIRS_USUAL = 72
PAIRS = int(os.environ.get("MARIAS_TEST_WORLDS", str(PAIRS_USUAL)))
OTHERS_MAX = 3  # worlds that are compared with the same first one
ASKED_AT = 3  # places in a deal where the reader sends what is refused
PHASES = {"ChoosingTrump", "Discarding", "Declaring", "Answering", "Announcing", "Doubling", "Playing", "after"}
NUMBERS = itertools.count(1)  # of tables


class Case(NamedTuple):
    """A deal, others that `reader` must not be able to tell from it, the phases it goes through, and the table
    before its last move."""

    reader: Player
    first: Deal
    others: list[Deal]
    phases: list[str]
    table: Any


def cases(seed: str) -> Iterator[Case]:
    """Cases without end, for each reader in turn."""
    for number in itertools.count():
        dice = random.Random(f"{seed} {number}")
        reader = CAST[number % len(CAST)]
        deck = deck_from_key(b"%b %d" % (seed.encode(), number))
        table, moves = some_moves(dice, deck)
        begun = after(WAITING, deal(deck=deck))
        if dice.random() < 0.5:
            table, moves = to_the_end(dice, table, moves)
        found = []
        first = tables_of(begun, moves)
        asked: set[int] = set()
        for other, other_moves in other_worlds(dice, deck, table, moves, reader.seat):
            if len(found) == OTHERS_MAX:
                break
            try:
                second = tables_of(after(WAITING, deal(deck=other)), other_moves)
            except RuleViolation:
                continue
            # That a deal is over is for all to see, whatever made it so.
            if [each.session.stage for each in second] == [each.session.stage for each in first]:
                if (other, other_moves) not in found:
                    found.append((other, other_moves))
                asked |= {here for here, there in zip(deck, other, strict=True) if here != there}
        if found:
            asks = some_asks(dice, first, reader.seat, sorted(asked))
            watched = number // len(CAST) % 2 == 0
            others = [Deal(*each, asks, watched) for each in found]
            yield Case(reader, Deal(deck, moves, asks, watched), others, phases_of(first), table)


def to_the_end(dice: random.Random, table: Any, moves: list[Any]) -> tuple[Any, list[Any]]:
    """The deal played on until it is over; the table is the one before its last move."""
    while True:
        move = dice.choice(VOLENY.legal(table.state))
        if dice.random() < 0.5:
            move = VOLENY.modest(table.state)
        moves.append(move)
        following = after(table, play(move))
        if following.session.stage != "deal":
            return table, moves
        table = following


def some_asks(dice: random.Random, first: list[Any], seat: int | None, cards: list[int]) -> list[Any]:
    """Commands that are refused, at a few places: about the cards that change places between the worlds, and others."""
    one, other = (CODES[card] for card in dice.sample(cards, 2))
    bodies: list[dict[str, Any]] = [
        {"type": "play", "card": one}, {"type": "play", "card": other}, {"type": "play", "card": one, "marriage": True},
        {"type": "play", "card": dice.choice(CODES)}, {"type": "choose_trump", "card": one},
        {"type": "discard", "cards": sorted((one, other), key=CODES.index)}, {"type": "declare", "game": "durch"},
    ]
    if seat is None:
        moves: list[tuple[Any, dict[str, Any]]] = [(None, body) for body in bodies]
    else:
        moves = [(load_move(seat, body), body) for body in bodies]
        moves += [(CLAIMS[seat], {"type": "claim"}), (GOODS[seat], {"type": "good"}),
                  (TAKE_OVERS[seat], {"type": "take_over"})]
    moves.append((None, {"type": "play", "card": "Xx"}))  # There is no such card.
    places = [place for place in range(1, len(first)) if first[place].session.stage == "deal"]
    chosen = dice.sample(places, min(ASKED_AT, len(places)))
    return [ask for place in chosen for ask in refused_asks(first, seat, dice.sample(moves, 4), place)]


def phases_of(tables: list[Any]) -> list[str]:
    return [type(table.state).__name__ if table.session.stage == "deal" else "after" for table in tables]


class Compared(NamedTuple):
    """How many pairs were compared, the phases they went through, and where the reader could tell them apart."""

    pairs: int
    phases: Counter[str]
    apart: list[str]


def compare(houses: list[World], seed: str, count: int, *, until_apart: bool = False) -> Compared:
    """Tell at least `count` pairs of worlds; with `until_apart` not more than it takes to see a difference."""
    tokens = tokens_of(houses[0])
    pairs, phases, apart = 0, Counter[str](), list[str]()
    for number, case in enumerate(cases(seed), 1):
        table = f"t-{number % PARTITIONS:02x}-{next(NUMBERS):012x}"
        others = (case.others + [case.first] * len(houses))[: len(houses) - 1]  # Houses must keep in step.
        first, *heard = told(houses, tokens, table, case.reader, [case.first, *others])
        names = Names()
        first = renamed(first, names)
        hidden = names.known & secrets_from(case.first.deck, case.table, case.first.moves, case.reader.seat)
        apart += [f"case {number}, {case.reader.name}: what opens hidden cards: {hidden}"] if hidden else []
        for other in (renamed(each, Names()) for each in heard):
            apart += differences(f"case {number}, {case.reader.name}", first, other)
        pairs += min(len(case.others), len(heard))
        phases.update(set(case.phases))
        if pairs >= count or (apart and until_apart):
            break
    return Compared(pairs, phases, apart)


def told(houses: list[World], tokens: dict[str, str], table: str, reader: Player, deals: list[Deal]) -> list[Heard]:
    """The same milliseconds in each house."""
    began = ended = houses[0].now()
    heard = []
    for house, its_deal in zip(houses, deals, strict=True):
        house.set_clock(began)
        heard.append(Telling(house, tokens, table, reader).tell(its_deal))
        ended = max(ended, house.now())
    houses[0].set_clock(ended)
    return heard


def renamed(heard: Heard, names: Names) -> Heard:
    """The same with numbers for hashes and salts, as commitments to other cards are other hashes."""
    return [(label, names(data)) for label, data in heard]


def differences(name: str, one: Heard, other: Heard) -> list[str]:
    """Where the two are not the same bytes."""
    found = [f"{name}: {label}\n  {here!r}\n  {there!r}" for (label, here), (_, there) in zip(one, other, strict=False)
             if here != there]
    return found + ([f"{name}: {len(one)} and {len(other)} answers"] if len(one) != len(other) else [])


def test_no_byte_on_any_wire_depends_on_a_card_the_reader_may_not_know(tmp_path, monkeypatch):
    with worlds(tmp_path, monkeypatch, 1 + OTHERS_MAX) as houses:
        compared = compare(houses, "wire", PAIRS)
    assert compared.apart == [], "\n".join(compared.apart[:5])
    assert compared.pairs >= PAIRS
    missing = PHASES - set(compared.phases)
    assert PAIRS < PAIRS_USUAL or not missing, missing


def spill(house: World) -> int:
    """A number that tells something of the cards now dealt: what a leak would."""
    return zlib.crc32(bytes(house.deck)) % 251


def in_the_body(patch, now):
    shown = views.view_bytes

    def leaky(current, seat):
        return shown(current, seat)[:-1] + b',"x":%b}' % shown(current, 0 if seat is None else (seat + 1) % 3)

    patch.setattr(views, "view_bytes", leaky)


def in_a_header(patch, now):
    complete = edge.Edge._complete

    def leaky(self, environ, headers, request_id):
        complete(self, environ, headers, request_id)
        headers.append(("X-Deal", str(spill(now()))))

    patch.setattr(edge.Edge, "_complete", leaky)


def in_the_etag(patch, now):
    complete = edge.Edge._complete

    def leaky(self, environ, headers, request_id):
        headers[:] = [(n, f'"{v}-{spill(now())}"' if n == "ETag" else v) for n, v in headers]
        complete(self, environ, headers, request_id)

    patch.setattr(edge.Edge, "_complete", leaky)


def in_a_length(patch, now):
    shown = tables._feed
    patch.setattr(tables, "_feed", lambda *given: shown(*given) + b" " * spill(now()))


def in_the_order_of_events(patch, now):
    feed = views.feed

    def leaky(*given):
        told = feed(*given)
        return told._replace(items=told.items[::-1]) if told and spill(now()) % 2 else told

    patch.setattr(views, "feed", leaky)


def in_the_code_of_a_refusal(patch, now):
    refusal = handle._refusal

    def leaky(held, command, place, code, facts=None):
        return refusal(held, command, place, "illegal_card" if spill(now()) % 2 else code, facts)

    patch.setattr(handle, "_refusal", leaky)


def in_a_push(patch, now):
    message = live.Rendering.message

    def leaky(self, transport, seat, *, has_last):
        found = message(self, transport, seat, has_last=has_last)
        return found + b": %d\n\n" % spill(now()) if found.startswith(b"id:") else found

    patch.setattr(live.Rendering, "message", leaky)


def in_a_patch_of_the_view(patch, now):
    private = live.Rendering.private
    patch.setattr(live.Rendering, "private", lambda self, seat: private(self, (seat + 1) % 3))


@pytest.mark.parametrize("leak", [
    in_the_body, in_a_header, in_the_etag, in_a_length, in_the_order_of_events, in_the_code_of_a_refusal, in_a_push,
    in_a_patch_of_the_view,
])
def test_a_planted_leak_tells_the_worlds_apart(leak, tmp_path, monkeypatch):
    with worlds(tmp_path, monkeypatch, 2) as houses:
        leak(monkeypatch, lambda: World.telling)
        compared = compare(houses, "planted", 30, until_apart=True)
    assert compared.apart, f"{compared.pairs} pairs looked the same"
