"""What projections made of finished deals, in the files beside an archive that is audited by itself."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from services.archive import shelf
from services.archive.place import home
from services.audit.fault import Fault, Where, apart, said
from services.audit.source import files
from services.audit.walk import Walk
from services.projections.records import record_text
from services.store.cold import PastMissing
from services.store.projected import booked_field, company_field, company_number
from services.store.shelved import BANK, RECORDS, SEALED, Shelf


class Shelves:
    """The files of a table, where there are any, against its events while a walk goes along these."""

    def __init__(self, archive: Path, table: str) -> None:
        self._archive = archive
        self._table = table
        self._home = home(archive, table)
        self._companies: dict[str, bytes] = {}

    def at(self, walk: Walk) -> Iterator[Fault]:
        """The faults of the file of the deal that has ended with the last entry."""
        self._companies |= {field: text for field, text in walk.banked.items() if field.startswith("s:")}
        if walk.ended is None:
            return
        deal, version = walk.ended.deal, walk.version
        path = self._home / shelf.name(deal)
        if not path.is_symlink() and not path.exists():
            return  # What is made of the last deals is in the store.
        where = Where("projections", self._table, str(path))
        try:
            found = shelf.read(self._archive, self._table, deal)
        except PastMissing as error:
            yield where.fault(version, "file", f"what was made of deal {deal}", str(error))
            return
        made = record_text(deal, walk.ended.events, walk.ended.before.seats)
        yield from differences(where, version, shelf_of(deal, walk.banked, self._companies, made), found)

    def end(self, walk: Walk) -> Iterator[Fault]:
        """The faults of files of no archived deal. Raises Found."""
        archived = (file.deal for file in files(self._archive, self._table))  # Perhaps more than when this began.
        names = {shelf.name(deal) for deal in archived}
        for path in sorted(self._home.glob(f"*{shelf.ENDING}")):
            if path.name not in names:
                where = Where("projections", self._table, str(path))
                yield where.fault(walk.version, "file", f"files of deals up to {walk.deals}", path.name)


def shelf_of(
    deal: int, banked: Mapping[str, bytes], companies: Mapping[str, bytes],
    records: tuple[dict[str, bytes], dict[str, bytes]],
) -> Shelf:
    """What the file of a deal must hold: of the bank fields of its last entry, who sat there, and the `records`, shown
    and sealed."""
    shown, sealed = records
    company = company_field(company_number(banked.get(booked_field(deal))))
    bank = {field: banked[field] for field in (str(deal), booked_field(deal))}
    return {BANK: bank | {company: companies[company]}, RECORDS: shown, SEALED: sealed}


def differences(where: Where, version: int, expected: Shelf, found: Shelf) -> Iterator[Fault]:
    """Each field of a file that is another than it should be, lacks, or is too much."""
    for kind, fields in expected.items():
        for field in sorted({*fields, *found[kind]}):
            wanted, text = fields.get(field), found[kind].get(field)
            if wanted is None or text is None:
                yield where.fault(version, f"{kind}.{field}", said(wanted or "nothing"), said(text or "nothing"))
            elif wanted != text:
                yield where.fault(version, f"{kind}.{field}", *apart(wanted, text))
