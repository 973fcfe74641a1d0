"""The socket of a table (contract §3a): commands in, receipts and versions out."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable

import msgspec
import pytest
from redis import Redis
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from services.receipts import Receipt, read
from services.store import keys
from tests.cast import ANA, BARA, CYRIL, DANA, Player
from tests.push.clients import OPEN, SECONDS, decided, hear, socket_of
from tests.push.conftest import Push
from tests.push.writer import TABLE, Writer

pytestmark = pytest.mark.server
PLAY = {"type": "play", "card": "Ah"}


def sit(push: Push, player: Player = ANA) -> ClientConnection:
    return socket_of(push.port, TABLE, push.token(player))


def send(connection: ClientConnection, *messages: object) -> None:
    for message in messages:
        connection.send(json.dumps(message))


def taken_in(store: Redis, count: int) -> list[dict[bytes, bytes]]:
    """The first `count` commands that intake has put down for the table."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        entries = store.xrange(keys.commands(keys.partition_of(TABLE)))
        if len(entries) >= count:
            return [fields for _, fields in entries[:count]]
        time.sleep(0.01)
    raise AssertionError("the commands were not taken in")


def test_the_subprotocol_is_agreed_on(push: Push, writer: Writer) -> None:
    writer.change()
    assert sit(push).subprotocol == "marias.v1"


def test_every_change_comes_with_the_events_and_the_view_of_the_seat(push: Push, writer: Writer) -> None:
    writer.change()
    connection = sit(push, BARA)
    send(connection, {"resume": 1})
    writer.change()
    assert json.loads(connection.recv(SECONDS)) == {
        "version": 2,
        "events": [{"type": "said", "n": 2, "secret": "1-2"}],
        "view": {"version": 2, "filler": "", "seat": 1, "hand": ["card-of-1"], "legal": []},
    }


def test_the_token_may_come_in_the_first_message(push: Push, writer: Writer) -> None:
    writer.change()
    connection = socket_of(push.port, TABLE, None)
    send(connection, {"token": push.token(CYRIL)}, {"resume": 0})
    assert hear(connection, "version")["view"]["seat"] == 2


@pytest.mark.parametrize("first", [
    pytest.param({"token": "forged"}, id="a forged token"),
    pytest.param({"token": 7}, id="a token that is a number"),
    pytest.param({"resume": 0}, id="something else than a token"),
])
def test_without_a_good_token_the_socket_is_closed_with_a_reason(push: Push, writer: Writer, first: dict) -> None:
    writer.change()
    connection = socket_of(push.port, TABLE, None)
    send(connection, first)
    assert hear(connection, "error")["error"]["code"] == "unauthenticated"
    with pytest.raises(ConnectionClosed) as closed:
        connection.recv(SECONDS)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


@pytest.mark.parametrize(("table", "token", "status"), [
    pytest.param("t-1f-0000000000ff", "player", 404, id="an unknown table"),
    pytest.param("t-1f-0000000000ff", None, 404, id="an unknown table, before any token is sent"),
    pytest.param(TABLE, "forged", 401, id="a forged token"),
    pytest.param(TABLE, "operator", 403, id="an operator"),
])
def test_what_cannot_be_joined_is_refused_before_the_upgrade(
    push: Push, writer: Writer, table: str, token: str | None, status: int
) -> None:
    writer.change()
    with pytest.raises(InvalidStatus) as refused:
        socket_of(push.port, table, push.token(ANA, token) if token in ("player", "operator") else token)
    assert refused.value.response.status_code == status
    assert json.loads(refused.value.response.body)["status"] == status


def test_a_private_table_asks_for_its_code(push: Push, writer: Writer) -> None:
    writer.change(code="kule")
    with pytest.raises(InvalidStatus):
        sit(push, DANA)
    watching = socket_of(push.port, TABLE, push.token(DANA), query="?code=kule")
    send(watching, {"resume": 0})
    assert hear(watching, "version")["view"]["hand"] == []
    late = socket_of(push.port, TABLE, None)
    send(late, {"token": push.token(DANA)})
    assert hear(late, "error")["error"]["code"] == "code_wrong"


