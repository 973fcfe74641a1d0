"""The stream of a table: every version once and in order, for the eyes of the caller (contract §3)."""

import json
import random
import threading
from collections.abc import Callable

import pytest
from redis import Redis

from services.store import keys
from tests.cast import ANA, BARA, CYRIL, DANA
from tests.push.clients import Stream
from tests.push.conftest import Push
from tests.push.writer import TABLE, Writer

pytestmark = pytest.mark.server
PATH = f"/v1/tables/{TABLE}/stream"


def open_stream(push: Push, token: str, query: str = "", **headers: str) -> Stream:
    stream = Stream(push.port, PATH + query, token, **headers)
    assert stream.status == 200, stream.headers
    return stream


def test_a_message_is_one_version_with_its_id_and_no_event_line(push: Push, writer: Writer) -> None:
    writer.change()
    stream = open_stream(push, push.token(BARA), "?after=0")
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.messages(1) == [(
        "1", "",
        '{"version":1,"at":"2023-11-14T22:13:20.001Z","events":[{"type":"said","n":1,"secret":"1-1"}]}',
        "",
    )]


def test_without_a_place_to_begin_a_stream_begins_now(push: Push, writer: Writer) -> None:
    writer.change()
    stream = open_stream(push, push.token(ANA))
    next(iter(stream))  # The greeting: from here on nothing may be missed.
    writer.change()
    assert stream.versions(1) == [2]


@pytest.mark.parametrize(("query", "headers"), [
    pytest.param("?after=2", {}, id="the query names the last version that is known"),
    pytest.param("", {"Last_Event_ID": "2"}, id="so does the header of a browser that reconnects"),
    pytest.param("?after=0", {"Last_Event_ID": "2"}, id="and the header counts, since the address stays the same"),
])
def test_a_stream_resumes_after_the_version_that_is_known(
    push: Push, writer: Writer, query: str, headers: dict[str, str]
) -> None:
    for _ in range(4):
        writer.change()
    stream = open_stream(push, push.token(ANA), query, **headers)
    assert stream.versions(2) == [3, 4]
    writer.change()
    assert stream.versions(1) == [5]


def test_who_resumes_while_the_table_plays_on_misses_nothing_and_hears_nothing_twice(
    push: Push, writer: Writer
) -> None:
    count, random_ = 400, random.Random(7)
    writer.change()
    heard: list[list[int]] = []

    def follow(known: int, pauses: list[int]) -> None:
        mine: list[int] = []
        for take in pauses:
            stream = open_stream(push, push.token(ANA), f"?after={known}")
            mine += stream.versions(min(take, count - known))
            known = mine[-1]
            stream.close()
        heard.append(mine)

    followers = [
        threading.Thread(target=follow, args=(1, [random_.randint(1, 90) for _ in range(8)] + [count]))
        for _ in range(4)
    ]
    player = threading.Thread(target=writer.play_on, args=(count,))
    for thread in (player, *followers):
        thread.start()
    for thread in (player, *followers):
        thread.join()
    assert len(heard) == len(followers)
    for versions in heard:
        assert versions == list(range(2, count + 1))


@pytest.mark.parametrize("seat", [0, 1, 2, None], ids=["seat 0", "seat 1", "seat 2", "a spectator"])
def test_what_is_sent_is_what_the_feed_holds_for_the_seat(
    push: Push, writer: Writer, store: Redis, seat: int | None
) -> None:
    caller = (ANA, BARA, CYRIL, DANA)[3 if seat is None else seat]
    writer.change()
    stream = open_stream(push, push.token(caller), "?after=0")  # The first by resuming, the others live.
    for _ in range(5):
        writer.change()
    sent = [message.data.encode() for message in stream.messages(6)]
    field = b"e" if seat is None else b"e%d" % seat
    kept = [fields[field] for _, fields in store.xrange(keys.feed(TABLE))]
    assert len(kept) == 6
    for message, events in zip(sent, kept, strict=True):
        assert message.endswith(b'"events":%b}' % events)
        assert message.count(b"secret") == (seat is not None)


def test_with_views_each_message_brings_the_table_after_it(push: Push, writer: Writer) -> None:
    writer.change()
    writer.change()
    stream = open_stream(push, push.token(CYRIL), "?views=whole&after=0")
    missed, newest = (json.loads(message.data) for message in stream.messages(2))
    assert "view" not in missed  # Nobody keeps the views of old versions.
    writer.change()
    for number, item in ((2, newest), (3, json.loads(stream.messages(1)[0].data))):
        assert (item["view"]["version"], item["view"]["seat"]) == (number, 2)
        assert item["view"]["hand"] == ["card-of-2"]


def test_the_cards_of_who_sat_there_before_stay_hidden(push: Push, writer: Writer) -> None:
    writer.change()
    writer.change(event={"type": "seat_freed", "seat": 0}, who=f"|{BARA.id}|{CYRIL.id}")
    writer.change(event={"type": "sat_down", "seat": 0}, who=f"{DANA.id}|{BARA.id}|{CYRIL.id}")
    writer.change(who=f"{DANA.id}|{BARA.id}|{CYRIL.id}")
    newcomer = open_stream(push, push.token(DANA), "?after=0").messages(4)
    assert ["secret" in message.data for message in newcomer] == [False, False, True, True]
    other = open_stream(push, push.token(BARA), "?after=0").messages(4)
    assert ["secret" in message.data for message in other] == [True] * 4


