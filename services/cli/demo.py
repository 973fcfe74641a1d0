"""`marias demo`: a table of three players, whose deals are told as they are played, and proven fair at the end."""

import http.client
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import click

from engine.fairness.check import check_together, covers_the_deck
from engine.fairness.shape import Unfair
from services.cli.caller import Caller, Refused, Unreachable, answers
from services.cli.demo_players import Player
from services.cli.temporary import NotStarted, served
from services.replay.story import Story

NAMES = ("Ana", "Bára", "Cyril")
USUAL = "http://127.0.0.1:8000"
SILENCE_SECONDS_MAX = 60.0
RETRY_SECONDS = 1.0
NOBODY: dict[str, Any] = {"to_act": ()}

LOOK = """\
Look at the same table yourself, in a browser: {url}/replay/{table}/1
  TOKEN={token}
  curl -s {url}/v1/tables/{table} -H "Authorization: Bearer $TOKEN"
  curl -N {url}/v1/tables/{table}/stream?after=0 -H "Authorization: Bearer $TOKEN"
  curl -s {url}/v1/tables/{table}/bank -H "Authorization: Bearer $TOKEN"
  curl -s {url}/v1/tables/{table}/deals/1 -H "Authorization: Bearer $TOKEN"
"""


@click.command()
@click.option("--url", help=f"The server to play on. Default: {USUAL} if it answers, else one just for this.")
@click.option("--fresh", is_flag=True, help="Start a server just for this, even if the usual one answers.")
@click.option("--deals", type=click.IntRange(1, 1000), default=3, show_default=True,
              help="How many deals; three more while the first place is shared.")
@click.option("--policy", type=click.Choice(["rule", "random"]), default="rule", show_default=True,
              help="How the players think.")
def demo(url: str | None, fresh: bool, deals: int, policy: str) -> None:
    """Let three players shuffle and play and tell their deals here; Ctrl-C ends it.

    They are clients like any other: each gives a random number to every shuffle, sees what his seat may see, thinks as
    a bot does, and at the end the proofs of the last deal are checked.

    \b
    Examples:
      marias demo
      marias demo --deals 9 --policy random
      marias demo --url http://127.0.0.1:9000
    """
    try:
        with ExitStack() as running:
            _play(url or _server(running, fresh=fresh), deals, policy)
    except KeyboardInterrupt:
        click.echo("\nstopped; its players have left the table")
        sys.exit(130)
    except Unfair as fault:
        raise click.ClickException(f"The deal was not fair: {fault.field} {fault.why}") from fault
    except (Unreachable, Refused, NotStarted) as error:
        raise click.ClickException(str(error)) from error


def _server(running: ExitStack, *, fresh: bool) -> str:
    """The address of the usual server, or of a fresh one that ends with `running`."""
    if not fresh and answers(USUAL):
        return USUAL
    click.echo("starting a server just for this demo")
    return running.enter_context(served()).url


def _play(url: str, deals: int, policy: str) -> None:
    watcher = Caller(url)
    watcher.token = watcher.post("/v1/players", {"name": "Watcher"})["token"]
    players = [Player(url, name, policy) for name in NAMES]
    opened = players[0].open({"game": "voleny", "deals": deals, "auto_ready": True})
    click.echo(LOOK.format(url=watcher.url, table=opened, token=watcher.token))
    try:
        for seat, player in enumerate(players):
            player.sit(opened, seat)
        for player in players:
            player.begin()
        last = _told(watcher, opened, players)
    except BaseException:
        for player in players:
            player.leave()
        raise
    click.echo(_proven(players, last))


def _told(watcher: Caller, table: str, players: list[Player]) -> int:
    """Tell the table from its first version to its end, and let whoever is awaited go on; gives the last deal."""
    story, deal = Story(NAMES), 0
    for item in _follow(watcher, table):
        for line in story.lines(item["events"]):
            click.echo(line)
        sys.stdout.flush()
        deal = next((event["deal"] for event in item["events"] if event["type"] == "deal_started"), deal)
        if any(event["type"] == "table_finished" for event in item["events"]):
            return deal
        view = item.get("view", NOBODY)  # It comes with the last of what was missed.
        for seat in {*view["to_act"], *view.get("fairness", {}).get("awaiting", ())}:
            players[seat].go_on()
    raise AssertionError("it is followed to its end")


def _proven(players: list[Player], deal: int) -> str:
    """What the proofs of the three show together. Raises Unfair."""
    checked = check_together([player.proof(deal) for player in players])
    given = sum(checked[0].given)
    whole = "all 32 cards were opened, each once" if covers_the_deck(checked) else "the talon stays sealed"
    return f"Deal {deal} was fair: {given} of {len(players)} players gave numbers to the shuffle; {whole}."


def _follow(caller: Caller, table: str) -> Iterator[dict[str, Any]]:
    """Every version of the table from the first, over as many connections as it takes. Raises Unreachable."""
    known, heard = 0, time.monotonic()
    while time.monotonic() - heard < SILENCE_SECONDS_MAX:
        try:
            for item in _stream(caller, table, known):
                known, heard = item["version"], time.monotonic()
                yield item
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(RETRY_SECONDS)
    raise Unreachable(f"Nothing was heard from {caller.url} for {SILENCE_SECONDS_MAX:.0f} seconds.")


def _stream(caller: Caller, table: str, after: int) -> Iterator[dict[str, Any]]:
    parts = urlsplit(caller.url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    line = kind(parts.hostname or "", parts.port, timeout=SILENCE_SECONDS_MAX)
    try:
        path = f"/v1/tables/{table}/stream?after={after}&views=whole"
        line.request("GET", path, headers={"Authorization": f"Bearer {caller.token}"})
        for row in line.getresponse():
            if row.startswith(b"data: "):
                yield json.loads(row[6:])
    finally:
        line.close()