def test_a_command_is_taken_in_for_the_caller_under_its_id(push: Push, writer: Writer, store: Redis) -> None:
    writer.change()
    connection = sit(push)
    send(connection, {"id": "one", "command": PLAY, "if_version": 1})
    command, = taken_in(store, 1)
    assert (command[b"t"], command[b"a"], command[b"k"], command[b"v"]) == (
        TABLE.encode(), ANA.id.encode(), b"one", b"1",
    )
    assert msgspec.json.decode(command[b"b"]) == PLAY
    writer.change(key="one")
    assert decided(connection) == {"id": "one", "status": "applied", "version": 2}


def test_a_refusal_names_its_code_and_what_the_sender_may_know(push: Push, writer: Writer, store: Redis) -> None:
    writer.change()
    connection, other = sit(push), sit(push, BARA)
    send(other, {"resume": 1})
    send(connection, {"id": "one", "command": PLAY})
    taken_in(store, 1)
    writer.refuse(ANA.id, "one", "illegal_card", {"legal": ["7h"]})
    assert decided(connection) == {
        "id": "one", "status": "refused", "code": "illegal_card", "detail": {"legal": ["7h"]},
    }
    writer.change()
    assert set(json.loads(other.recv(SECONDS))) == {"version", "events", "view"}


def test_the_hash_of_what_was_written_comes_with_the_answer(push: Push, writer: Writer) -> None:
    writer.change()
    connection = sit(push)
    send(connection, {"id": "one", "command": PLAY})
    writer.change(key="one", hash="H" * 43)
    assert decided(connection)["hash"] == "H" * 43


def test_receipts_are_signed_for_whoever_wants_to_keep_them(push: Push, writer: Writer, store: Redis) -> None:
    writer.change()
    connection = socket_of(push.port, TABLE, push.token(ANA), query="?receipts=signed")
    send(connection, {"id": "one", "command": PLAY})
    writer.change(key="one", hash="H" * 43)
    told = decided(connection)
    said = read(push.signer.find, told.pop("signed"))
    assert told == {"id": "one", "status": "applied", "version": 2, "hash": "H" * 43}
    assert said == Receipt(TABLE, ANA.id, "one", "applied", said.at, version=2, hash="H" * 43, mark="fp")
    send(connection, {"id": "two", "command": PLAY})
    taken_in(store, 2)
    writer.refuse(ANA.id, "two", "not_your_turn", {"seat": 1})
    told = decided(connection)
    assert (told["code"], told["detail"]) == ("not_your_turn", {"seat": 1})
    assert read(push.signer.find, told["signed"]).code == "not_your_turn"


def test_other_words_about_receipts_are_refused(push: Push, writer: Writer) -> None:
    writer.change()
    with pytest.raises(InvalidStatus) as refused:
        socket_of(push.port, TABLE, push.token(ANA), query="?receipts=stamped")
    assert refused.value.response.status_code == 422


def test_the_same_id_again_gets_the_same_answer(push: Push, writer: Writer, store: Redis) -> None:
    writer.change()
    first = sit(push)
    send(first, {"id": "one", "command": PLAY})
    taken_in(store, 1)
    first.close()
    writer.change(key="one")
    again = sit(push)
    send(again, {"id": "one", "command": PLAY})
    assert decided(again) == {"id": "one", "status": "applied", "version": 2}
    assert store.xlen(keys.commands(keys.partition_of(TABLE))) == 1


def test_the_same_id_with_another_command_is_refused(push: Push, writer: Writer, store: Redis) -> None:
    writer.change()
    connection = sit(push)
    send(connection, {"id": "one", "command": PLAY})
    taken_in(store, 1)
    other = sit(push)
    send(other, {"id": "one", "command": {"type": "good"}})
    assert decided(other)["code"] == "idempotency_key_reused"


def test_what_is_not_decided_soon_is_reported_as_queued_and_answered_later(
    push: Push, writer: Writer, store: Redis
) -> None:
    writer.change()
    connection = sit(push)
    send(connection, {"id": "one", "command": PLAY})
    assert hear(connection, "receipt")["receipt"] == {"id": "one", "status": "queued"}
    writer.change(key="one")
    assert decided(connection)["status"] == "applied"


