"""What is refused, and how: one row is a request and the status, code and field it is answered with (RFC 9457)."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CODES
from schemas.problems import KINDS, MEDIA_TYPE
from services.store.connect import StoreUnavailable

COMMANDS = "/v1/tables/{table}/commands"
POST_COMMAND = f"POST {COMMANDS}"
KEY = {"Idempotency-Key": "k"}
JSON = {"Content-Type": "application/json"}


def row(says, asked, status, code, field=None, *, body=None, headers=None):
    return pytest.param((*asked.split(" ", 1), body, headers or {}), (status, code, field), id=says)


def command(says, body, field):
    return row(says, POST_COMMAND, 422, "malformed", field, body=body, headers=KEY)


def opening(says, body, field):
    return row(says, "POST /v1/tables", 422, "malformed", field, body={"game": "voleny"} | body)


ROWS = [
    row("an address that does not exist", "GET /v1/nothing", 404, "not_found"),
    row("an address outside the API", "GET /nothing", 404, "not_found"),
    row("a table that does not exist", "GET /v1/tables/t-00-0123456789ab", 404, "not_found"),
    row("an id that is none", "GET /v1/tables/../../etc/passwd", 404, "not_found"),
    row("an id with a wildcard", "GET /v1/tables/t-00-*", 404, "not_found"),
    row("a receipt that does not exist", "GET /v1/tables/{table}/receipts/none", 404, "not_found"),
    row("a receipt of a key that is none", "GET /v1/tables/{table}/receipts/a%20b", 404, "not_found"),
    row("a code that does not exist", "GET /v1/problems/nothing", 404, "not_found"),
    row("a part of the page that does not exist", "GET /v1/docs/nothing.js", 404, "not_found"),
    row("a part of the page outside its folder", "GET /v1/docs/..%2f__init__.py", 404, "not_found"),
    row("a method that the address does not take", "DELETE /v1/tables/{table}", 405, "method_not_allowed"),
    row("a command by GET", f"GET {COMMANDS}", 405, "method_not_allowed"),
    row("a command without key", POST_COMMAND, 400, "idempotency_key_missing", body={"type": "ready"}),
    row("a key with a space", POST_COMMAND, 422, "malformed", "Idempotency-Key",
        body={"type": "ready"}, headers={"Idempotency-Key": "a b"}),
    row("a version that is none", POST_COMMAND, 422, "malformed", "If-Match",
        body={"type": "ready"}, headers=KEY | {"If-Match": "seven"}),
    row("a command to a table that does not exist", "POST /v1/tables/t-00-0123456789ab/commands",
        404, "not_found", body={"type": "ready"}, headers=KEY),
    row("a body of a form", POST_COMMAND, 415, "unsupported_media_type", body=b"type=ready",
        headers=KEY | {"Content-Type": "application/x-www-form-urlencoded"}),
    row("a body without a type", POST_COMMAND, 415, "unsupported_media_type", body=b'{"type":"ready"}',
        headers=KEY),
    row("a body in another encoding", POST_COMMAND, 415, "unsupported_media_type", body=b'{"type":"ready"}',
        headers=KEY | {"Content-Type": "application/json; charset=latin-1"}),
    row("a body of a megabyte", POST_COMMAND, 413, "too_large", body=b'{"type":"' + b"x" * 1_000_000 + b'"}',
        headers=KEY | JSON),
    row("a megabyte for a name", "POST /v1/players", 413, "too_large", body={"name": "x" * 1_000_000}),
    row("no body", POST_COMMAND, 422, "malformed", "body", body=b"", headers=KEY | JSON),
    row("no JSON", POST_COMMAND, 422, "malformed", "body", body=b"ready", headers=KEY | JSON),
    row("bytes that are no UTF-8", POST_COMMAND, 422, "malformed", "body", body=b'{"type":"\xff"}',
        headers=KEY | JSON),
    row("NaN", POST_COMMAND, 422, "malformed", "body", body=b'{"type":"sit","seat":NaN}', headers=KEY | JSON),
    row("nesting", POST_COMMAND, 422, "malformed", "body", body=b"[" * 8000 + b"]" * 8000, headers=KEY | JSON),
    row("nesting that does not end", "POST /v1/tables", 422, "malformed", "body", body=b'{"rules":' * 1500,
        headers=JSON),
    command("a list for a command", [], "body"),
    row("null for a command", POST_COMMAND, 422, "malformed", "body", body=b"null", headers=KEY | JSON),
    command("a command without type", {"seat": 1}, "type"),
    command("a type that does not exist", {"type": "shuffle"}, "type"),
    command("a command of the clock", {"type": "expire", "version_seen": 1}, "type"),
    command("an opening as a command", {"type": "open", "game": "voleny"}, "type"),
    command("a move that names its seat", {"type": "good", "seat": 0}, "seat"),
    command("text for a seat", {"type": "sit", "seat": "1"}, "seat"),
    command("a fraction for a seat", {"type": "sit", "seat": 1.5}, "seat"),
    command("true for a seat", {"type": "sit", "seat": True}, "seat"),
    command("a seat beyond all numbers", {"type": "sit", "seat": 2**63}, "seat"),
    command("no such card", {"type": "play", "card": "Zz"}, "card"),
    command("a field that does not exist", {"type": "ready", "please": True}, "please"),
    row("a move by one without a seat", POST_COMMAND, 409, "not_seated", body={"type": "good"},
        headers=KEY | {"Prefer": "wait=5"}),
    opening("no such game", {"game": "poker"}, "game"),
    opening("a game that is no text", {"game": ["voleny"]}, "game"),
    opening("rules that are a list", {"rules": []}, "rules"),
    opening("null for rules", {"rules": None}, "rules"),
    opening("a rule that does not exist", {"rules": {"jokers": True}}, "rules.jokers"),
    opening("a preset that does not exist", {"rules": {"preset": "casino"}}, "rules.preset"),
    opening("a rate that does not exist", {"rules": {"rates": {"poker": 1}}}, "rules.rates.poker"),
    opening("a rate below zero", {"rules": {"rates": {"hra": -1}}}, "rules.rates.hra"),
    opening("a fraction for a rate", {"rules": {"rates": {"hra": 1.5}}}, "rules.rates.hra"),
    opening("text for a cap", {"rules": {"cap": "500"}}, "rules.cap"),
    opening("true for a cap", {"rules": {"cap": True}}, "rules.cap"),
    opening("1 for a rule that is on or off", {"rules": {"allow_blind": 1}}, "rules.allow_blind"),
    opening("no deals at all", {"deals": 0}, "deals"),
    opening("text for a number of deals", {"deals": "9"}, "deals"),
    opening("a seat of bots twice", {"bots": [1, 1]}, "bots"),
    opening("a fourth seat of bots", {"bots": [0, 3]}, "bots.1"),
    opening("true for a seat of bots", {"bots": [True]}, "bots.0"),
    opening("a policy that does not exist", {"bot_policy": "genius"}, "bot_policy"),
    opening("text for yes", {"auto_ready": "true"}, "auto_ready"),
    opening("1 for yes", {"private": 1}, "private"),
    opening("null for yes or no", {"private": None}, "private"),
    opening("turns of no time", {"turn_seconds": 0}, "turn_seconds"),
    opening("a stake that does not exist", {"stake": "house"}, "stake"),
    opening("chips without a buy-in", {"stake": "bankroll"}, "buy_in"),
    opening("a buy-in below twice the cap", {"stake": "bankroll", "buy_in": 999}, "buy_in"),
    opening("chips without a cap", {"stake": "bankroll", "buy_in": 999, "rules": {"cap": 0}}, "rules.cap"),
    opening("a field that does not exist", {"cheat": True}, "cheat"),
    row("no game", "POST /v1/tables", 422, "malformed", "game", body={}),
    row("a list for a table", "POST /v1/tables", 422, "malformed", "body", body=[]),
    row("a player without a name", "POST /v1/players", 422, "malformed", "name", body={}),
    row("a player with a role", "POST /v1/players", 422, "malformed", "role", body={"name": "x", "role": "auditor"}),
    row("a query where there is none", "POST /v1/tables?private=true", 422, "malformed", "private",
        body={"game": "voleny"}),
    row("an account that does not exist", "GET /v1/players/me/ledger?account=bank", 422, "malformed", "account"),
    row("a page of the lobby of nothing", "GET /v1/tables?limit=0", 422, "malformed", "limit"),
    row("a wrong code in a long text", "GET /v1/tables/{table}?code=" + "x" * 100, 422, "malformed", "code"),
]


@pytest.fixture(scope="module")
def ana(street):
    return street.guest("Ana")


@pytest.fixture(scope="module")
def lone_table(ana):
    return ana.open()


@pytest.mark.parametrize(("asked", "answered"), ROWS)
def test_refused(street, ana, lone_table, asked, answered):
    (method, path, body, headers), (status, code, field) = asked, answered
    before = street.redis.keys("*")
    options = {"data": body} if isinstance(body, bytes) else {"json": body} if method == "POST" else {}
    answer = street.call(method, path.format(table=lone_table), token=ana.token, headers=headers, **options)
    assert (answer.status_code, answer.json["code"]) == (status, code)
    assert answer.mimetype == MEDIA_TYPE
    assert answer.json.get("errors", {}).keys() == ({field} if field else set())
    assert answer.json["status"] == status
    if code != "not_seated":
        assert street.redis.keys("*") == before


def test_a_body_in_chunks_may_be_no_larger_than_another(street, ana):
    chunked = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    statuses = [
        street.call(
            "POST", "/v1/tables", token=ana.token, headers=JSON, input_stream=io.BytesIO(body), environ_base=chunked
        ).status_code
        for body in (b'{"game":"voleny"}', b'{"game":"voleny"}' + b" " * 100_000)
    ]
    assert statuses == [201, 413]


def test_an_address_without_the_method_names_those_it_has(street, ana, lone_table):
    allowed = street.call("DELETE", f"/v1/tables/{lone_table}", token=ana.token).headers["Allow"]
    assert set(allowed.split(", ")) == {"GET", "HEAD", "OPTIONS"}
    assert set(street.call("PUT", "/v1/players").headers["Allow"].split(", ")) == {"POST", "OPTIONS"}


def test_a_large_bad_body_makes_a_small_answer(street, ana):
    body = {"x" * 1000: 1} | {f"field-{number}": 1 for number in range(500)}
    answer = ana.post("/v1/tables", body)
    assert answer.status_code == 422
    assert len(answer.data) < 4096


def test_a_store_that_is_away_is_told_with_a_time_to_come_back(street, ana, lone_table, monkeypatch):
    def away(*arguments, **more):
        raise StoreUnavailable("ConnectionError: at 10.0.0.1")

    monkeypatch.setattr("services.store.views.ask_all", away)
    answer = ana.get(f"/v1/tables/{lone_table}")
    assert (answer.status_code, answer.json["code"], answer.headers["Retry-After"]) == (503, "unavailable", "1")
    assert "10.0.0.1" not in answer.text


def test_a_fault_of_ours_is_told_without_its_inside(street, ana, lone_table, monkeypatch, caplog):
    def broken(*arguments):
        raise ZeroDivisionError("the secret")

    monkeypatch.setattr("services.store.views.current", broken)
    answer = ana.get(f"/v1/tables/{lone_table}")
    assert (answer.status_code, answer.json["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert "ZeroDivisionError" in caplog.text


def test_too_many_waiting_commands_are_refused_for_a_while(house, monkeypatch):
    ana = house.guest("Ana")
    table = ana.open()
    house.open = False
    monkeypatch.setattr("services.pressure.QUEUE_MAX", 1)
    ana.post(f"/v1/tables/{table}/commands", {"type": "sit"}, Idempotency_Key="1")
    answer = ana.post(f"/v1/tables/{table}/commands", {"type": "ready"}, Idempotency_Key="2")
    assert (answer.status_code, answer.json["code"], answer.headers["Retry-After"]) == (429, "rate_limited", "1")


def test_every_code_of_the_rules_is_explained():
    assert set(KINDS) >= CODES


@pytest.mark.parametrize("code", sorted(KINDS))
def test_every_code_has_a_sentence_of_remedy(code):
    status, title, remedy = KINDS[code]
    assert 400 <= status < 600
    assert title
    assert not title.endswith(".")
    assert remedy.endswith(".")


BROKEN = st.sampled_from([
    b"[" * 7000, b'{"a":' * 2000, b"{\"type\":" + b"9" * 4400 + b"}", b'{"type":"sit","seat":9223372036854775808}',
    b'{"type":"sit","seat":-0}', b'{"type":"sit","seat":1e0}', b'{"type":"sit","seat":1E400}', b'{"type":"\\ud800"}',
    b'{"\\udc00":1}', b'{"type":"sit","type":"sit"}', b"nul", b"\x00", b"\xc0\x80", b'"sit"', b"true", b"-Infinity",
])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8,
)
NAMES = st.sampled_from(["type", "game", "rules", "bots", "seat", "card", "name", "deals"]) | st.text(max_size=8)
BODIES = (
    BROKEN
    | st.binary(max_size=64)
    | st.dictionaries(NAMES, VALUES, max_size=4).map(lambda body: json.dumps(body).encode())
)


@given(body=BODIES, path=st.sampled_from(["/v1/players", "/v1/tables", COMMANDS]))
@settings(max_examples=150)
def test_whatever_the_body_the_fault_is_never_ours(street, ana, lone_table, body, path):
    path = path.format(table=lone_table)
    answer = street.call("POST", path, token=ana.token, data=body, headers=KEY | JSON)
    assert answer.status_code in (200, 201, 202, 409, 422), answer.text
    if answer.status_code >= 400:
        assert answer.json["code"] in KINDS
