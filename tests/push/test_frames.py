"""What a WebSocket client may say in which pieces, and what closes its connection (RFC 6455 §5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Close, CloseCode, Frame, Opcode

from services.push.frames import Broken, Frames

BYTES_MAX = 1000


def sent(opcode: Opcode, payload: bytes, *, fin: bool = True) -> bytes:
    """A frame as the library's client sends it."""
    return Frame(opcode, payload, fin=fin).serialize(mask=True)


def heard(*pieces: bytes) -> list[tuple[Opcode, bytes]]:
    """What is read when the bytes come in these pieces."""
    frames = Frames(BYTES_MAX)
    return [said for piece in pieces for said in frames.read(piece)]


payloads = st.binary(max_size=300)
messages = st.one_of(
    st.tuples(st.sampled_from([Opcode.TEXT, Opcode.BINARY]), payloads),
    st.tuples(st.sampled_from([Opcode.PING, Opcode.PONG]), st.binary(max_size=125)),
)


@given(st.lists(messages, max_size=5), st.lists(st.integers(1, 40), min_size=1))
def test_what_was_sent_is_heard_however_it_is_cut(said: list[tuple[Opcode, bytes]], sizes: list[int]) -> None:
    data = b"".join(sent(*each) for each in said)
    pieces, number = [], 0
    while data:
        size = sizes[number % len(sizes)]
        pieces.append(data[:size])
        data, number = data[size:], number + 1
    assert heard(*pieces) == said


@given(st.sampled_from([Opcode.TEXT, Opcode.BINARY]), st.lists(payloads, min_size=1, max_size=3))
def test_parts_become_one_message_of_the_kind_of_the_first(kind: Opcode, parts: list[bytes]) -> None:
    data = b"".join(
        sent(kind if number == 0 else Opcode.CONT, part, fin=number == len(parts) - 1) + sent(Opcode.PING, b"between")
        for number, part in enumerate(parts)
    )
    pings = [(Opcode.PING, b"between")] * len(parts)
    assert heard(data) == [*pings[1:], (kind, b"".join(parts)), pings[0]]


@pytest.mark.parametrize("size", [125, 126, 127, BYTES_MAX])
def test_each_way_to_tell_a_size_is_understood(size: int) -> None:
    assert heard(sent(Opcode.TEXT, b"x" * size)) == [(Opcode.TEXT, b"x" * size)]


def test_a_goodbye_is_heard_with_its_reason() -> None:
    payload = Close(CloseCode.GOING_AWAY, "tired").serialize()
    assert heard(sent(Opcode.CLOSE, payload), sent(Opcode.CLOSE, b"")) == [
        (Opcode.CLOSE, payload), (Opcode.CLOSE, b""),
    ]


@pytest.mark.parametrize(("data", "code"), [
    pytest.param(Frame(Opcode.TEXT, b"x").serialize(mask=False), 1002, id="no mask"),
    pytest.param(b"\xc1\x80\0\0\0\0", 1002, id="compressed, which was not agreed on"),
    pytest.param(b"\x83\x80\0\0\0\0", 1002, id="a kind that does not exist"),
    pytest.param(b"\x8b\x80\0\0\0\0", 1002, id="a control frame that does not exist"),
    pytest.param(sent(Opcode.CONT, b"x"), 1002, id="the rest of nothing"),
    pytest.param(sent(Opcode.TEXT, b"x", fin=False) + sent(Opcode.TEXT, b"y"), 1002, id="a message in a message"),
    pytest.param(b"\x09\x80\0\0\0\0", 1002, id="a ping in parts"),
    pytest.param(b"\x89\xfe\0\x7e\0\0\0\0", 1002, id="a ping that is too long"),
    pytest.param(sent(Opcode.CLOSE, b"x"), 1002, id="half a goodbye"),
    pytest.param(sent(Opcode.CLOSE, b"\0\1"), 1002, id="a goodbye with a code that nobody may send"),
    pytest.param(sent(Opcode.CLOSE, b"\x03\xe8\xff"), 1002, id="a goodbye that is not text"),
    pytest.param(b"\x81\xff\x80\0\0\0\0\0\0\0", 1009, id="more than there is"),
    pytest.param(b"\x81\xfe\x03\xe9", 1009, id="one byte too many, told beforehand"),
    pytest.param(
        sent(Opcode.TEXT, b"x" * 600, fin=False) + sent(Opcode.CONT, b"x" * 600), 1009, id="too many in parts"
    ),
])
def test_what_breaks_the_protocol_closes_the_connection(data: bytes, code: int) -> None:
    frames = Frames(BYTES_MAX)
    assert list(frames.read(sent(Opcode.TEXT, b"before"))) == [(Opcode.TEXT, b"before")]
    with pytest.raises(Broken) as broken:
        list(frames.read(data))
    assert broken.value.code == code
