"""The command `marias`: a group whose commands are imported only when they are called."""

import importlib
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import click

from services.config import BadSetting
from services.private_files import BadFile

EPILOG = """\
\b
Examples:
  marias serve                           everything on http://127.0.0.1:8000
  marias serve --port 9000 --data /srv/marias
  marias demo                            three bots play; watch them here
  marias token --role auditor            a token that may read everything
  marias deal random --count 3 | marias deal run - --jsonl
  marias settings                        every variable it reads, and its default

`marias COMMAND --help` explains a command.
"""


class Entry(NamedTuple):
    """Where a command lives, and the line the overview shows without importing it."""

    module: str
    name: str
    says: str


class Commands(click.Group):
    """A group made of entries: `marias --help` must not wait for the imports of a web server."""

    def __init__(self, *, entries: dict[str, Entry], **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # click's own keywords, passed through.
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table, which is the order of use."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), entry.name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.says) for name, entry in self.entries.items()])


bench = Commands(
    name="bench",
    help="Measure this machine. Each command prints a table or, with --json, its figures.",
    entries={
        "engine": Entry("services.bench.engine", "engine", "Whole deals per second in one process."),
        "table": Entry("services.bench.table", "table", "Tables played by networked clients."),
        "growth": Entry("services.bench.growth", "growth", "What a move costs at old tables and beside many others."),
        "store": Entry("services.bench.store", "store", "Apply, intake, workers on full queues, take-over."),
        "audit": Entry("services.bench.audit", "audit", "Deals decided again, in a store and in its archive."),
    },
)

marias = Commands(
    name="marias",
    help="Volený mariáš for three: the rules, the tables, the bank and everything that serves them.",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    entries={
        "serve": Entry("services.cli.serve", "serve", "Run everything in one process tree."),
        "demo": Entry("services.cli.demo", "demo", "Three bots play; the deals are shown here."),
        "deal": Entry("services.cli.deal", "deal", "Run or make deals as documents, without any server."),
        "replay": Entry("services.cli.replay", "replay", "A table's deals again, as a seat saw them."),
        "audit": Entry("services.cli.audit", "audit", "Every table decided again, everything compared."),
        "verify": Entry("services.cli.verify", "verify", "Proofs that a deal was fair, checked."),
        "import": Entry("services.cli.imports", "import_deals", "Read deals of files, also of other programs."),
        "export": Entry("services.cli.export", "export", "Deals as records, tables as files, ledgers as CSV."),
        "token": Entry("services.cli.token", "token", "Make a player's, auditor's or operator's token."),
        "rebuild": Entry("services.cli.rebuild", "rebuild", "Drop and rebuild every projection; compare."),
        "archive": Entry("services.cli.archive", "archive", "Finished deals in files: run, verify, add, restore …"),
        "log": Entry("services.cli.log", "log", "The log of finished deals outside the store; receipts."),
        "status": Entry("services.cli.status", "status", "How everything fares; the exit status says whether well."),
        "dead": Entry("services.cli.dead", "dead", "Commands that were given up: list, show, retry, discard."),
        "bench": Entry("services.cli", "bench", "Measure the engine and the tables."),
        "users": Entry("services.cli.users", "users", "The users of a store of your own, one for each role."),
        "settings": Entry("services.cli.settings", "settings", "Every variable it reads, and its default."),
        "api": Entry("services.cli.roles", "api", "One role: the HTTP API."),
        "push": Entry("services.cli.roles", "push", "One role: streams and sockets."),
        "worker": Entry("services.cli.roles", "worker", "One role: decides commands, writes events."),
        "projector": Entry("services.cli.roles", "projector", "One role: bank, lobby and deal records."),
        "jobs": Entry("services.cli.roles", "jobs", "One role: bots and whatever may be late."),
        "front": Entry("services.cli.roles", "front", "One role: API and push in one process on one port."),
    },
)


def _say_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Of the installed package, else of the sources that this runs from."""
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("marias")
    except PackageNotFoundError:
        with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as file:
            found = tomllib.load(file)["project"]["version"]
    click.echo(f"marias {found}")
    ctx.exit()


marias.params.append(click.Option(
    ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_say_version,
    help="Say which version this is, and exit.",
))


def main() -> None:
    """The program. A setting or a file of keys that cannot be read is the caller's mistake, and is told as such."""
    try:
        marias(prog_name="marias")
    except BadSetting as error:
        click.echo(f"marias: {error}", err=True)
        sys.exit(2)
    except BadFile as error:
        click.echo(f"marias: {error}", err=True)
        sys.exit(1)
