"""Three phones play a whole session over HTTP: the bank is right, and nobody is sent a card it may not know (§7.10)."""

import json
import os
from dataclasses import dataclass

import pytest

from schemas.records import run_record
from tests.system.client import Client, Stream, register, seat_three
from tests.system.leak import CARD, leaks, moves_in
from tests.system.play import play_session
from tests.system.program import Serve

DEALS = int(os.environ.get("MARIAS_TEST_DEALS", "12"))

pytestmark = pytest.mark.server


@dataclass
class Session:
    """A session that was played to its end, what each reader heard of it, and the whole records."""

    table: str
    players: list[Client]
    spectator: Client
    streams: list[Stream]  # by seat, the spectator's last
    records: list[dict]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    serve = Serve(tmp_path_factory.mktemp("three") / "data").start()
    try:
        table, players = seat_three(serve.port, deals=DEALS)
        spectator = register(serve.port, "Dana")
        streams = [Stream(client, table) for client in [*players, spectator]]
        assert play_session(players, table) == []
        final = spectator.view(table)["version"]
        wait_for(streams, final)
        auditor = Client(serve.port, serve.token("auditor"))
        count = auditor.view(table)["deal"]
        records = [auditor.persist("GET", f"/v1/tables/{table}/deals/{n}") for n in range(1, count + 1)]
        yield Session(table, players, spectator, streams, records)
        for stream in streams:
            stream.stop()
    finally:
        serve.stop()


def wait_for(streams: list[Stream], version: int, seconds: float = 60) -> None:
    for stream in streams:
        stream.over.wait(0)
        for _ in range(int(seconds / 0.05)):
            if stream.messages and stream.messages[-1][0] >= version:
                break
            stream.over.wait(0.05)


def test_a_session_has_its_deals_or_three_more_when_the_first_place_was_shared(session):
    assert len(session.records) in (DEALS, DEALS + 3)


def test_the_bank_is_the_sum_of_the_records(session):
    payments = [record["result"]["payments"] for record in session.records]
    bank = session.players[0].ask("GET", f"/v1/tables/{session.table}/bank")
    assert bank["balances"] == [sum(column) for column in zip(*payments, strict=True)]
    assert [(deal["deal"], deal["payments"]) for deal in bank["deals"]] == list(enumerate(payments, start=1))
    assert sum(bank["balances"]) == 0
    assert session.players[1].view(session.table)["bank"] == bank["balances"]


def test_each_ledger_adds_up_to_the_balance_of_its_seat(session):
    bank = session.players[0].ask("GET", f"/v1/tables/{session.table}/bank")
    for seat, player in enumerate(session.players):
        ledger = player.ask("GET", "/v1/players/me/ledger")
        assert ledger["balance"] == bank["balances"][seat]
        assert [posting["chips"] for posting in ledger["postings"]] == [
            record["result"]["payments"][seat] for record in session.records
        ]


def test_the_rules_accept_every_record_with_its_result(session):
    answers = [run_record(record) for record in session.records]
    assert all(answer["ok"] and answer["finished"] for answer in answers), answers


def test_each_reader_got_every_version_once_and_in_order(session):
    for stream in session.streams:
        assert stream.versions() == list(range(1, len(stream.messages) + 1))
        assert stream.resets == 0
    assert len({len(stream.messages) for stream in session.streams}) == 1


def test_a_record_shows_a_seat_its_own_cards_and_a_spectator_none(session):
    for number, whole in enumerate(session.records, start=1):
        forehand = (whole["dealer"] + 1) % 3
        for place, client in enumerate([*session.players, session.spectator]):
            shown = client.ask("GET", f"/v1/tables/{session.table}/deals/{number}")
            known = {at for at, card in enumerate(shown["deck"]) if card != "??"}
            assert len(known) == {True: 12, False: 10}[place == forehand] if place < 3 else not known
            assert all(shown["deck"][at] == whole["deck"][at] for at in known)
            for seen, made in zip(shown["moves"], whole["moves"], strict=True):
                if made["seat"] == place:
                    assert seen == made
                elif made["type"] in ("discard", "choose_trump"):
                    assert not {"card", "cards"} & set(seen)
            assert shown["result"] == whole["result"]


def test_no_byte_that_was_sent_during_play_tells_a_card_its_reader_may_not_know(session):
    made = moves_by_deal(session.streams[3])
    problems, cards = [], 0
    for place, client in enumerate([*session.players, session.spectator]):
        for deal, record in enumerate(session.records, start=1):
            versions = made[deal]
            heard = [*views_of(client, session.table, deal), *feed_of(session.streams[place], deal)]
            cards += sum(len(CARD.findall(raw)) for _, raw in heard)
            problems += leaks(record, versions, heard, None if place == 3 else place)
    assert problems == []
    assert cards > 300 * len(session.records), "the referee had hardly anything to judge"


def deal_of_items(stream: Stream) -> list[tuple[int, int, dict, bytes]]:
    """(deal, version, item, bytes) of each message; lobby messages belong to the deal before them."""
    found, deal = [], 0
    for version, raw in stream.messages:
        item = json.loads(raw)
        for event in item["events"]:
            if event["type"] == "deal_started":
                deal = event["deal"]
        found.append((deal, version, item, raw))
    return found


def moves_by_deal(stream: Stream) -> dict[int, list[int]]:
    """For each deal, the version at which each of its moves was applied."""
    made: dict[int, list[int]] = {}
    for deal, version, item, _ in deal_of_items(stream):
        made.setdefault(deal, []).extend([version] * moves_in(item))
    return made


def feed_of(stream: Stream, deal: int) -> list[tuple[int, bytes]]:
    return [(version, raw) for number, version, _, raw in deal_of_items(stream) if number == deal]


def views_of(client: Client, table: str, deal: int) -> list[tuple[int, bytes]]:
    """(version, bytes) of every view of that deal that the client was sent."""
    found = []
    for path, raw in client.heard:
        if path == f"/v1/tables/{table}":
            view = json.loads(raw)
            if view["deal"] == deal:
                found.append((view["version"], raw))
    return found
