"""What somebody could change in the files of what was made of old deals, and in what tells of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from services.archive import shelf
from services.store import keys
from services.store.shelved import MOVED
from tests.audit.tampers import Place, Row
from tests.audit.town import FREE, Town
from tests.worker.house import ANA, BARA

Kinds = dict[str, dict[str, str]]


def rows() -> Iterator[Row]:
    """Bytes, files, fields that were packed again, and how many deals have left the store."""
    kind = "shelves, bytes"
    for part in (0, 30, 60, 90):
        yield Row(kind, f"flip a bit {part} % into a file", _bytes(lambda data, part=part: _flip(data, part)))
    yield Row(kind, "cut the last byte off a file", _bytes(lambda data: data[:-1]))
    yield Row(kind, "empty a file", _bytes(lambda data: b""))
    yield Row(kind, "add a byte to a file", _bytes(lambda data: data + b"x"))
    yield Row(kind, "remove a file", _remove)
    yield Row(kind, "put the file of another deal there", _other)
    for what, field, edit in _edits():
        yield Row("shelves, packed again", what, _again(edit, field))
    for what, value in (("a lower", 1), ("a higher", 3), ("a far higher", 99), ("another", "x")):
        yield Row("shelves, number", f"tell {what} number", lambda town, value=value: _number(town, value))
    yield Row("shelves, number", "drop the number", _no_number)


def _edits() -> Iterator[tuple[str, str, Callable[[Kinds], object]]]:
    yield "change a payment", "bank.2", lambda kinds: kinds["bank"].update({"2": "[2,-1,-1]"})
    yield "change what lay at the seats", "bank.d:2", lambda kinds: kinds["bank"].update({"d:2": "[9,9,[0,0,0],1]"})
    yield "change who sat there", "bank.s:1", lambda kinds: kinds["bank"].update(
        {"s:1": kinds["bank"]["s:1"].replace(ANA, BARA)})
    yield "drop a payment", "bank.2", lambda kinds: kinds["bank"].pop("2")
    yield "insert a field", "bank.9", lambda kinds: kinds["bank"].update({"9": "[0,0,0]"})
    yield "change a card of a record", "records.2", lambda kinds: kinds["records"].update(
        {"2": kinds["records"]["2"].replace('"type":"play"', '"type":"flek"', 1)})
    yield "drop a player's part", f"records.2:{ANA}", lambda kinds: kinds["records"].pop(f"2:{ANA}")
    yield "insert a part for a stranger", "records.2:u-09", lambda kinds: kinds["records"].update(
        {"2:u-09-0000000000000009": kinds["records"][f"2:{ANA}"]})
    yield "swap the parts of two players", f"records.2:{ANA}", lambda kinds: kinds["records"].update(
        {f"2:{ANA}": kinds["records"][f"2:{BARA}"], f"2:{BARA}": kinds["records"][f"2:{ANA}"]})
    yield "change a whole record", "sealed.2", lambda kinds: kinds["sealed"].update({"2": "{}"})
    yield "drop a whole record", "sealed.2", lambda kinds: kinds["sealed"].pop("2")


def _file(town: Town, deal: int = 2) -> Path:
    return town.archive / FREE[2:4] / FREE / shelf.name(deal)


def _flip(data: bytes, part: int) -> bytes:
    place = len(data) * part // 100
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


def _bytes(edit: Callable[[bytes], bytes]) -> Callable[[Town], Place]:
    def do(town: Town) -> Place:
        _file(town).write_bytes(edit(_file(town).read_bytes()))
        return Place(FREE, -1, "file")

    return do


def _remove(town: Town) -> Place:
    _file(town).unlink()
    return Place(FREE, -1, "file")


def _other(town: Town) -> Place:
    _file(town).write_bytes(_file(town, 1).read_bytes())
    return Place(FREE, -1, "file")


def _again(edit: Callable[[Kinds], object], field: str) -> Callable[[Town], Place]:
    def do(town: Town) -> Place:
        data = zstandard.ZstdDecompressor().decompress(_file(town).read_bytes(), max_output_size=10**7)
        head, body = data.splitlines()
        kinds: Any = msgspec.json.decode(body)
        edit(kinds)
        text = b"\n".join((head, msgspec.json.encode(kinds), b""))
        _file(town).write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(text))
        return Place(FREE, -1, field)

    return do


def _number(town: Town, value: int | str) -> Place:
    town.redis.hset(keys.bank(FREE), MOVED, value)
    return Place(FREE, -1, "")


def _no_number(town: Town) -> Place:
    town.redis.hdel(keys.bank(FREE), MOVED)
    return Place(FREE, -1, "")
