"""The way of a command: queued, decided, answered; once, however often it is sent (contract §3)."""

import pytest


def test_a_command_is_queued_and_its_receipt_tells_what_became_of_it(house, trio):
    ana = trio[0]
    table = ana.open()
    house.open = False
    answer = ana.post(f"/v1/tables/{table}/commands", {"type": "sit"}, Idempotency_Key="k")
    url = f"/v1/tables/{table}/receipts/k"
    assert (answer.status_code, answer.json) == (202, {"status": "queued", "receipt": url})
    assert ana.get(url).json.pop("status") == "queued"
    house.work()
    told = ana.get(url).json
    assert (told["status"], told["version"]) == ("applied", 2)


def test_whoever_waits_is_answered_with_the_outcome(trio):
    table = trio[0].open()
    answer = trio[0].command(table, {"type": "sit"})
    assert answer.status_code == 200
    assert answer.json == {"status": "applied", "version": 2, "hash": answer.json["hash"]}
    assert answer.headers["Preference-Applied"] == "wait=5"


def test_a_wait_that_runs_out_is_answered_as_queued(house, trio):
    table = trio[0].open()
    house.open = False
    for wait in ("wait=0", "wait=1"):
        answer = trio[0].command(table, {"type": "sit"}, key="k", Prefer=wait)
        assert (answer.status_code, answer.json["status"]) == (202, "queued")
        assert answer.headers["Preference-Applied"] == wait


def test_a_receipt_that_the_feed_missed_is_found_in_the_store(house, trio, monkeypatch):
    table = trio[0].open()
    monkeypatch.setattr(house.feed, "read", lambda seconds: None)
    answer = trio[0].command(table, {"type": "sit"}, Prefer="wait=1")
    assert (answer.status_code, answer.json["status"]) == (200, "applied")


def test_a_refused_command_is_a_problem_with_the_code_of_the_rule(trio, table):
    answer = trio[0].command(table, {"type": "sit"}, key="k")
    assert answer.status_code == 409
    assert answer.mimetype == "application/problem+json"
    assert answer.json["code"] == "already_seated"
    assert trio[0].get(f"/v1/tables/{table}/receipts/k").json["code"] == "already_seated"


def test_the_facts_of_a_refusal_are_told_to_its_sender(house, trio, table):
    seat = trio[0].view(table)["to_act"][0]
    other = trio[(seat + 1) % 3]
    refused = other.command(table, {"type": "good"}, key="k")
    assert refused.json["code"] == "not_your_turn"
    receipt = other.get(f"/v1/tables/{table}/receipts/k").json
    assert receipt["status"] == "refused"
    assert refused.json.get("facts") == receipt.get("detail")


def test_the_same_key_and_body_act_once(house, trio):
    table = trio[0].open()
    answers = [trio[0].command(table, {"type": "sit"}, key="k").json for _ in range(3)]
    assert answers == [{"status": "applied", "version": 2, "hash": answers[0]["hash"]}] * 3
    assert trio[0].view(table)["version"] == 2


def test_the_same_key_and_body_are_queued_once(house, trio):
    table = trio[0].open()
    house.open = False
    path = f"/v1/tables/{table}/commands"
    answers = [trio[0].post(path, {"type": "sit"}, Idempotency_Key="k").json for _ in range(3)]
    assert answers == [answers[0]] * 3
    house.work()
    assert trio[0].view(table)["version"] == 2


def test_a_refusal_is_repeated_with_its_key(trio, table):
    refused = [trio[0].command(table, {"type": "sit"}, key="k").json for _ in range(2)]
    assert refused[0] == refused[1]
    assert refused[0]["code"] == "already_seated"


def test_the_same_body_is_judged_in_its_canonical_form(house, trio, table):
    seat = trio[0].view(table)["to_act"][0]
    forehand = trio[seat]
    forehand.command(table, forehand.view(table)["legal"][0])
    discard = next(move for move in forehand.view(table)["legal"] if move["type"] == "discard")
    turned = {"type": "discard", "cards": discard["cards"][::-1]}
    first, second = (forehand.command(table, body, key="d") for body in (discard, turned))
    assert first.json == second.json
    assert first.status_code == 200


def test_a_key_with_another_body_is_refused(trio):
    table = trio[0].open()
    trio[0].command(table, {"type": "sit", "seat": 0}, key="k")
    answer = trio[0].command(table, {"type": "sit", "seat": 1}, key="k")
    assert (answer.status_code, answer.json["code"]) == (422, "idempotency_key_reused")


def test_keys_belong_to_a_player_and_a_table(trio):
    tables = [trio[0].open(), trio[0].open()]
    for table in tables:
        for seat, guest in enumerate(trio):
            assert guest.command(table, {"type": "sit", "seat": seat}, key="k").status_code == 200


def test_a_malformed_body_does_not_use_up_its_key(trio):
    table = trio[0].open()
    assert trio[0].command(table, {"type": "sit", "seat": "0"}, key="k").status_code == 422
    assert trio[0].get(f"/v1/tables/{table}/receipts/k").status_code == 404
    assert trio[0].command(table, {"type": "sit", "seat": 0}, key="k").status_code == 200


def test_if_match_lets_a_command_through_at_its_version_only(trio):
    table = trio[0].open()
    late = trio[0].command(table, {"type": "sit"}, key="late", If_Match='"7"')
    assert (late.status_code, late.json["code"]) == (412, "version_mismatch")
    assert trio[0].command(table, {"type": "sit"}, If_Match='"1"').status_code == 200
    assert trio[0].command(table, {"type": "ready"}, If_Match="*").status_code == 200
    assert trio[0].get(f"/v1/tables/{table}/receipts/late").json["code"] == "version_mismatch"


def test_a_repeated_key_is_answered_before_its_version_is_judged(trio):
    table = trio[0].open()
    answers = [trio[0].command(table, {"type": "sit"}, key="k", If_Match='"1"') for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]


@pytest.mark.parametrize("who", ["auditor", "operator"])
def test_staff_command_nothing(house, trio, who):
    answer = house.staff(who).command(trio[0].open(), {"type": "sit"})
    assert (answer.status_code, answer.json["code"]) == (403, "forbidden")


def test_anothers_receipt_is_not_found(trio):
    table = trio[0].open()
    trio[0].command(table, {"type": "sit"}, key="k")
    assert trio[1].get(f"/v1/tables/{table}/receipts/k").json["code"] == "not_found"


def test_a_command_to_a_table_that_does_not_exist_leaves_nothing(house, trio):
    before = house.redis.keys("*")
    for table in ("t-00-0123456789ab", "t-ff-0123456789ab", "t-00-0123456789AB", "x", "t-00-0123456789ab%0a"):
        answer = trio[0].command(table, {"type": "sit"})
        assert (answer.status_code, answer.json["code"]) == (404, "not_found")
    assert house.redis.keys("*") == before
