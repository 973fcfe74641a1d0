"""What a client says over a socket: the usual spelling and every other one mean the same."""

import json

import pytest

from services.push.said import Command, NotUnderstood, Resume, Sign, Token, read

PLAY = {"type": "play", "card": "Ah"}


@pytest.mark.parametrize("text", [
    pytest.param(json.dumps({"id": "k1", "command": PLAY}, separators=(",", ":")), id="as JavaScript writes it"),
    pytest.param(json.dumps({"id": "k1", "command": PLAY}), id="as Python writes it"),
    pytest.param(json.dumps({"command": PLAY, "id": "k1"}), id="in another order"),
    pytest.param(json.dumps({"id": "k1", "command": PLAY}, indent=2), id="over several lines"),
    pytest.param('{"id":"k1","command":{"card":"Ah","type":"play"}}', id="with the card first"),
    pytest.param('{"id":"k1","command":{"type":"pl\\u0061y","card":"Ah"}}', id="with an escaped letter"),
    pytest.param('{"id":"k1","command":{"type":"play","card":"Ah"},"if_version":null}', id="with no version in mind"),
])
def test_a_command_is_the_same_however_it_is_spelled(text: str) -> None:
    for _ in range(2):  # The second time it is remembered.
        assert read(text.encode()) == Command("k1", PLAY, None)


def test_lists_that_are_sets_come_in_the_order_of_the_rulebook() -> None:
    text = b'{"id":"k1","command":{"type":"announce","contract":["sedma","hra"]}}'
    assert read(text) == Command("k1", {"type": "announce", "contract": ["hra", "sedma"]}, None)


@pytest.mark.parametrize(("text", "said"), [
    (b'{"id":"k","command":{"type":"good"},"if_version":7}', Command("k", {"type": "good"}, 7)),
    (b'{"resume":3}', Resume(3)),
    (b'{"token":"abc"}', Token("abc")),
    (b'{"token":7}', Token("")),
    (b'{"pong":1}', Sign()),
])
def test_other_messages(text: bytes, said: object) -> None:
    assert read(text) == said


@pytest.mark.parametrize("inner", [
    pytest.param('{"type":"play","card":"Ah","card":"Kh"}', id="a repeated name"),
    pytest.param('{"type":"play","card":"Xh"}', id="an unknown card"),
    pytest.param('{"type":"play","card":"Ah","seat":0}', id="an unknown field"),
    pytest.param('{"type":"play"}', id="a missing card"),
    pytest.param('{"type":"play","card":["Ah"]}', id="a list for a card"),
    pytest.param('{"type":"blu\\ud800ff"}', id="half a letter"),
    pytest.param("{}", id="nothing"),
    pytest.param('{"type":NaN}', id="not a number"),
])
def test_what_is_wrong_in_a_command_is_refused_every_time_by_its_id(inner: str) -> None:
    for _ in range(2):
        with pytest.raises(NotUnderstood) as refused:
            read(b'{"id":"k1","command":%b}' % inner.encode())
        assert refused.value.key == "k1"