def test_who_leaves_a_seat_hears_no_more_than_a_spectator(push: Push, writer: Writer) -> None:
    writer.change()
    stream = open_stream(push, push.token(ANA), "?after=0")
    stream.messages(1)
    writer.change(who=f"|{BARA.id}|{CYRIL.id}")
    assert "secret" not in stream.messages(1)[0].data


def test_versions_that_the_feed_has_dropped_are_replaced_by_the_view(push: Push, writer: Writer) -> None:
    for _ in range(5):
        writer.change(floor=4)
    stream = open_stream(push, push.token(BARA), "?after=1")
    message, = stream.messages(1)
    assert (message.event, message.id) == ("reset", "5")
    assert json.loads(message.data)["hand"] == ["card-of-1"]
    writer.change()
    assert stream.versions(1) == [6]


def test_a_version_that_never_was_is_answered_by_the_view(push: Push, writer: Writer) -> None:
    writer.change()
    message, = open_stream(push, push.token(BARA), "?after=17").messages(1)
    assert (message.event, message.id) == ("reset", "1")


def test_a_private_table_is_watched_by_its_players_and_by_who_knows_the_code(push: Push, writer: Writer) -> None:
    writer.change(code="žalud")
    assert Stream(push.port, PATH, push.token(ANA)).status == 200
    assert Stream(push.port, PATH + "?code=%C5%BEalud", push.token(DANA)).status == 200
    assert Stream(push.port, PATH, push.token(DANA, "auditor")).status == 200
    for query in ("", "?code=zalud", "?code="):
        refused = Stream(push.port, PATH + query, push.token(DANA))
        assert (refused.status, refused.problem()["code"]) == (403, "code_wrong")


def test_who_leaves_a_private_table_without_knowing_its_code_is_shown_out(push: Push, writer: Writer) -> None:
    writer.change(code="kule")
    stream = open_stream(push, push.token(ANA), "?after=0")
    stream.messages(1)
    writer.change(code="kule", who=f"|{BARA.id}|{CYRIL.id}")
    assert stream.messages(1) == []


@pytest.mark.parametrize(("path", "token", "refusal"), [
    pytest.param(PATH, None, (401, "unauthenticated"), id="no token"),
    pytest.param(PATH, "forged", (401, "unauthenticated"), id="a forged token"),
    pytest.param(PATH, "operator", (403, "forbidden"), id="an operator"),
    pytest.param("/v1/tables/t-1f-0000000000ff/stream", "player", (404, "not_found"), id="a table that is not"),
    pytest.param("/v1/tables/nonsense/stream", "player", (404, "not_found"), id="an id that cannot be"),
    pytest.param("/v1/tables//stream", "player", (404, "not_found"), id="no id at all"),
    pytest.param(PATH + "?after=minus", "player", (422, "malformed"), id="a version that is a word"),
    pytest.param(PATH + "?after=-1", "player", (422, "malformed"), id="a negative version"),
    pytest.param(PATH + "?after=" + "9" * 400, "player", (422, "malformed"), id="a version beyond all bounds"),
    pytest.param(PATH + "?x=1", "player", (422, "malformed"), id="a query that means nothing"),
    pytest.param(PATH + "?after=1&after=2", "player", (422, "malformed"), id="a query that means two things"),
    pytest.param("/v1/elsewhere", "player", (404, "not_found"), id="another address"),
])
def test_what_cannot_be_streamed_is_refused_with_a_code(
    push: Push, writer: Writer, path: str, token: str | None, refusal: tuple[int, str]
) -> None:
    writer.change()
    status, code = refusal
    sent = push.token(ANA, token) if token in ("player", "operator") else token
    refused = Stream(push.port, path, sent)
    assert refused.status == status
    if "content-length" in refused.headers:
        problem = refused.problem()
        assert problem["code"] == code
        assert problem["status"] == status


def test_silence_is_broken_by_comments(launch: Callable[[float], Push], writer: Writer) -> None:
    quick = launch(0.05)
    writer.change()
    stream = open_stream(quick, quick.token(ANA), "?after=1")
    blocks = [next(iter(stream)) for _ in range(4)]
    assert [block.data for block in blocks] == [""] * 4
    assert blocks[0].comment == "welcome"


def test_a_client_who_does_not_read_is_cut_off_and_resumes(push: Push, writer: Writer) -> None:
    writer.change()
    slow = Stream(push.port, PATH + "?views=whole&after=1", push.token(ANA), receive_bytes=4096)
    next(iter(slow))
    for _ in range(300):
        writer.change(padding=8_000)
    received = [int(message.id) for message in slow.messages(10_000)]
    assert received == list(range(2, len(received) + 2))
    assert 0 < len(received) < 300
    again = open_stream(push, push.token(ANA), f"?after={received[-1]}")
    assert again.versions(300 - len(received)) == list(range(received[-1] + 1, 302))


def test_a_slow_client_holds_nobody_up(push: Push, writer: Writer) -> None:
    writer.change()
    slow = Stream(push.port, PATH + "?views=whole&after=1", push.token(ANA), receive_bytes=4096)
    quick = open_stream(push, push.token(BARA), "?after=1")
    for _ in range(200):
        writer.change(padding=8_000)
    assert quick.versions(200) == list(range(2, 202))
    slow.close()


def test_a_browser_of_a_foreign_page_is_not_let_in_unless_named(push: Push, writer: Writer) -> None:
    writer.change()
    stream = Stream(push.port, PATH, push.token(ANA), Origin="https://elsewhere.example")
    assert "access-control-allow-origin" not in stream.headers
