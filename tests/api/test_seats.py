"""A seat is held by a player, not by what a token or a request says: nobody acts or sees for another."""

import time

import jwt

from services import tokens
from tests.api.conftest import play_deal


def test_whoever_takes_a_seat_over_is_told_nothing_of_the_cards_before(house, trio, table):
    play_deal(trio, table)
    before = trio[0].get(f"/v1/tables/{table}/events?after=0&limit=500").json["events"]
    last = trio[0].view(table)["version"]
    assert trio[0].command(table, {"type": "leave"}).status_code == 200
    dana, watcher = house.guest("Dana"), house.guest("Emil")
    assert dana.command(table, {"type": "sit", "seat": 0}).status_code == 200
    told, shown, left = (
        [item for item in who.get(f"/v1/tables/{table}/events?after=0&limit=500").json["events"]
         if item["version"] <= last]
        for who in (dana, watcher, trio[0])
    )
    assert told == shown == left
    assert told != before, "the seat itself was told more"


def test_a_seat_in_a_token_or_a_request_counts_for_nothing(house, trio, table):
    turn = trio[0].view(table)["to_act"][0]
    actor, other = trio[turn], trio[(turn + 1) % 3]
    kid, key = house.ring._ring.signer()
    claims = jwt.decode(other.token, options={"verify_signature": False}) | {"seat": turn}
    sly = jwt.encode(claims, key, algorithm="EdDSA", headers={"kid": kid})
    path = f"/v1/tables/{table}"
    seen = house.call("GET", path, token=sly, headers={"X-Seat": str(turn), "X-Forwarded-For": "127.0.0.1"})
    assert seen.data == other.get(path).data
    move = actor.view(table)["legal"][0]
    assert other.command(table, move).json["code"] == "not_your_turn"
    assert other.command(table, move | {"seat": turn}).json["code"] == "malformed"


def test_a_token_that_has_been_taken_before_is_refused_once_it_has_expired(house, table, monkeypatch):
    token = house.ring.issue(role="auditor", sub="auditor", name="Auditor", seconds=60)
    assert house.call("GET", f"/v1/tables/{table}", token=token).status_code == 200
    later = time.time() + 61
    monkeypatch.setattr(tokens.time, "time", lambda: later)
    answer = house.call("GET", f"/v1/tables/{table}", token=token)
    assert (answer.status_code, answer.json["code"]) == (401, "unauthenticated")