def test_many_commands_at_once_are_each_answered(push: Push, writer: Writer, store: Redis) -> None:
    writer.change()
    players = [sit(push, player) for player in (ANA, BARA, CYRIL)]
    for number in range(12):
        for connection in players:
            send(connection, {"id": f"n{number}", "command": PLAY})
    for command in taken_in(store, 36):
        writer.change(actor=command[b"a"].decode(), key=command[b"k"].decode())
    for connection in players:
        answered = {decided(connection)["id"] for _ in range(12)}
        assert answered == {f"n{number}" for number in range(12)}


def test_an_auditor_commands_nothing(push: Push, writer: Writer) -> None:
    writer.change()
    connection = socket_of(push.port, TABLE, push.token(DANA, "auditor"))
    send(connection, {"id": "one", "command": PLAY})
    assert decided(connection)["code"] == "forbidden"


def test_who_resumes_hears_all_that_was_missed_and_sees_the_table_once(push: Push, writer: Writer) -> None:
    for _ in range(5):
        writer.change()
    connection = sit(push)
    send(connection, {"resume": 2})
    missed = [hear(connection, "version") for _ in range(3)]
    assert [message["version"] for message in missed] == [3, 4, 5]
    assert ["view" in message for message in missed] == [False, False, True]


def test_who_may_resume_is_given_time_to_say_so(launch: Callable[..., Push], writer: Writer) -> None:
    writer.change()
    connection = sit(launch(12.0, first_seconds=60.0))
    writer.change()  # Before the first message: it must wait its turn.
    send(connection, {"resume": 0})
    assert [hear(connection, "version")["version"] for _ in range(2)] == [1, 2]


def followed_from_now(connection: ClientConnection, writer: Writer) -> int:
    """The first version that comes to somebody who has not said from where; all later ones up to now are heard, too."""
    heard: list[int] = []
    while not heard or heard[-1] < writer.version:
        if not heard:
            writer.change()
        with contextlib.suppress(TimeoutError):
            heard.append(json.loads(connection.recv(timeout=SECONDS if heard else 0.1))["version"])
    assert heard == list(range(heard[0], writer.version + 1))
    return heard[0]


def test_who_resumes_late_hears_nothing_twice(push: Push, writer: Writer) -> None:
    """He was followed from now on, and says only then that he has just what was there at that time."""
    writer.change()
    connection = sit(push)
    first = followed_from_now(connection, writer)
    for had in (first - 1, writer.version):
        send(connection, {"resume": had})
        writer.change()
        assert hear(connection, "version")["version"] == writer.version


def test_who_resumes_late_and_lacks_something_is_sent_all_of_it_in_order(push: Push, writer: Writer) -> None:
    for _ in range(3):
        writer.change()
    connection = sit(push)
    followed_from_now(connection, writer)
    now = writer.version
    send(connection, {"resume": 1})
    assert [hear(connection, "version")["version"] for _ in range(now - 1)] == list(range(2, now + 1))
    send(connection, {"resume": 2})
    writer.change()
    assert hear(connection, "version")["version"] == now + 1


def test_a_dropped_feed_is_replaced_by_the_view(push: Push, writer: Writer) -> None:
    for _ in range(5):
        writer.change(floor=4)
    connection = sit(push)
    send(connection, {"resume": 1})
    message = hear(connection, "version")
    assert (message["version"], message["events"], message["reset"]) == (5, [], True)
    assert message["view"]["hand"] == ["card-of-0"]


