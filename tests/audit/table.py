"""The table of tampering: `python -m tests.audit.table` does every row and writes what was found, kind by kind."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

from tests.audit import tampers, tampers_files, tampers_log, tampers_shelf, tampers_store
from tests.audit.conftest import contents, put_back
from tests.audit.tampers import Row
from tests.audit.test_tamper import found_at, is_named, is_of_the_log
from tests.audit.town import Town, built

HEAD = """\
# What was changed, and what was found

Made by `python -m tests.audit.table`; `test_tamper.py` demands the same. *Named* means that the first
fault told of lies where something was changed: the table or account, and, where the row says them, version and field.
Rows do not say them where several places are as right, as for a byte of a packed file or a posting of an account.

| kind | rows | found | named |
|---|---|---|---|"""


def main() -> None:
    """Build a town, do every row, print the table."""
    with tempfile.TemporaryDirectory() as folder:
        town = built(Path(folder) / "archive")
        town.kept_files = Path(folder) / "kept"
        shutil.copytree(town.archive, town.kept_files)
        kept = contents(town.redis)
        town.audited_accounts()
        rows, found, named = Counter[str](), Counter[str](), Counter[str]()
        stream = (*tampers.stream_rows(), *tampers.forger_rows())
        files = (*tampers_files.rows(), *tampers_shelf.rows())
        for row in (*stream, *files, *tampers_store.rows(town), *tampers_log.rows(town)):
            is_found, is_at_place = _done(town, row)
            put_back(town.redis, kept)
            town.put_files_back()
            rows[row.kind] += is_found is not None
            found[row.kind] += bool(is_found)
            named[row.kind] += is_at_place
        print(HEAD)
        for kind, count in rows.items():
            print(f"| {kind} | {count} | {found[kind]} | {named[kind]} |")
        print(f"| all | {rows.total()} | {found.total()} | {named.total()} |")


def _done(town: Town, row: Row) -> tuple[bool | None, bool]:
    """Was it found, and named? None: it does no harm."""
    place = row.do(town)
    faults = found_at(town, row, place)
    if place.field == "harmless":
        return None, False
    return bool(faults), bool(faults) and is_named(faults, place) and is_of_the_log(row, faults)


if __name__ == "__main__":
    main()
