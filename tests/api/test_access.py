"""Who may see what: private tables, roles, tokens (contract §3)."""

import pytest

READ = ["", "/events", "/bank", "/deals/1"]


@pytest.fixture
def secret(house, trio):
    """A private table of Ana's at which she sits, and its code."""
    answer = trio[0].post("/v1/tables", {"game": "voleny", "private": True})
    table, code = answer.json["table"], answer.json["code"]
    assert trio[0].command(table, {"type": "sit", "code": code}).status_code == 200
    return table, code


@pytest.mark.parametrize("part", READ)
def test_a_private_table_is_watched_with_its_code_only(trio, secret, part):
    table, code = secret
    found = {404} if part == "/deals/1" else {200}
    path = f"/v1/tables/{table}{part}"
    assert trio[0].get(path).status_code in found
    assert trio[1].get(f"{path}?code={code}").status_code in found
    for wrong in ("", "?code=wrong", f"?code={code}x", f"?code={code.upper()}", "?code=%F0%9F%82%A1"):
        refused = trio[1].get(path + wrong)
        assert (refused.status_code, refused.json["code"]) == (403, "code_wrong")


def test_sitting_at_a_private_table_takes_its_code(trio, secret):
    table, code = secret
    for body in ({"type": "sit"}, {"type": "sit", "code": "wrong"}):
        refused = trio[1].command(table, body)
        assert (refused.status_code, refused.json["code"]) == (403, "code_wrong")
    assert trio[1].command(table, {"type": "sit", "code": code}).status_code == 200


def test_the_code_is_in_no_view_and_no_feed(trio, secret):
    table, code = secret
    for path in (f"/v1/tables/{table}", f"/v1/tables/{table}/events", "/v1/tables"):
        assert code not in trio[0].get(path).text


@pytest.mark.parametrize("part", READ)
def test_an_auditor_needs_no_code(house, secret, part):
    assert house.staff("auditor").get(f"/v1/tables/{secret[0]}{part}").status_code in (200, 404)


@pytest.mark.parametrize("part", READ)
def test_an_operator_never_sees_a_card(street, part):
    table = street.guest("Ana").open()
    answer = street.staff("operator").get(f"/v1/tables/{table}{part}")
    assert (answer.status_code, answer.json["code"]) == (403, "forbidden")


def test_an_auditor_sees_a_running_deal_as_a_watcher(house, table):
    view = house.staff("auditor").view(table)
    assert (view["seat"], view["hand"], view["legal"]) == (None, [], [])


@pytest.mark.parametrize("path", ["/v1/operations", "/v1/operations/dead-letters"])
def test_operations_are_for_staff(street, path):
    assert street.staff("operator").get(path).status_code == 200
    assert street.staff("auditor").get(path).status_code == 200
    assert street.guest("Ana").get(path).json["code"] == "forbidden"


@pytest.mark.parametrize("header", [
    None, "", "Bearer", "Bearer ", "Bearer x", "Bearer x.y.z", "Basic QW5hOng=", "x", "Bearer \xff\xfe",
    "Bearer " + "a" * 9000,
])
@pytest.mark.parametrize("path", [
    "/v1/tables", "/v1/tables/t-00-0123456789ab", "/v1/players/me/ledger", "/v1/operations",
])
def test_without_a_good_token_nothing_is_told(street, path, header):
    answer = street.call("GET", path, headers={} if header is None else {"Authorization": header})
    assert (answer.status_code, answer.json["code"]) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="marias"'


def test_a_token_counts_whatever_the_case_of_its_scheme(house):
    ana = house.guest("Ana")
    assert house.call("GET", "/v1/tables", headers={"Authorization": f"bearer {ana.token}"}).status_code == 200


@pytest.mark.parametrize("path", [
    "/v1/health/live", "/v1/health/ready", "/metrics", "/v1/openapi.json", "/v1/docs", "/v1/problems",
    "/v1/.well-known/jwks.json",
])
def test_open_to_all(street, path):
    street.work()  # It is ready while its worker has been heard of lately.
    assert street.call("GET", path).status_code == 200
