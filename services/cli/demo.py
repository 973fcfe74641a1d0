"""`marias demo`: a table of three bots, whose deals are told as they are played."""

import http.client
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import click

from services.cli.caller import Caller, Refused, Unreachable, answers
from services.cli.temporary import NotStarted, served
from services.replay.story import Story

NAMES = ("Ana", "Bára", "Cyril")
USUAL = "http://127.0.0.1:8000"
SILENCE_SECONDS_MAX = 60.0
RETRY_SECONDS = 1.0

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
              help="How the bots think.")
def demo(url: str | None, fresh: bool, deals: int, policy: str) -> None:
    """Open a table of three bots and tell their deals here; Ctrl-C ends it.

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
        click.echo("\nstopped; the table plays on if its server does")
        sys.exit(130)
    except (Unreachable, Refused, NotStarted) as error:
        raise click.ClickException(str(error)) from error


def _server(running: ExitStack, *, fresh: bool) -> str:
    """The address of the usual server, or of a fresh one that ends with `running`."""
    if not fresh and answers(USUAL):
        return USUAL
    click.echo("starting a server just for this demo")
    return running.enter_context(served()).url


def _play(url: str, deals: int, policy: str) -> None:
    caller = Caller(url)
    caller.token = caller.post("/v1/players", {"name": "Watcher"})["token"]
    opened = caller.post(
        "/v1/tables", {"game": "voleny", "deals": deals, "bots": [0, 1, 2], "bot_policy": policy, "auto_ready": True}
    )
    table = opened["table"]
    click.echo(LOOK.format(url=caller.url, table=table, token=caller.token))
    story = Story(NAMES)
    for item in _follow(caller, table):
        for line in story.lines(item["events"]):
            click.echo(line)
        sys.stdout.flush()
        if any(event["type"] == "table_finished" for event in item["events"]):
            return


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
        line.request(
            "GET", f"/v1/tables/{table}/stream?after={after}", headers={"Authorization": f"Bearer {caller.token}"}
        )
        for row in line.getresponse():
            if row.startswith(b"data: "):
                yield json.loads(row[6:])
    finally:
        line.close()
