"""What of JSON is refused before its fields are looked at."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import Malformed
from schemas.json_text import DEPTH_MAX, read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("text", [
    pytest.param(b"", id="nothing"),
    pytest.param(b" ", id="only space"),
    pytest.param(b"{", id="an object that does not end"),
    pytest.param(b"{'type': 'good'}", id="single quotes"),
    pytest.param(b'{"type": "good",}', id="a comma too much"),
    pytest.param(b'{"type": "good"} {}', id="two values"),
    pytest.param(b'{"seat": NaN}', id="NaN"),
    pytest.param(b'{"seat": Infinity}', id="Infinity"),
    pytest.param(b'{"seat": -Infinity}', id="minus Infinity"),
    pytest.param(b'{"seat": 01}', id="a zero in front"),
    pytest.param(b'{"seat": +1}', id="a plus in front"),
    pytest.param(b'{"seat": 0x1}', id="another base"),
    pytest.param(b'{"type": "good", "type": "claim"}', id="a name twice"),
    pytest.param(b'{"a": {"b": 1, "b": 1}}', id="a name twice further in"),
    pytest.param(b'{"a": 1, "\\u0061": 1}', id="a name twice in different spellings"),
    pytest.param(b'{"type": "\xff"}', id="bytes that are no UTF-8"),
    pytest.param(b'\xef\xbb\xbf{}', id="a byte order mark"),
    pytest.param('{"type": "good"}'.encode("utf-16"), id="UTF-16"),
    pytest.param(b'{"type": "\\ud800"}', id="half a surrogate pair"),
    pytest.param(b'{"\\udfff": 1}', id="half a surrogate pair as a name"),
    pytest.param(b'{"type": "a\nb"}', id="a bare line break in text"),
    pytest.param(b"9" * 5000, id="a number of five thousand digits"),
    pytest.param(b"[" * 100_000, id="a hundred thousand lists, open"),
    pytest.param(b"[" * 100_000 + b"]" * 100_000, id="a hundred thousand lists, closed"),
    pytest.param(b'{"a":' * 100_000, id="a hundred thousand objects"),
    pytest.param(b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1), id="one level too deep"),
])
def test_refused(text):
    with pytest.raises(Malformed):
        read_json(text)


def test_the_deepest_that_is_taken():
    text = b"[" * DEPTH_MAX + b"]" * DEPTH_MAX
    assert json.dumps(read_json(text)).encode() == text


def test_width_is_not_depth():
    assert read_json(b"[" + b"[]," * 1000 + b"[]]") == [[]] * 1001


def test_a_whole_surrogate_pair_is_one_character():
    assert read_json(b'"\\ud83c\\udca1"') == "🂡"


def test_a_number_keeps_its_kind():
    values = read_json(b"[5, 5.0, 9223372036854775808, true]")
    assert [type(value) for value in values] == [int, float, int, bool]


@given(JSON)
def test_what_json_writes_is_read_again(value):
    assert read_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text):
    with suppress(Malformed):
        json.dumps(read_json(text), ensure_ascii=False).encode()
