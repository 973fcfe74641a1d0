"""Round every request: an id, headers for browsers, counts and one line of log."""

import json

import pytest

from services.api.log import NAME


@pytest.fixture(scope="module")
def ana(street):
    return street.guest("Ana")


@pytest.mark.parametrize(("path", "status"), [
    ("/v1/health/live", 200), ("/v1/docs", 200), ("/v1/tables", 401), ("/v1/nothing", 404), ("/v1/openapi.json", 200),
])
def test_every_answer_tells_browsers_to_be_careful(street, path, status):
    answer = street.call("GET", path)
    assert answer.status_code == status
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Request-Id"]


@pytest.mark.parametrize(("given", "kept"), [
    pytest.param("abc-1.2_3", True, id="an id is passed on"),
    pytest.param("a b", False, id="one with a space is not"),
    pytest.param("x" * 65, False, id="nor a long one"),
    pytest.param("", False, id="nor none"),
])
def test_request_ids(street, given, kept):
    answered = street.call("GET", "/v1/health/live", headers={"X-Request-Id": given}).headers["X-Request-Id"]
    assert (answered == given) is kept
    assert 0 < len(answered) <= 64


def test_a_page_that_the_operator_named_may_call(street, ana):
    origin = {"Origin": "https://table.example"}
    asked = street.call("OPTIONS", "/v1/tables/t-00-0123456789ab/commands", headers=origin | {
        "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "idempotency-key, authorization",
    })
    assert asked.status_code == 200
    assert asked.headers["Access-Control-Allow-Origin"] == "https://table.example"
    assert "POST" in asked.headers["Access-Control-Allow-Methods"]
    assert "Idempotency-Key" in asked.headers["Access-Control-Allow-Headers"]
    answer = ana.get("/v1/tables", **origin)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://table.example"
    assert "ETag" in answer.headers["Access-Control-Expose-Headers"]
    assert "Origin" in answer.headers.getlist("Vary")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://table.example.evil.example"])
def test_other_pages_may_not(street, origin):
    asked = street.call("OPTIONS", "/v1/tables", headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
    assert "Access-Control-Allow-Origin" not in asked.headers


def test_answers_are_counted_by_route_and_not_by_address(street, ana):
    ana.get("/v1/tables/t-00-0123456789ab")
    street.call("GET", "/v1/nothing")
    text = street.call("GET", "/metrics").text
    assert 'marias_http_requests_total{method="GET",route="/v1/tables/<table>",status="404"}' in text
    assert 'route="none",status="404"' in text
    assert "0123456789ab" not in text
    assert 'marias_api_commands_total{taken="new"}' in text


def test_methods_that_clients_make_up_are_counted_as_one(street):
    for method in ("BREW", "WHEN"):
        street.call(method, "/v1/tables")
    text = street.call("GET", "/metrics").text
    assert "BREW" not in text
    assert 'method="OTHER"' in text


def test_two_apps_count_for_themselves(house, street):
    counts = house.call("GET", "/metrics").text
    assert 'route="/v1/tables"' not in counts


def test_one_line_is_logged_for_each_request(street, ana, caplog):
    caplog.set_level("INFO", NAME)
    ana.get("/v1/tables/t-00-0123456789ab?code=geheim")
    [line] = [json.loads(record.message) for record in caplog.records if record.name == NAME]
    assert line["method"] == "GET"
    assert line["path"] == "/v1/tables/t-00-0123456789ab"
    assert line["status"] == 404
    assert line["code"] == "not_found"
    assert line["who"] == ana.id
    assert line["request"]
    assert line["ms"] >= 0


def test_no_code_no_token_and_no_card_is_logged(street, ana, caplog):
    caplog.set_level("DEBUG")
    answer = ana.post("/v1/tables", {"game": "voleny", "private": True})
    table, code = answer.json["table"], answer.json["code"]
    street.guest("Bára").get(f"/v1/tables/{table}?code={code}")
    ana.command(table, {"type": "play", "card": "Ah"})
    ana.post("/v1/tables?code=x", {"game": ["Ah"]})
    assert f"/v1/tables/{table}" in caplog.text
    assert code not in caplog.text
    assert ana.token not in caplog.text
    assert "Ah" not in caplog.text


def test_nothing_is_logged_below_the_level(ana, caplog):
    caplog.set_level("WARNING", NAME)
    ana.get("/v1/tables")
    assert caplog.text == ""


def test_with_too_many_requests_inside_more_are_refused_at_once_and_later_taken(street, monkeypatch):
    monkeypatch.setattr("services.api.edge.REQUESTS_MAX", 1)
    path = "/v1/health/live"
    inner = street.app.wsgi_app._application

    def asks_again(environ, start_response):
        monkeypatch.setattr(street.app.wsgi_app, "_application", inner)
        answers.append(street.call("GET", path))
        return inner(environ, start_response)

    answers: list = []
    monkeypatch.setattr(street.app.wsgi_app, "_application", asks_again)
    assert street.call("GET", path).status_code == 200
    [refused] = answers
    assert (refused.status_code, refused.json["code"], refused.headers["Retry-After"]) == (503, "unavailable", "1")
    assert "X-Request-Id" in refused.headers
    assert street.call("GET", path).status_code == 200
