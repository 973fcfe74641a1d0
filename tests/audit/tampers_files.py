"""What somebody could change in the archive, with and without a digest that fits, and where it must be found."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from services.archive import folder
from services.archive.folder import File
from services.archive.format import FORMAT
from services.store import chain
from services.store.history import recorded
from tests.audit.tampers import EDITS, STREAM, Place, Row, flipped
from tests.audit.town import FREE, Town

Lines = list[dict[str, str]]


def rows() -> Iterator[Row]:
    """Bytes, files, headers, and entries that were packed again."""
    kind = "archive, bytes"
    for part in range(0, 100, 7):
        yield Row(kind, f"flip a bit {part} % into a file", _bytes(lambda data, part=part: _flip(data, part)))
    yield Row(kind, "cut the last byte off a file", _bytes(lambda data: data[:-1]))
    yield Row(kind, "cut half of a file off", _bytes(lambda data: data[: len(data) // 2]))
    yield Row(kind, "empty a file", _bytes(lambda data: b""))
    yield Row(kind, "add a byte to a file", _bytes(lambda data: data + b"x"))
    yield Row(kind, "insert a byte into a file", _bytes(lambda data: data[:99] + b"x" + data[99:]))
    yield Row(kind, "swap two bytes of a file", _bytes(lambda data: data[:60] + data[61:62] + data[60:61] + data[62:]))
    yield from _file_rows()
    yield from _header_rows()
    for field in STREAM:
        name = field.decode()
        for what, edit in EDITS.items():
            changed = _entry(
                lambda fields, name=name, edit=edit: {**fields, name: edit(fields[name].encode()).decode()}
            )
            yield Row("archive, packed again", f"{what} field {name}", _again(changed, name))
        dropped = _entry(lambda fields, name=name: {n: value for n, value in fields.items() if n != name})
        yield Row("archive, packed again", f"drop field {name}", _again(dropped, "fields"))
    kind = "archive, packed again"
    yield Row(kind, "drop an entry", _again(lambda lines: [*lines[:4], *lines[5:]], "id|count"))
    yield Row(kind, "drop the last entry", _again(lambda lines: lines[:-1], "id|count"))
    yield Row(kind, "swap two entries", _again(lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], "id"))
    yield Row(kind, "insert a copy of an entry", _again(lambda lines: [*lines[:5], *lines[4:]], "id|count"))
    kind = "archive, packed again with the chain made anew"
    for field in ("at", "a", "k", "f", "e", "x"):
        changed = _entry(lambda fields, name=field: {**fields, name: flipped(fields[name].encode()).decode()})
        yield Row(kind, f"flip a bit of field {field}", _forged(changed))


def _files(town: Town) -> list[File]:
    return folder.files(town.archive, FREE)


def _middle(town: Town) -> File:
    return _files(town)[1]


def _flip(data: bytes, part: int) -> bytes:
    place = len(data) * part // 100
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


def _bytes(edit: Callable[[bytes], bytes]) -> Callable[[Town], Place]:
    def do(town: Town) -> Place:
        file = _middle(town)
        file.path.write_bytes(edit(file.path.read_bytes()))
        return Place(FREE, -1, "")

    return do


def _file_rows() -> Iterator[Row]:
    kind = "archive, files"
    for place, name in enumerate(("first", "middle", "last")):
        yield Row(kind, f"remove the {name} file", lambda town, place=place: _remove(town, place))
    yield Row(kind, "swap two files", _swap)
    yield Row(kind, "call a file another deal", lambda town: _rename(town, "000009.{first}-{last}"))
    yield Row(kind, "call a file by other versions", lambda town: _rename(town, "{deal:06d}.{first}-999"))
    yield Row(kind, "put a folder in the place of a file", _folder)
    yield Row(kind, "put the file of another table there", _other)


def _remove(town: Town, place: int) -> Place:
    file = _files(town)[place]
    file.path.unlink()
    return Place(FREE, -1, "file")


def _swap(town: Town) -> Place:
    first, second, _ = _files(town)
    one, other = first.path.read_bytes(), second.path.read_bytes()
    first.path.write_bytes(other)
    second.path.write_bytes(one)
    return Place(FREE, first.first, "deal|first|table")


def _rename(town: Town, name: str) -> Place:
    file = _middle(town)
    named = name.format(deal=file.deal, first=file.first, last=file.last)
    file.path.rename(file.path.with_name(f"{named}.jsonl.zst"))
    return Place(FREE, file.first, "file|deal|last")


def _folder(town: Town) -> Place:
    file = _middle(town)
    file.path.unlink()
    file.path.mkdir()
    return Place(FREE, file.first, "file")


def _other(town: Town) -> Place:
    file = _middle(town)
    header, lines = read(file.path)
    write(file.path, {**header, "table": "t-01-0000000000ff"}, lines)
    return Place(FREE, file.first, "table")


def _header_rows() -> Iterator[Row]:
    kind = "archive, header"
    for field, value in (
        ("format", "marias-archive/9"), ("table", "t-01-0000000000ff"), ("deal", 7), ("first", 1), ("last", 999),
        ("count", 1), ("sha256", "0" * 64), ("previous", "A" * 43), ("head", "A" * 43),
    ):
        yield Row(kind, f"change {field}", lambda town, field=field, value=value: _header(town, field, value))
        yield Row(kind, f"drop {field}", lambda town, field=field: _header(town, field, None))


def _header(town: Town, field: str, value: object) -> Place:
    """Without `previous` and `head` a file is one of an earlier build: nothing is lost, as the chain goes through."""
    file = _middle(town)
    header, lines = read(file.path)
    if value is None and field in ("previous", "head"):
        write(file.path, {name: told for name, told in header.items() if name != field}, lines, keep=True)
        return Place("", 0, "harmless")
    changed = {**header, field: value} if value is not None else {n: told for n, told in header.items() if n != field}
    write(file.path, changed, lines, keep=True)
    return Place(FREE, -1, f"{field}|file|id")


def _entry(edit: Callable[[dict[str, str]], dict[str, str]]) -> Callable[[Lines], Lines]:
    """Change one entry of a file, a move in the middle of the deal."""

    def change(lines: Lines) -> Lines:
        place = next(n for n in range(len(lines) // 2, len(lines)) if lines[n]["a"].startswith("u-"))
        return [*lines[:place], edit(lines[place]), *lines[place + 1 :]]

    return change


def _again(change: Callable[[Lines], Lines], field: str) -> Callable[[Town], Place]:
    """Change the entries and pack them with a digest that fits."""

    def do(town: Town) -> Place:
        file = _middle(town)
        header, lines = read(file.path)
        changed = change(lines)
        write(file.path, header, changed)
        place = next((n for n, (one, other) in enumerate(zip(lines, changed, strict=False)) if one != other), None)
        version = file.first + place if place is not None else -1
        return Place(FREE, version if field in ("id", "fields") else -1, field)

    return do


def _forged(change: Callable[[Lines], Lines]) -> Callable[[Town], Place]:
    """Change the entries and hash everything behind them anew; the next file still tells where this one ended."""

    def do(town: Town) -> Place:
        file = _middle(town)
        header, lines = read(file.path)
        changed = change(lines)
        previous = chain.digest(header["previous"])
        for fields in changed:
            flat = [part.encode() for name, value in fields.items() if name != "id" for part in (name, value)]
            previous = chain.link(previous, FREE, recorded((fields["id"].encode(), flat)))
            fields["h"] = chain.text(previous)
        write(file.path, {**header, "head": chain.text(previous)}, changed)
        return Place(FREE, -1, "")

    return do


def read(path: Path) -> tuple[dict[str, object], Lines]:
    """The first line of a file, and the others."""
    head, *lines = zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=10**7).splitlines()
    return json.loads(head), [json.loads(line) for line in lines]


def write(path: Path, header: dict[str, object], lines: Lines, *, keep: bool = False) -> None:
    """Pack these lines; unless the header is to be kept as it is, with a digest that fits."""


    body = b"".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for line in lines)
    if not keep:
        header = {**header, "sha256": hashlib.sha256(body).hexdigest()}
    assert header.get("format", FORMAT)
    text = json.dumps(header, separators=(",", ":")).encode() + b"\n" + body
    path.write_bytes(zstandard.ZstdCompressor(level=6, write_checksum=True).compress(text))
