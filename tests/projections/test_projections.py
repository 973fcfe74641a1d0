"""What the projections write, and that they write it once, whatever stops them in between."""

import ast
import inspect
import json
from itertools import pairwise
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from engine.games.voleny.rules import Rules
from engine.table.events import DealCommitted, DealEnded, HandsCommitted, NoncesJoined
from schemas.recording import record_for, record_of
from schemas.records import run_record
from schemas.table import dump_events
from services.projections import project
from services.projections.records import record_text
from services.projections.sheet import TURNING, Seat, turned
from services.store import projected
from services.store.accounts import UnknownPosting, house_of
from services.store.outbox import Told
from services.store.outputs import Remembered, TableOutput
from tests.cast import ANA, BARA, CYRIL, DANA, SEATED
from tests.contract import voleny
from tests.projections.tables import Tables, follow, seated

TABLE = "t-0c-0123456789ab"


def payments(tables: Tables, table: str = TABLE) -> list[tuple[int, ...]]:
    """What each deal paid, from the events."""
    return [e.payments for events in tables.told[table] for e in events if isinstance(e, DealEnded)]


def test_the_bank_of_a_table_is_the_sum_of_its_deals(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=4)
    follow(redis)
    paid = payments(tables)
    bank = projected.bank(redis, TABLE, 0, 100)
    assert [(each.deal, each.payments) for each in bank.deals] == list(enumerate(paid, start=1))
    assert bank.balances == tuple(map(sum, zip(*paid, strict=True))) == tables.tables[TABLE].session.bank
    assert sum(bank.balances) == 0


def test_a_bank_is_read_in_pages(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=5)
    follow(redis)
    pages = [projected.bank(redis, TABLE, after, 2) for after in (0, 2, 4, 5)]
    assert [[paid.deal for paid in page.deals] for page in pages] == [[1, 2], [3, 4], [5], []]
    assert [page.next for page in pages] == [2, 4, None, None]


def test_a_table_without_a_past_has_nothing(redis: Redis) -> None:
    Tables(redis).open(TABLE, private=True, code="abcd")
    follow(redis)
    assert projected.bank(redis, TABLE, 0, 2) == ((0, 0, 0), (), None)


def test_a_table_under_bankroll_holds_what_was_brought_and_won(redis: Redis) -> None:
    tables = seated(redis, TABLE, stake="bankroll", buy_in=2_000)
    tables.play(TABLE, deals=2)
    tables.leave(TABLE, BARA)
    follow(redis)
    bank = projected.bank(redis, TABLE, 0, 10)
    assert bank.balances == tables.tables[TABLE].session.bank
    assert bank.balances[1] == 0
    assert projected.score(redis, ANA.id, None, 10).postings == (), "its chips move by transfers"


def test_each_player_has_a_posting_for_each_deal(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=3)
    follow(redis)
    paid = payments(tables)
    for player in SEATED:
        ledger = projected.score(redis, player.id, None, 10)
        assert [posting.chips for posting in ledger.postings] == [each[player.seat] for each in paid]
        assert ledger.balance == sum(each[player.seat] for each in paid)
        assert [posting.deal for posting in ledger.postings] == [1, 2, 3]
        assert {posting.table for posting in ledger.postings} == {TABLE}


