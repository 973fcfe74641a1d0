"""Files of deals, of our own format or another program's, one by one into records."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple

from schemas.errors import Malformed
from schemas.json_text import read_json
from schemas.records import Json, run_record
from services.exchange import hra
from services.exchange.rebuilt import import_hra

RECORD_BYTES_MAX: Final = 262_144
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


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files named, and all of a known format below the folders named, in order."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(each for each in path.rglob("*") if each.suffix.lower() in FORMATS and each.is_file())
        else:
            found.append(path)
    return found


def import_file(path: Path) -> Iterator[Row]:
    """Each deal of a file. What is no file of deals is refused; nothing is raised, and no long line is held."""
    suffix = path.suffix.lower()
    try:
        with path.open("rb") as file:
            if suffix == ".hra":
                yield _of_hra(str(path), file.read(hra.BYTES_MAX + 1))
            elif suffix == ".jsonl":
                for number, line in enumerate(record_lines(file), 1):
                    yield _of_record(f"{path}:{number}", line)
            elif suffix == ".json":
                yield _of_record(str(path), file.read(RECORD_BYTES_MAX + 1))
            else:
                yield _refused(str(path), "unknown_format", f"The name ends in none of {' '.join(FORMATS)}.")
    except OSError as error:
        yield _refused(str(path), "unreadable", str(error.strerror))


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
        where = f"move {answer['move']}: " if "move" in answer else ""
        return _refused(place, str(answer["code"]), f"{where}{answer['detail']}")
    assert isinstance(record, dict)
    if not answer["finished"]:
        return Row(place, "partial", record, (f"{answer['moves']} moves, not at its end",))
    return Row(place, "accepted", {**record, "result": answer["result"]})


def _refused(place: str, code: str, message: str) -> Row:
    return Row(place, "refused", None, (), code, message)
