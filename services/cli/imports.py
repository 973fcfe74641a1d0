"""`marias import`: deals of files, of our own format or of the program Mariášek, into deal records."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from services.cli.output import output
from services.cli.progress import counted
from services.cli.words import amount
from services.exchange.files import Found, Row, files_of, import_file, import_lines


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--records", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), metavar="FILE",
              help="Write the records there, one a line, accepted and partial ones: all of them or none; - for the "
                   "standard output.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line for each deal instead of text.")
def import_deals(paths: tuple[Path, ...], records: Path | None, as_json: bool) -> None:
    """Read the deals of files, and of all such files below folders.

    Known are deal records (.json, and .jsonl with one a line) and files of the program Mariášek (.hra). Every deal is
    played again by the rules. It is accepted with its result, partial when it is a position or stops before its end,
    or refused with a code and the place of the first fault. What a file does not tell is chosen and said.

    As a filter (-) it reads records, one a line, from the standard input, and writes those that are not refused to the
    standard output; what it says of them goes to the standard error.

    The exit status is 0 unless something was refused. No server is needed and nothing is changed but the file of
    --records.

    \b
    Examples:
      marias import deals/
      marias import deals/ --records deals.jsonl && marias deal run deals.jsonl --jsonl
      marias deal random --count 9 | marias import - | marias deal run - --jsonl
    """
    is_filter = any(map(_is_dash, paths))
    if is_filter and len(paths) > 1:
        raise click.UsageError("- stands alone: the standard input has no name to tell its deals by.")
    to = Path("-") if is_filter and records is None else records
    found = Found([], [], 0) if is_filter else files_of(paths)
    rows = import_lines("-", sys.stdin.buffer) if is_filter else _rows(found)
    say = partial(click.echo, err=to is not None and _is_dash(to))
    try:
        with nullcontext() if to is None else output(to) as out:
            counts, codes = _told(rows, out, say, as_json=as_json, quiet=is_filter)
    except KeyboardInterrupt:
        sys.exit(130)
    if not as_json and not is_filter:
        passed = f"; {found.passed} of other formats passed over" if found.passed else ""
        say(f"{amount(len(found.files), 'file')}: {', '.join(f'{counts[each]} {each}' for each in STATUSES)}{passed}")
        for code, count in sorted(codes.items()):
            say(f"  refused as {code}: {count}")
    sys.exit(1 if counts["refused"] else 0)


def _is_dash(path: Path) -> bool:
    return str(path) == "-"


def _rows(found: Found) -> Iterator[Row]:
    yield from found.faults
    for path in found.files:
        yield from import_file(path)


def _told(
    rows: Iterable[Row], out: BinaryIO | None, say: Callable[[str | bytes], None], *, as_json: bool, quiet: bool
) -> tuple[Counter[str], Counter[str]]:
    """Say what became of each deal (`quiet`: of those refused), write the records; how many of each, and why not."""
    counts: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for row in counted(rows):
        counts[row.status] += 1
        if row.status == "refused":
            codes[row.code] += 1
        if out is not None and row.record is not None:
            out.write(msgspec.json.encode(row.record) + b"\n")
        if not quiet or row.status == "refused":
            say(msgspec.json.encode(row._asdict()) if as_json else _line(row))
    return counts, codes


STATUSES = ("accepted", "partial", "refused")


def _line(row: Row) -> str:
    why = f"{row.code}: {row.message}" if row.status == "refused" else "; ".join(row.notes)
    return f"{row.status:<9} {row.place}{f'  ({why})' if why else ''}"
