"""Health, and what operators see."""

from services.store import keys
from services.store.connect import StoreUnavailable


def test_a_process_that_answers_is_live(street):
    assert street.call("GET", "/v1/health/live").json == {"status": "live"}


def test_a_service_with_an_owner_for_each_partition_is_ready(house):
    assert house.call("GET", "/v1/health/ready").json == {"status": "ready", "partitions": 4}


def test_a_partition_without_owner_is_not_ready(house):
    house.worker.owned.release_all()
    answer = house.call("GET", "/v1/health/ready")
    assert (answer.status_code, answer.json["code"]) == (503, "unavailable")
    assert "4 of 4" in answer.json["detail"]


def test_a_store_that_is_away_is_not_ready_but_live(house, monkeypatch):
    def away(*arguments):
        raise StoreUnavailable("ConnectionError")

    monkeypatch.setattr("services.api.operations.ask_all", away)
    assert house.call("GET", "/v1/health/ready").json["code"] == "unavailable"
    assert house.call("GET", "/v1/health/live").status_code == 200


def test_operators_see_how_partitions_fare(house):
    ana = house.guest("Ana")
    table = ana.open()
    house.open = False
    for key in "ab":
        ana.post(f"/v1/tables/{table}/commands", {"type": "sit"}, Idempotency_Key=key)
    seen = house.staff("operator").get("/v1/operations").json
    assert seen["workers"] == ["test"]
    rows = {row["partition"]: row for row in seen["partitions"]}
    row = rows[table[2:4]]
    assert row.pop("oldest_seconds") >= 0.0
    assert row == {
        "partition": table[2:4], "owned": True, "owner": "test", "waiting": 2, "dead": 0, "tables": 1, "frozen": 0,
        "stuck": 0, "lag_seconds": {"projections": 0.0, "bots": row["lag_seconds"]["bots"],
                                    "settlement": row["lag_seconds"]["settlement"]},
    }
    assert len(rows) == 4


def test_dead_letters_are_told_without_their_bodies(house, monkeypatch):
    ana = house.guest("Ana")
    table = ana.open()

    def crash(*arguments):
        raise ZeroDivisionError("engine on Ah")

    monkeypatch.setattr("services.worker.batch.handle", crash)
    answer = ana.command(table, {"type": "play", "card": "Ah"}, key="k")
    assert (answer.status_code, answer.json["code"]) == (500, "internal")
    seen = house.staff("operator").get("/v1/operations/dead-letters")
    [letter] = seen.json["dead_letters"]
    assert letter == {
        "id": letter["id"], "at": letter["at"], "table": table, "sender": ana.id, "key": "k", "type": "play",
        "error": "ZeroDivisionError: engine on ??",
    }
    assert "Ah" not in seen.text
    assert house.redis.xlen(keys.dead(table[2:4])) == 1
