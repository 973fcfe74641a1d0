"""`marias deal`: deals as documents, run and made without any server."""

import secrets
import sys
from typing import BinaryIO

import click
import msgspec

from engine.games import GAMES
from schemas.errors import Malformed
from schemas.games import WIRE
from schemas.json_text import read_json
from schemas.random_records import POLICIES, random_records
from schemas.records import Json, bad_record, run_record
from services.cli.progress import counted
from services.exchange.files import RECORD_BYTES_MAX, read_record, record_lines


@click.group()
def deal() -> None:
    """Run or make deals as documents, without any server.

    \b
    Examples:
      marias deal random --seed 1 > deal.json
      marias deal run deal.json
      marias deal random --count 1000 | marias deal run - --jsonl
    """


@deal.command()
@click.argument("file", type=click.File("rb"))
@click.option("--jsonl", is_flag=True, help="One record a line; one answer a line, in order.")
def run(file: BinaryIO, jsonl: bool) -> None:
    """Run the record in FILE and answer in JSON.

    FILE may be - for the standard input. A record that stops in the middle of its deal is a position: the answer
    tells who is to act and every legal move. A move that the rules forbid is answered with its number and a code.
    The exit status is 0 if every record is ok, else 1.
    """
    sys.exit(0 if answer_all(file, jsonl=jsonl) else 1)


@deal.command()
@click.option("--game", type=click.Choice(list(GAMES)), default="voleny", show_default=True)
@click.option("--seed", type=int, help="The same seed makes the same deals on any machine; unset: others each time.")
@click.option("--count", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--policy", type=click.Choice(POLICIES), default="random", show_default=True)
@click.option("--rules", default='{"preset": "hospoda"}', show_default=True, help="A preset and any overrides.")
def random(game: str, seed: int | None, count: int, policy: str, rules: str) -> None:
    """Make finished deals by chance, one record a line."""
    chosen = secrets.randbits(32) if seed is None else seed
    for record in counted(random_records(game, chosen, count, policy, _rules(game, rules))):
        _write(record)


def answer_all(file: BinaryIO, *, jsonl: bool) -> bool:
    """Answer every record of `file` on the standard output, each before the next is read; whether all were ok."""
    all_ok = True
    for text in counted(record_lines(file) if jsonl else (file.read(RECORD_BYTES_MAX + 1),)):
        answer = _answer(text)
        all_ok = all_ok and answer["ok"] is True
        if not jsonl and answer.get("code") == "bad_record" and b"\n{" in text:
            click.echo("These look like several records, one a line: take --jsonl.", err=True)
        _write(answer)
    return all_ok


def _rules(game: str, text: str) -> Json:
    try:
        rules = read_json(text.encode())
        WIRE[game].load_rules(rules)
    except Malformed as error:
        raise click.BadParameter(str(error), param_hint="--rules") from None
    assert isinstance(rules, dict)
    return rules


def _answer(text: bytes) -> Json:
    try:
        record = read_record(text)
    except Malformed as error:
        return bad_record(error)
    return run_record(record)


def _write(value: Json) -> None:
    """One line, at once: whoever reads may wait for it."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()