def test_a_posting_leads_to_the_event_it_comes_from(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    follow(redis)
    [posting] = projected.score(redis, CYRIL.id, None, 10).postings
    assert posting.id == f"{TABLE}:{posting.version}:2"
    [ended] = [e for e in tables.told[TABLE][posting.version - 1] if isinstance(e, DealEnded)]
    assert ended.payments[2] == posting.chips


def test_a_bot_plays_for_the_house_and_all_scores_are_zero_together(redis: Redis) -> None:
    tables = Tables(redis)
    tables.open(TABLE, bots=(0, 2))
    tables.sit(TABLE, BARA)
    tables.play(TABLE, deals=2)
    follow(redis)
    ours = projected.score(redis, BARA.id, None, 10).balance
    assert projected.score(redis, house_of("0c"), None, 10).balance == -ours


def test_a_score_is_read_in_pages_by_the_last_posting(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    other = "t-1f-0123456789ab"
    tables.open(other)
    for player in SEATED:
        tables.sit(other, player)
    for table in (TABLE, other, other, TABLE, TABLE):
        tables.play(table)
    follow(redis)
    seen, after = [], None
    while page := projected.score(redis, ANA.id, after, 2).postings:
        seen += page
        after = page[-1].id
    assert [(posting.table, posting.deal) for posting in seen] == [
        (TABLE, 1), (other, 1), (other, 2), (TABLE, 2), (TABLE, 3)
    ]
    assert all(one.at < two.at for one, two in pairwise(seen))


@pytest.mark.parametrize("after", ["", "nothing", f"{TABLE}:9:0", "a:b:c", "balance", "::"])
def test_a_page_after_an_unknown_posting_is_refused(redis: Redis, after: str) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    follow(redis)
    with pytest.raises(UnknownPosting):
        projected.score(redis, ANA.id, after, 2)


def test_the_lobby_shows_public_tables_that_are_not_finished(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    hidden, over, empty = (f"t-0c-00000000000{n}" for n in range(3))
    tables.open(hidden, private=True, code="abcd")
    tables.open(over, deals=1, bots=(0, 1, 2))
    tables.open(empty, bots=(2,), turn_seconds=30, auto_ready=True)
    while tables.tables[over].session.stage != "over":
        tables.play(over)
    follow(redis)
    rows = [json.loads(row) for row in projected.lobby(redis, None, 10).rows]
    assert [row["table"] for row in rows] == [empty, TABLE], "the newest first"
    assert rows[0]["seats"] == [None, None, {"bot": "rule"}]
    assert rows[1]["seats"] == [{"player": player.id, "name": player.name} for player in SEATED]
    assert rows[0]["rules"]["rates"]["betl"] == 5, "the rules are told in full"
    assert (rows[0]["turn_seconds"], rows[0]["auto_ready"], rows[0]["stake"]) == (30, True, "free")


def test_the_lobby_is_read_in_pages(redis: Redis) -> None:
    tables = Tables(redis)
    names = [tables.open(f"t-{n:02x}-0123456789ab") for n in range(7)]
    follow(redis)
    seen, after = [], None
    while True:
        page = projected.lobby(redis, after, 3)
        seen += [json.loads(row)["table"] for row in page.rows]
        if page.next is None:
            break
        after = page.next
    assert seen == names[::-1]


def test_a_whole_record_is_a_deal_that_runs_to_the_same_result(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=3)
    follow(redis)
    for deal, paid in enumerate(payments(tables), start=1):
        record = json.loads(projected.whole_record(redis, TABLE, deal))
        answer = run_record(record)
        assert answer["ok"]
        assert answer["finished"]
        assert tuple(answer["result"]["payments"]) == paid


def test_a_record_shows_each_player_the_own_cards_only(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    follow(redis)
    whole = json.loads(projected.whole_record(redis, TABLE, 1))
    forehand = (whole["dealer"] + 1) % 3
    for player in SEATED:
        record = json.loads(projected.record(redis, TABLE, 1, player.id))
        known = [place for place, card in enumerate(record["deck"]) if card != "??"]
        assert len(known) == (12 if player.seat == forehand else 10)
        assert all(record["deck"][place] == whole["deck"][place] for place in known)
        for mine, true in zip(record["moves"], whole["moves"], strict=True):
            if true["seat"] == player.seat or true["type"] not in {"discard", "choose_trump", "play"}:
                assert mine == true
            elif true["type"] == "discard":
                assert "cards" not in mine
            elif true["type"] == "choose_trump":
                assert "card" not in mine
                assert mine.get("blind") == true.get("blind")
            else:
                assert mine["card"] == true["card"]
        assert record["result"] == whole["result"]


def test_a_spectator_is_shown_no_card_of_the_deck(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    follow(redis)
    for reader in (None, DANA.id):
        record = json.loads(projected.record(redis, TABLE, 1, reader))
        assert record["deck"] == ["??"] * 32
        assert not any("cards" in move for move in record["moves"])
    assert projected.record(redis, TABLE, 2, None) is None
    assert projected.whole_record(redis, TABLE, 2) is None


def test_who_takes_the_seat_later_may_not_look_into_its_earlier_deals(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE)
    tables.leave(TABLE, ANA)
    tables.sit(TABLE, DANA, seat=0)
    tables.play(TABLE)
    follow(redis)
    assert "cards" not in str(projected.record(redis, TABLE, 1, DANA.id))
    assert json.loads(projected.record(redis, TABLE, 1, DANA.id))["deck"] == ["??"] * 32
    assert json.loads(projected.record(redis, TABLE, 1, ANA.id))["deck"] != ["??"] * 32
    assert json.loads(projected.record(redis, TABLE, 2, ANA.id))["deck"] == ["??"] * 32
    assert json.loads(projected.record(redis, TABLE, 2, DANA.id))["deck"] != ["??"] * 32


def test_who_left_in_the_deal_is_paid_for_it(redis: Redis) -> None:
    tables = seated(redis, TABLE)
    assert tables.deal(TABLE)
    for _ in range(3):
        tables.move(TABLE)
    tables.leave(TABLE, BARA)
    follow(redis)
    while tables.move(TABLE):
        pass
    follow(redis)
    [(paid)] = payments(tables)
    assert projected.score(redis, BARA.id, None, 10).balance == paid[1]
    assert json.loads(projected.record(redis, TABLE, 1, BARA.id))["deck"] != ["??"] * 32
    assert json.loads(projected.lobby(redis, None, 1).rows[0])["seats"][1] is None


def test_what_is_passed_over_changes_nothing_that_is_projected(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=3, fair=True)
    passed = {type(event) for events in tables.told[TABLE] for event in events} - TURNING
    assert {DealCommitted, HandsCommitted, NoncesJoined} <= passed
    entries = [Told(version, 1, dump_events(events)) for version, events in enumerate(tables.told[TABLE], start=1)]
    told = project.project(TABLE, Remembered(0, b"", None), entries)
    monkeypatch.setattr(project, "_PASSED", frozenset())
    assert project.project(TABLE, Remembered(0, b"", None), entries) == told
    assert isinstance(told.own, TableOutput)
    assert len(told.own.sealed) == 3


def test_no_event_is_passed_over_that_the_sheet_asks_about() -> None:
    cases = [node for node in ast.walk(ast.parse(inspect.getsource(turned))) if isinstance(node, ast.MatchClass)]
    assert {case.cls.id for case in cases if isinstance(case.cls, ast.Name)} == {event.__name__ for event in TURNING}


@given(voleny.RULES, st.integers(0, 2**32))
def test_a_record_is_put_together_as_it_is_shown_to_each_seat(rules: Rules, seed: int) -> None:
    events = voleny.played_out(rules, Random(seed))
    whole = record_of(events)
    players = [Seat(player=f"p-0{seat}-0a1b2c3d4e5f") for seat in range(3)]
    made = record_text(7, events, [*players[:2], None])
    public = record_for(whole, None)
    assert made.sealed == {"7": msgspec.json.encode(whole)}
    assert made.shown.keys() == {"7", *(f"7:{each.player}" for each in players[:2])}
    assert made.shown["7"] == msgspec.json.encode(public)
    for number, player in enumerate(players[:2]):
        more, own = json.loads(made.shown[f"7:{player.player}"]), record_for(whole, number)
        deck = [more["deck"].get(str(place), card) for place, card in enumerate(public["deck"])]
        moves = [move | more["moves"].get(str(place), {}) for place, move in enumerate(public["moves"])]
        assert (deck, moves) == (own["deck"], own["moves"])