def test_sockets_that_resume_under_fire_miss_nothing_and_hear_nothing_twice(push: Push, writer: Writer) -> None:
    count = 300
    writer.change()
    heard: list[list[int]] = []

    def follow() -> None:
        mine: list[int] = [1]
        while mine[-1] < count:
            connection = sit(push)
            send(connection, {"resume": mine[-1]})
            mine += [hear(connection, "version")["version"] for _ in range(min(60, count - mine[-1]))]
            connection.close()
        heard.append(mine)

    threads = [threading.Thread(target=follow) for _ in range(3)]
    threads.append(threading.Thread(target=writer.play_on, args=(count,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [list(range(1, count + 1))] * 3


@pytest.mark.parametrize(("text", "field"), [
    pytest.param("{", "message", id="half an object"),
    pytest.param("[]", "message", id="a list"),
    pytest.param("null", "message", id="nothing"),
    pytest.param("{}", "message", id="an empty object"),
    pytest.param('{"a": NaN}', "message", id="not a number"),
    pytest.param('{"resume": 1, "resume": 2}', "message", id="a repeated name"),
    pytest.param("[" * 8000, "message", id="a deep well"),
    pytest.param('{"resume": "1"}', "resume", id="a version that is a string"),
    pytest.param('{"resume": true}', "resume", id="a version that is a truth"),
    pytest.param('{"resume": -1}', "resume", id="a negative version"),
    pytest.param('{"command": {"type": "good"}}', "id", id="a command without an id"),
    pytest.param('{"id": "no spaces", "command": {"type": "good"}}', "id", id="an id with a space"),
    pytest.param('{"id": 1, "command": {"type": "good"}}', "id", id="an id that is a number"),
])
def test_what_cannot_be_understood_is_answered_and_the_socket_lives_on(
    push: Push, writer: Writer, text: str, field: str
) -> None:
    writer.change()
    connection = sit(push)
    connection.send(text)
    error = hear(connection, "error")["error"]
    assert (error["code"], error["field"]) == ("malformed", field)
    send(connection, {"resume": 0})
    assert hear(connection, "version")["version"] == 1


@pytest.mark.parametrize(("message", "field"), [
    pytest.param({"command": 7}, "command", id="a command that is a number"),
    pytest.param({"command": {}}, "command.type", id="a command without a type"),
    pytest.param({"command": {"type": "fold"}}, "command.type", id="a type that is not"),
    pytest.param({"command": {"type": "play", "card": "1h"}}, "command.card", id="a card that is not"),
    pytest.param({"command": {"type": "play", "card": "Ah", "seat": 2}}, "command.seat", id="somebody's seat"),
    pytest.param({"command": PLAY, "if_version": "1"}, "if_version", id="a version that is a string"),
    pytest.param({"command": PLAY, "more": 1}, "more", id="a field that is not"),
])
def test_a_malformed_command_is_refused_by_its_id_and_its_key_stays_free(
    push: Push, writer: Writer, store: Redis, message: dict, field: str
) -> None:
    writer.change()
    connection = sit(push)
    send(connection, {"id": "one"} | message)
    receipt = decided(connection)
    assert (receipt["status"], receipt["code"], receipt["detail"]["field"]) == ("refused", "malformed", field)
    send(connection, {"id": "one", "command": PLAY})
    assert taken_in(store, 1)[0][b"k"] == b"one"


def test_bytes_are_not_text(push: Push, writer: Writer) -> None:
    writer.change()
    connection = sit(push)
    for message in (b'{"resume": 0}', [b'{"res', b'ume"', b": 0}"]):
        connection.send(message)
        assert hear(connection, "error")["error"]["code"] == "malformed"


def test_a_message_in_pieces_is_one_message(push: Push, writer: Writer) -> None:
    writer.change()
    connection = sit(push)
    connection.send(iter(['{"res', 'ume"', ": 0}"]))
    assert hear(connection, "version")["version"] == 1


@pytest.mark.parametrize("pieces", [
    pytest.param(["x" * 16_385], id="in one"),
    pytest.param(["x" * 9_000, "x" * 9_000], id="in pieces"),
])
def test_a_message_beyond_16_kib_closes_the_socket(push: Push, writer: Writer, pieces: list[str]) -> None:
    writer.change()
    connection = sit(push)
    with contextlib.suppress(ConnectionClosed):  # It may be closed before all is sent.
        connection.send(iter(pieces))
    with pytest.raises(ConnectionClosed) as closed:
        hear(connection, "never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


@pytest.mark.parametrize("noise", [
    pytest.param(b"\x81\x05hello", id="a frame without a mask"),
    pytest.param(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", id="all bits set"),
    pytest.param(b"\x80\x80\x00\x00\x00\x00", id="the end of a message that has not begun"),
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="HTTP"),
])
def test_noise_closes_its_own_socket_alone(push: Push, writer: Writer, noise: bytes) -> None:
    writer.change()
    connection, neighbour = sit(push), sit(push, BARA)
    send(neighbour, {"resume": 1})
    connection.socket.sendall(noise)
    with pytest.raises(ConnectionClosed):
        hear(connection, "never")
    writer.change()
    assert hear(neighbour, "version")["version"] == 2


def test_a_request_that_is_no_handshake_is_refused(push: Push, writer: Writer) -> None:
    writer.change()
    with socket.create_connection(("127.0.0.1", push.port), SECONDS) as plain:
        token = f"Authorization: Bearer {push.token(ANA)}"
        plain.sendall(f"GET /v1/tables/{TABLE}/socket HTTP/1.1\r\nHost: x\r\n{token}\r\n\r\n".encode())
        assert plain.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_offers_no_subprotocol_is_taken(push: Push, writer: Writer) -> None:
    writer.change()
    with connect(
        f"ws://127.0.0.1:{push.port}/v1/tables/{TABLE}/socket",
        additional_headers={"Authorization": f"Bearer {push.token(ANA)}"}, open_timeout=SECONDS,
    ) as connection:
        assert connection.subprotocol is None
        send(connection, {"resume": 0})
        assert hear(connection, "version")["version"] == 1


def test_a_socket_that_does_not_read_is_told_to_come_back_and_holds_nobody_up(push: Push, writer: Writer) -> None:
    writer.change()
    with socket.socket() as narrow:
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", push.port))
        slow = OPEN.enter_context(connect(
            f"ws://127.0.0.1/v1/tables/{TABLE}/socket", sock=narrow, max_queue=1, open_timeout=SECONDS,
            additional_headers={"Authorization": f"Bearer {push.token(ANA)}"},
        ))
        send(slow, {"resume": 1})
        quick = sit(push, BARA)
        send(quick, {"resume": 1})
        for version in range(2, 302):
            writer.change(padding=8_000)
            assert hear(quick, "version")["version"] == version
        heard: list[int] = []
        with pytest.raises(ConnectionClosed) as closed:
            follow(slow, heard)
        assert heard == list(range(2, len(heard) + 2))
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013


def follow(connection: ClientConnection, heard: list[int]) -> None:
    while True:
        heard.append(hear(connection, "version")["version"])


def test_patches_name_what_changed_in_the_view_and_add_up_to_it(push: Push, writer: Writer) -> None:
    writer.change()
    connection = socket_of(push.port, TABLE, push.token(BARA), query="?views=patch")
    send(connection, {"resume": 1})
    writer.change(moving={})
    view = hear(connection, "version")["view"]
    for moving in ({"mood": "sly", "trick": ["Ah"]}, {"mood": "sly", "trick": []}, {"trick": []}):
        writer.change(moving=moving)
        message = hear(connection, "version")
        assert "view" not in message
        view = {name: value for name, value in (view | message["patch"]).items() if value is not None}
        whole = {"version": writer.version, **moving, "filler": "", "seat": 1, "hand": ["card-of-1"], "legal": []}
        assert view == whole
    assert message["patch"] == {"version": 5, "mood": None}


def test_whoever_has_no_view_is_sent_a_whole_one_before_patches(push: Push, writer: Writer) -> None:
    writer.change()
    connection = socket_of(push.port, TABLE, push.token(BARA), query="?views=patch")
    send(connection, {"resume": 1})
    writer.change(moving={})
    assert "view" in hear(connection, "version")
    writer.change(moving={})
    assert "patch" in hear(connection, "version")
    writer.change(padding=3)  # The part of the view changes that mostly stays the same.
    assert hear(connection, "version")["patch"] == {"version": 4, "filler": "xxx"}


def test_a_new_seat_comes_with_a_whole_view(push: Push, writer: Writer) -> None:
    writer.change()
    connection = socket_of(push.port, TABLE, push.token(DANA), query="?views=patch")
    send(connection, {"resume": 0})
    assert hear(connection, "version")["view"]["seat"] is None
    writer.change(moving={}, who=f"{DANA.id}|{BARA.id}|{CYRIL.id}")
    assert hear(connection, "version")["view"]["seat"] == 0


@pytest.mark.parametrize("query", ["?views=all", "?after=1", "?x", "?views=patch&views=patch"])
def test_a_query_that_means_nothing_is_refused(push: Push, writer: Writer, query: str) -> None:
    writer.change()
    with pytest.raises(InvalidStatus) as refused:
        socket_of(push.port, TABLE, push.token(ANA), query=query)
    assert refused.value.response.status_code == 422
