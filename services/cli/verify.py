"""`marias verify`: proofs of a deal, checked without any server."""

import json
import sys
from pathlib import Path
from typing import BinaryIO

import click

from engine.fairness.check import AUDITOR, Checked, check, check_together, covers_the_deck
from engine.fairness.shape import Unfair
from schemas.errors import Malformed
from schemas.json_text import read_json

PROOF_BYTES_MAX = 262_144


@click.command()
@click.argument("proofs", nargs=-1, required=True, type=click.File("rb"), metavar="PROOF...")
@click.option("--keys", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="A folder with auditor.key: an auditor's proof is then checked from the deal key on.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(proofs: tuple[BinaryIO, ...], keys: Path | None, as_json: bool) -> None:
    """Check the PROOF of a deal, as GET /v1/tables/{table}/deals/{n}/proof gives it; - is the standard input.

    Several proofs are those of several holders of one deal, asked for after its end: they must agree, and together
    they show that no card was dealt twice. The exit status is 0 if all is well, else 1, and the first thing that is
    wrong is named by its place. deploy/verify_deal.py does the same for players, in one file that needs nothing of
    this program.

    \b
    Examples:
      marias verify proof.json
      marias verify ana.json bara.json cyril.json
      export A="Authorization: Bearer $(marias token --role auditor)"
      curl -s -H "$A" $API/tables/$T/deals/1/proof | marias verify - --keys marias-data/keys
    """
    documents = [_read(file) for file in proofs]
    try:
        checked = check_together(documents)
        for number, document in enumerate(documents, 1):
            _from_the_key(number, document, keys)
    except Unfair as fault:
        if as_json:
            click.echo(json.dumps({"ok": False, "field": fault.field, "why": fault.why}))
        else:
            click.echo(f"unfair: {fault.field} {fault.why}", err=True)
        sys.exit(1)
    if as_json:
        rows = [_row(each) for each in checked]
        click.echo(json.dumps({"ok": True, "whole": covers_the_deck(checked), "proofs": rows}))
    else:
        _tell(checked, keys)


def _read(file: BinaryIO) -> object:
    text = file.read(PROOF_BYTES_MAX + 1)
    if len(text) > PROOF_BYTES_MAX:
        raise click.ClickException(f"{file.name}: longer than {PROOF_BYTES_MAX} bytes; no proof is.")
    try:
        document = read_json(text)
    except Malformed as error:
        raise click.ClickException(f"{file.name}: {error.message}") from None
    if isinstance(document, dict) and "format" not in document and "remedy" in document:
        raise click.ClickException(f"{file.name}: is a refusal: {document.get('detail')} {document['remedy']}")
    return document


def _from_the_key(number: int, document: object, keys: Path | None) -> None:
    """An auditor's proof once more, from the deal key that only he can open."""
    if keys is None or not isinstance(document, dict) or document["seat"] != AUDITOR:
        return
    from services.worker.seal import opened, read_private_key

    try:
        key = opened(read_private_key(keys), str(document.get("sealed_key")))
    except FileNotFoundError:
        raise click.ClickException(f"{keys} holds no auditor.key; `marias serve` puts it into <data>/keys.") from None
    if key is None:
        raise Unfair(f"{number}: sealed_key", "is not sealed to this auditor, or was changed")
    check(document, key)


def _row(checked: Checked) -> dict[str, object]:
    return {
        "table": checked.table,
        "deal": checked.deal,
        "seat": checked.seat,
        "finished": checked.finished,
        "present": checked.present,
        "leaves_opened": len(checked.dealt),
        "cards_played": checked.played,
        "nonces": ["player" if given else "server" for given in checked.given],
    }


def _tell(checked: list[Checked], keys: Path | None) -> None:
    first = checked[0]
    nonces = ", ".join("its player" if given else "the server" for given in first.given)
    click.echo(f"fair: table {first.table}, deal {first.deal}{'' if first.finished else ', still running'}")
    click.echo(f"  nonces of seats 0, 1, 2 from: {nonces}")
    for each in checked:
        who = "a spectator" if each.seat is None else "the auditor" if each.seat == AUDITOR else f"seat {each.seat}"
        click.echo(f"  {who}: {len(each.dealt)} leaves opened, {each.played} cards played")
        if not each.present:  # A server may say so to be asked for nothing.
            click.echo("  NOT CHECKED: what its holder held, as he was away for a time. If you were not: a lie.")
    if any(each.seat == AUDITOR for each in checked):
        click.echo(f"  the order came from the sealed deal key: {'yes' if keys else 'not checked, for want of --keys'}")
    elif keys:
        click.echo("  --keys was not needed: only an auditor's proof has the sealed deal key")
    if covers_the_deck(checked):
        click.echo("  all 32 cards were opened, each once")
