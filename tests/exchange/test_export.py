"""Deals and ledgers of tables, as they leave the house."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest
from fakeredis import FakeRedis, FakeServer

from schemas.ledger_csv import COLUMNS, Line, csv_lines, header
from schemas.records import run_record
from services.archive import make
from services.exchange.deals import AUDITOR, records
from services.exchange.files import import_lines
from services.exchange.ledgers import names_at, of_player, of_table
from services.store import accounts, history, projected
from services.store.players import all_players
from tests.archive.conftest import Archived
from tests.worker.house import ANA, BARA, OTHER, PLAYERS, TABLE


def past(house, table=TABLE):
    return history.entries_after(house.redis, table, 0)


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> Iterator[Archived]:
    """A house with three finished deals, only to be looked at."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    house = Archived(client, tmp_path_factory.mktemp("three") / "archive")
    played(house)
    yield house
    client.close()


def played(house, deals=3, table=TABLE, **options):
    house.open(table, **options)
    for player in PLAYERS:
        assert house.say(table, player, "sit")["s"] == "applied"
    house.play_deals(deals, table)
    house.follow()


def test_whole_records_are_what_auditors_are_told_and_run_to_their_results(three):
    told = list(records(TABLE, past(three)))
    assert [number for number, _ in told] == [1, 2, 3]
    for number, record in told:
        assert msgspec.json.encode(record) == projected.whole_record(three.redis, TABLE, number)
        assert run_record(record)["result"] == record["result"]


def test_archived_deals_are_exported_like_others(house):
    played(house)
    before = list(records(TABLE, past(house)))
    assert make.archive(house.redis, house.archive, TABLE, 2) == 2
    assert list(records(TABLE, past(house))) == before


@pytest.mark.parametrize("seat", [0, 1, 2, None])
def test_a_seat_is_told_what_it_may_know(three, seat):
    for number, record in records(TABLE, past(three), seat):
        reader = None if seat is None else PLAYERS[seat]
        assert msgspec.json.encode(record) == projected.record(three.redis, TABLE, number, reader)


def test_what_a_seat_was_told_is_refused_by_name(three):
    _, record = next(records(TABLE, past(three), 0))
    [row] = import_lines("-", io.BytesIO(msgspec.json.encode(record) + b"\n"))
    assert (row.status, row.code) == ("refused", "bad_record")
    assert row.message.startswith("deck: ?? stands for cards")


def test_a_running_deal_is_a_position_if_it_is_asked_for(house):
    played(house, 1)
    while house.view()["phase"] in ("lobby", "choose_trump"):
        house.play(1)
    assert [number for number, _ in records(TABLE, past(house))] == [1]
    _, (number, record) = records(TABLE, past(house), AUDITOR, running=True)
    assert (number, "result" in record, len(record["moves"])) == (2, False, 1)
    assert run_record(record)["finished"] is False


def test_the_lines_of_a_table_add_up_to_its_bank(three):
    lines = list(of_table(TABLE, past(three)))
    assert [(line.deal, line.player, line.account) for line in lines] == [
        (deal, player, "score") for deal in (1, 2, 3) for player in PLAYERS
    ]
    held = {line.player: line.balance for line in lines}
    assert tuple(held.values()) == projected.bank(three.redis, TABLE, 0, 10).balances
    by_deal = defaultdict(int)
    for line in lines:
        by_deal[line.deal] += line.chips
    assert set(by_deal.values()) == {0}
    scores = [line for player in PLAYERS for line in of_player(three.redis, player, which=("score",))]
    assert sorted(line.id for line in scores) == sorted(line.id for line in lines)


def test_chips_that_come_and_go_are_lines_too(house):
    for player in PLAYERS:
        accounts.open_account(house.redis, player, 10**12)
    buy_in = 10**11
    house.open(OTHER, stake="bankroll", buy_in=buy_in, bots=[2])
    for player in (ANA, BARA):
        assert house.say(OTHER, player, "sit")["s"] == "applied"
    assert house.say(OTHER, BARA, "leave")["s"] == "applied"
    lines = list(of_table(OTHER, past(house, OTHER)))
    assert [(line.player, line.name, line.chips) for line in lines if line.player] == [
        (ANA, ANA[:4], buy_in), (BARA, BARA[:4], buy_in), (BARA, BARA[:4], -buy_in),
    ]
    assert {line.account for line in lines} == {"table"}
    assert lines[-1].balance == 0
    [opened, bought, *_] = of_player(house.redis, ANA, "Ana", ("chips",))
    assert (opened.chips, opened.balance) == (10**12, 10**12)
    assert (bought.chips, bought.balance, bought.table) == (-buy_in, 10**12 - buy_in, OTHER)
    written = b"".join(csv_lines([bought]))
    assert written.startswith(f"{ANA},Ana,chips,".encode())
    assert f",-{buy_in},{10**12 - buy_in},{OTHER},".encode() in written


def test_players_are_found_by_their_accounts_and_scores(house):
    assert all_players(house.redis) == []
    played(house, 1)
    accounts.open_account(house.redis, "u-03-00000000000000ff")
    assert all_players(house.redis) == [*PLAYERS, "u-03-00000000000000ff"]


def test_a_player_is_called_as_he_sat_down(three):
    assert names_at(TABLE, past(three)) == {player: player[:4] for player in PLAYERS}


def test_running_balances_run(three):
    lines = list(of_player(three.redis, ANA, which=("score",)))
    assert all(after.balance == before.balance + after.chips for before, after in pairwise(lines))
    assert lines[-1].balance == projected.score(three.redis, ANA, None, 1).balance


NAMES = {
    "=HYPERLINK(\"http://x\")": "'=HYPERLINK(\"http://x\")", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t=1", "＝1": "'＝1", "|calc": "'|calc", "Řehoř, \"Ž\"": "Řehoř, \"Ž\"", "金 🂡": "金 🂡", "": "",
    "two\nlines": "two\nlines", "Ana=1": "Ana=1",
}


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_names_are_text_to_whoever_reads(name, shown):
    line = Line(ANA, name, "score", f"{TABLE}:7:0", -(10**12), 10**15, TABLE, 1, 7, 1767225600000)
    text = (header() + b"".join(csv_lines([line]))).decode()
    head, row = csv.reader(io.StringIO(text, newline=""))
    assert tuple(head) == COLUMNS
    assert row == [ANA, shown, "score", f"{TABLE}:7:0", "-1000000000000", "1000000000000000", TABLE, "1", "7",
                   "2026-01-01T00:00:00.000Z"]
    assert text.endswith("\r\n")
    assert json.dumps(text)
