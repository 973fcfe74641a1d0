"""Files of deals, of our own format or another program's, one by one into records."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple

from schemas.errors import Malformed
from schemas.json_text import read_json
from schemas.recording import UNKNOWN
from schemas.records import Json, canonical, run_record
from services.exchange import hra
from services.exchange.rebuilt import import_hra
from services.regular import open_regular

RECORD_BYTES_MAX: Final = 262_144
MESSAGE_MAX: Final = 400
FORMATS: Final = (".hra", ".json", ".jsonl")

Status = Literal["accepted", "partial", "refused"]


class Row(NamedTuple):
    """What became of one deal. `place` is its file, with the line where it has several; `record` None: refused.

    accepted: the whole deal, and its result is ours · partial: a position, or a deal before its end · refused: `code`
    and `message` say why.
    """

    place: str
    status: Status
    record: Json | None
    notes: tuple[str, ...] = ()
    code: str = ""
    message: str = ""


class Found(NamedTuple):
    """The files to read, and what cannot be looked into, with the reason. `passed` counts those of no known format."""

    files: list[Path]
    faults: list[Row]
    passed: int


def files_of(paths: Iterable[Path]) -> Found:
    """The files named, and all of a known format below the folders named, in order; links to folders are not followed.

    What bears the name of a known format is read, whatever it is: a pipe or a loop of links is refused, not left out.
    """
    files: list[Path] = []
    faults: list[Row] = []
    passed = 0
    for path in paths:
        if not os.path.isdir(path):  # A path that may not be looked at is no folder: reading it says why.
            files.append(path)
            continue
        below: list[Path] = []
        for folder, _, names in os.walk(path, onerror=lambda error: faults.append(_unreadable(error))):
            known = [Path(folder, name) for name in names if name.lower().endswith(FORMATS)]
            passed += len(names) - len(known)
            below += known
        files += sorted(below)
    return Found(files, faults, passed)


def import_file(path: Path) -> Iterator[Row]:
    """Each deal of a file. What is no file of deals is refused; nothing is raised, and no long line is held."""
    suffix, place = path.suffix.lower(), printable(str(path))
    if suffix not in FORMATS:
        yield _refused(place, "unknown_format", f"The name ends in none of {' '.join(FORMATS)}.")
        return
    try:
        with open_regular(path) as file:
            if suffix == ".hra":
                yield _of_hra(place, file.read(hra.BYTES_MAX + 1))
            elif suffix == ".jsonl":
                yield from import_lines(place, file)
            else:
                yield _of_record(place, file.read(RECORD_BYTES_MAX + 1))
    except OSError as error:
        yield _refused(place, "unreadable", f"{error.strerror}.")


def import_lines(place: str, file: BinaryIO) -> Iterator[Row]:
    """Each deal of a stream of records, one a line; empty lines are none. Raises OSError."""
    for number, line in enumerate(record_lines(file), 1):
        if line.strip():
            yield _of_record(f"{place}:{number}", line)


def printable(name: str) -> str:
    """A name as it may be shown: a file may be called by what moves the cursor, or by bytes that are no text."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in shown)


def record_lines(file: BinaryIO) -> Iterator[bytes]:
    """Each line; one that is too long for a record is cut, and its rest skipped without being held."""
    while line := file.readline(RECORD_BYTES_MAX + 1):
        rest = line
        while len(rest) > RECORD_BYTES_MAX and not rest.endswith(b"\n"):
            rest = file.readline(RECORD_BYTES_MAX + 1)
        yield line


def read_record(text: bytes) -> object:
    """The JSON of a record. Raises Malformed."""
    if len(text) > RECORD_BYTES_MAX:
        raise Malformed("", f"Longer than {RECORD_BYTES_MAX} bytes.")
    return read_json(text, any_depth=True)


def _of_hra(place: str, text: bytes) -> Row:
    try:
        made = import_hra(hra.read_hra(text))
    except hra.Refused as refusal:
        return _refused(place, refusal.code, f"{refusal.place}: {refusal.message}".removeprefix(": "))
    return Row(place, made.status, made.record, made.notes)


def _of_record(place: str, text: bytes) -> Row:
    try:
        record = read_record(text)
    except Malformed as error:
        return _refused(place, "bad_record", str(error))
    answer = run_record(record)
    if not answer["ok"]:
        if _is_partly_known(record):
            return _refused(place, "bad_record", f"deck: {UNKNOWN} stands for cards that its reader was not to know. "
                            "Only a whole record can be played again.")
        where = f"move {answer['move']}: " if "move" in answer else ""
        return _refused(place, str(answer["code"]), f"{where}{_told(answer['detail'])}")
    assert isinstance(record, dict)
    if not answer["finished"]:
        return Row(place, "partial", canonical(record), (f"{answer['moves']} moves, not at its end",))
    return Row(place, "accepted", canonical(record, answer["result"]))


def _told(detail: object) -> str:
    """The detail of a refusal in words, as far as it has any."""
    if isinstance(detail, dict) and detail.keys() == {"field", "message"}:
        return str(Malformed(detail["field"], detail["message"]))
    return str(detail)


def _is_partly_known(record: object) -> bool:
    deck = record.get("deck") if isinstance(record, dict) else None
    return isinstance(deck, list) and UNKNOWN in deck


def _unreadable(error: OSError) -> Row:
    return _refused(printable(str(error.filename)), "unreadable", f"{error.strerror}.")


def _refused(place: str, code: str, message: str) -> Row:
    told = message if len(message) <= MESSAGE_MAX else f"{message[:MESSAGE_MAX]}…"
    return Row(place, "refused", None, (), code, printable(told))
