"""`marias import`: deals of files, of our own format or of the program Mariášek, into deal records."""

import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import click
import msgspec

from services.cli.progress import counted
from services.exchange.files import Row, files_of, import_file


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--records", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the records there, one a line, accepted and partial ones.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line for each deal instead of text.")
def import_deals(paths: tuple[Path, ...], records: Path | None, as_json: bool) -> None:
    """Read the deals of files, and of all such files below folders.

    Known are deal records (.json, and .jsonl with one a line) and files of the program Mariášek (.hra). Every deal is
    played again by the rules. It is accepted with its result, partial when it is a position or stops before its end,
    or refused with a code and the place of the first fault. What a file does not tell is chosen and said.

    The exit status is 0 unless something was refused. No server is needed and nothing is changed but the file of
    --records.

    \b
    Examples:
      marias import deals/
      marias import deals/ --records deals.jsonl && marias deal run deals.jsonl --jsonl
    """
    counts: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    files = files_of(paths)
    with nullcontext() if records is None else records.open("wb") as out:
        for row in counted(row for path in files for row in import_file(path)):
            counts[row.status] += 1
            codes[row.code] += row.status == "refused"
            if out is not None and row.record is not None:
                out.write(msgspec.json.encode(row.record) + b"\n")
            click.echo(msgspec.json.encode(row._asdict()) if as_json else _line(row))
    if not as_json:
        click.echo(f"{len(files)} files: {', '.join(f'{counts[each]} {each}' for each in STATUSES)}")
        for code, count in sorted((+codes).items()):
            click.echo(f"  refused as {code}: {count}")
    sys.exit(1 if counts["refused"] else 0)


STATUSES = ("accepted", "partial", "refused")


def _line(row: Row) -> str:
    why = f"{row.code}: {row.message}" if row.status == "refused" else "; ".join(row.notes)
    return f"{row.status:<9} {row.place}{f'  ({why})' if why else ''}"
