"""The OpenAPI document and the page that shows it without the network."""

import re

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from schemas.moves import MOVES
from services.api.auth import OPEN

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def document(street):
    return street.call("GET", "/v1/openapi.json").json


def operations(document):
    for path, item in document["paths"].items():
        for method in item.keys() & METHODS:
            yield f"{method.upper()} {path}", item[method]


def test_it_is_valid_openapi_3_1(document):
    assert document["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(document).validate()


def test_every_route_is_described(street, document):
    routes = {
        f"{method} {rule.rule.replace('<', '{').replace('>', '}')}"
        for rule in street.app.url_map.iter_rules() for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert {name for name, _ in operations(document)} == routes


def test_every_operation_says_what_it_does(document):
    for name, operation in operations(document):
        assert operation["summary"].strip(), name
        assert any(status[0] in "123" for status in operation["responses"]), name


def test_operations_ask_for_a_token_unless_they_are_open(street, document):
    assert document["security"] == [{"bearer": []}]
    opened = {street.app.view_functions[endpoint].__doc__.splitlines()[0] for endpoint in OPEN}
    for name, operation in operations(document):
        assert (operation.get("security") == []) == (operation["summary"] in opened), name
        if operation["summary"] not in opened:
            assert "401" in operation["responses"], name


def test_every_open_endpoint_exists(street):
    assert street.app.view_functions.keys() >= OPEN


def test_commands_are_told_apart_by_their_type(document):
    schemas = document["components"]["schemas"]
    command = schemas["Command"]
    mapping = command["discriminator"]["mapping"]
    assert set(mapping) == {*MOVES, "sit", "ready", "reveal", "leave"}
    assert [{"$ref": place} for place in mapping.values()] == command["oneOf"]
    for kind, place in mapping.items():
        schema = schemas[place.rsplit("/", 1)[1]]
        assert schema["properties"]["type"]["enum"] == [kind]
        assert schema["additionalProperties"] is False
        assert "seat" not in schema["properties"] or kind == "sit"


def test_problems_are_described_as_problems_and_those_of_pages_as_pages(document):
    for name, operation in operations(document):
        told = "text/html" if operation["tags"] == ["pages"] else "application/problem+json"
        for status, response in operation["responses"].items():
            if status[0] in "45":
                assert list(response["content"]) == [told], (name, status)


def test_every_page_is_described(document):
    paths = {name: operation for name, operation in operations(document) if operation["tags"] == ["pages"]}
    assert {"GET /replay/{table}/{deal}", "GET /bank/{table}", "POST /replay/login"} <= paths.keys()
    replay = paths["GET /replay/{table}/{deal}"]
    assert list(replay["responses"]["200"]["content"]) == ["text/html"]
    assert [each["name"] for each in replay["parameters"]] == ["seat", "code", "lang", "suits"]


def test_the_document_is_made_once(street):
    assert street.call("GET", "/v1/openapi.json").data == street.call("GET", "/v1/openapi.json").data


def test_the_page_loads_nothing_from_elsewhere(street):
    page = street.call("GET", "/v1/docs")
    assert page.mimetype == "text/html"
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(parts) == 4
    for part in parts:
        assert part.startswith("/v1/docs/")
        answer = street.call("GET", part)
        assert answer.status_code == 200
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        answer.close()
    assert "<script>" not in page.text
    assert "/v1/openapi.json" in street.call("GET", "/v1/docs/start.js").text


def test_the_keys_that_verify_tokens_are_published(street):
    found = street.call("GET", "/v1/.well-known/jwks.json").json["keys"]
    assert [key["kid"] for key in found] == ["k1", "receipts.k1"]
    assert {(key["kty"], key["crv"], key["alg"], key["use"]) for key in found} == {("OKP", "Ed25519", "EdDSA", "sig")}
    assert found[0]["x"] != found[1]["x"]


def test_the_type_of_a_problem_leads_to_its_meaning(street):
    problem = street.call("GET", "/v1/tables").json
    meaning = street.call("GET", problem["type"]).json
    assert meaning == {name: problem[name] for name in ("code", "status", "title", "remedy")}
    assert meaning in street.call("GET", "/v1/problems").json["problems"]
