"""The headers that say under which conditions a request is meant (RFC 9110 §13, RFC 7240)."""

import pytest
from werkzeug.test import EnvironBuilder

from services.api.conditions import idempotency_key, is_known, version_expected, wait_seconds, wants_signature
from services.api.problems import Problem


def request(**headers):
    dashed = {name.replace("_", "-"): value for name, value in headers.items()}
    return EnvironBuilder(headers=dashed).get_environ()


@pytest.mark.parametrize(("header", "known"), [
    pytest.param('"17"', True, id="the version"),
    pytest.param('W/"17"', True, id="compared weakly"),
    pytest.param('"3", "17"', True, id="one of a list"),
    pytest.param('"3",W/"17" , "4"', True, id="a weak one of a list"),
    pytest.param("*", True, id="any version"),
    pytest.param('"16"', False, id="another version"),
    pytest.param('"3", "4"', False, id="none of a list"),
    pytest.param("17", False, id="not quoted, so no tag"),
    pytest.param('"117"', False, id="one that ends the same"),
    pytest.param("", False, id="empty"),
])
def test_if_none_match(header, known):
    assert is_known(request(If_None_Match=header), '"17"') is known


def test_without_if_none_match_nothing_is_known():
    assert not is_known(request(), '"17"')


@pytest.mark.parametrize(("header", "version"), [
    pytest.param('"17"', 17, id="one version"),
    pytest.param(' "17" ', 17, id="space round it"),
    pytest.param('"0"', 0, id="version zero"),
    pytest.param("*", None, id="any version"),
])
def test_if_match(header, version):
    assert version_expected(request(If_Match=header)) == version


def test_without_if_match_any_version_will_do():
    assert version_expected(request()) is None


@pytest.mark.parametrize("header", [
    "17", 'W/"17"', '"17", "18"', '"x"', '"-1"', '"017"', '""', "", '"99999999999999999"',
])
def test_an_if_match_that_can_never_hold_is_malformed(header):
    with pytest.raises(Problem) as refused:
        version_expected(request(If_Match=header))
    assert refused.value.document["errors"].keys() == {"If-Match"}


@pytest.mark.parametrize(("header", "seconds"), [
    pytest.param("wait=10", 10, id="ten seconds"),
    pytest.param("respond-async, wait=10", 10, id="beside another preference"),
    pytest.param("wait=10; foo", 10, id="with a parameter"),
    pytest.param('WAIT="10"', 10, id="in capitals and quotes"),
    pytest.param("wait = 10", 10, id="with spaces"),
    pytest.param("wait=0", 0, id="not at all"),
    pytest.param("wait=31", 30, id="no longer than half a minute"),
    pytest.param("wait=999999999", 30, id="nor for years"),
    pytest.param("wait=" + "9" * 5000, 30, id="nor for longer than there are numbers for"),
    pytest.param("wait=0000000000005", 5, id="however it is written"),
    pytest.param("wait=-1", None, id="a negative time is no preference"),
    pytest.param("wait=1.5", None, id="nor is a fraction"),
    pytest.param("wait=soon", None, id="nor a word"),
    pytest.param("await=10", None, id="nor another preference"),
    pytest.param("", None, id="nor nothing"),
])
def test_prefer_wait(header, seconds):
    assert wait_seconds(request(Prefer=header)) == seconds


def test_whoever_does_not_prefer_to_wait_does_not():
    assert wait_seconds(request()) is None


@pytest.mark.parametrize(("header", "wanted"), [
    ("receipt=signed", True), ("wait=5, receipt=signed", True), ('receipt = "signed"; x, wait=1', True),
    ("Receipt=SIGNED", True), ("receipt=plain", False), ("receipt", False), ("receipts=signed", False),
    ("no-receipt=signed", False), ("wait=5", False), ("", False),
])
def test_prefer_receipt_signed(header, wanted):
    assert wants_signature(request(Prefer=header)) is wanted


def test_whoever_does_not_ask_for_a_signature_gets_none():
    assert not wants_signature(request())


@pytest.mark.parametrize("key", ["a", "A-Z_09", "x" * 64])
def test_idempotency_keys(key):
    assert idempotency_key(request(Idempotency_Key=key)) == key


@pytest.mark.parametrize("key", ["x" * 65, "a b", "a/b", "ključ", '"a"', "a\u00a0"])
def test_no_idempotency_keys(key):
    with pytest.raises(Problem) as refused:
        idempotency_key(request(Idempotency_Key=key))
    assert refused.value.code == "malformed"


@pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": ""}])
def test_a_missing_key_is_told_apart_from_a_bad_one(headers):
    with pytest.raises(Problem) as refused:
        idempotency_key(request(**headers))
    assert refused.value.code == "idempotency_key_missing"
