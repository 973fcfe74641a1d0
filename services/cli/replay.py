"""`marias replay`: any deal of a table again, as one seat, a spectator or an auditor saw it then."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

import click

from engine.table import SEATS
from services.cli.roles import opened, with_store
from services.cli.words import a_table
from services.config import Config
from services.replay.moments import AUDITOR, Eye, Moment, as_json
from services.replay.story import Story
from services.replay.words import LANGUAGES

ON = ("\r", "\n", " ", "n", "\x1b[C", "\x1b[B")
BACK = ("b", "p", "\x7f", "\x1b[D", "\x1b[A")
END = ("q", "\x1b", "\x04")
KEYS = "Enter or → goes on, b or ← goes back, q ends."


@click.command()
@click.argument("table", callback=a_table)
@click.option("--deal", type=click.IntRange(min=1), help="One deal only; what led to it belongs to it.")
@click.option("--seat", type=click.IntRange(0, SEATS - 1), help="With the eyes of this seat. Default: of a spectator.")
@click.option("--auditor", is_flag=True, help="With the eyes of an auditor, who sees every card.")
@click.option("--step", is_flag=True, help=f"Moment by moment, with what could be seen. On a terminal {KEYS}")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="en", show_default=True)
@click.option("--json", "as_lines", is_flag=True, help="One JSON line for each version.")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder of the system.")
def replay(table: str, **options: Any) -> None:
    """Replay TABLE from its events, also those of archived deals and of the running one.

    It needs the store's own password: whoever runs this may see every card, and chooses with whose eyes he looks.
    What was hidden then stays hidden, except from an auditor. A deal by its number is found without reading those
    before it.

    \b
    Examples:
      marias replay t-1f-0a1b2c3d4e5f
      marias replay t-1f-0a1b2c3d4e5f --deal 3 --seat 0 --step
      marias replay t-1f-0a1b2c3d4e5f --auditor --json | jq .view
    """
    deal, eye = options["deal"], options["seat"]
    if options["auditor"]:
        if eye is not None:
            raise click.UsageError("Take --seat or --auditor: an auditor sees what all seats see.")
        eye = AUDITOR
    try:
        with _past(table, deal, eye, options["data"]) as told:
            count = _show(told, eye, options)
    except (KeyboardInterrupt, EOFError):
        sys.exit(130)
    if not count:
        raise click.ClickException(f"There is no deal {deal} at {table}." if deal else f"There is no table {table}.")


@contextmanager
def _past(table: str, deal: int | None, eye: Eye, data: Path | None) -> Iterator[Iterator[Moment]]:
    """The moments of the table or of one deal, read as they are asked for."""
    from services.replay import past
    from services.replay.moments import happened, seen
    from services.store.cold import PastMissing
    from services.store.history import BrokenStream, NewerEvent, entries_after
    from services.store.wire import StoreUnavailable

    config = with_store(Config.from_environment().given(data=data))
    try:
        with opened(config) as redis:
            whole = happened(table, entries_after(redis, table, 0))
            if deal is not None:
                # Where the projections stand still they know nothing of the deal; the events do.
                alone = past.deal(redis, table, deal, sys.maxsize)
                whole = iter(alone or (each for each in whole if each.deal == deal))
            yield seen(whole, eye)
    except (PastMissing, BrokenStream, NewerEvent, StoreUnavailable) as error:
        raise click.ClickException(str(error)) from error


def _show(told: Iterator[Moment], eye: Eye, options: dict[str, Any]) -> int:
    """The moments in the form that is asked for; how many there were."""
    if options["as_lines"]:
        return _print(_json(told))
    story = Story([""] * SEATS, LANGUAGES[options["lang"]], plays=options["step"])
    if not options["step"]:
        return _print(_tale(told, story, eye))
    texts = ("\n".join(_step(moment, story, eye)) for moment in told)
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _walk(texts)
    return _print(texts)


def _print(texts: Iterable[str]) -> int:
    count = 0
    for text in texts:
        count += 1
        if text:
            click.echo(text)
    return count


def _json(told: Iterator[Moment]) -> Iterator[str]:
    import msgspec

    for moment in told:
        yield msgspec.json.encode(as_json(moment)).decode()


def _tale(told: Iterator[Moment], story: Story, eye: Eye) -> Iterator[str]:
    """What happened, trick by trick, with the hands as they were dealt and the time that each seat has used."""
    for moment in told:
        story.meet(moment.view, moment.events)
        lines = story.lines(moment.events)
        kinds = {event["type"] for event in moment.events}
        if "dealt" in kinds:
            lines += _held(moment.view, story, eye)
        if "deal_ended" in kinds:
            lines += story.used(moment.used_ms)
        yield "\n".join(lines)


def _step(moment: Moment, story: Story, eye: Eye) -> list[str]:
    """One moment: when, what happened, what could be seen."""
    took = "" if moment.took_ms is None else f", +{moment.took_ms / 1000:.1f} s"
    story.meet(moment.view, moment.events)
    return [
        f"— {moment.version}, {as_json(moment)['at']}{took}",
        *filter(None, story.lines(moment.events)),
        *_held(moment.view, story, eye),
        *story.table(moment.view, moment.used_ms),
    ]


def _walk(texts: Iterator[str]) -> int:
    """On a terminal: to and fro; gives how many moments were shown."""
    shown: list[str] = []
    place = 0
    with _keys() as next_key:
        while True:
            if place == len(shown):
                text = next(texts, None)
                if text is None:
                    return len(shown)
                shown.append(text)
            click.echo(shown[place])
            if len(shown) == 1:
                click.echo(f"({KEYS})", err=True)
            key = next(key for key in iter(next_key, None) if key in (*ON, *BACK, *END))
            if key in END:
                return len(shown)
            place = max(0, place - 1) if key in BACK else place + 1


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """Keys as they are pressed; one that is pressed early is not lost."""
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        with _interrupts() as interrupt:
            yield lambda: _key(terminal, interrupt)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextmanager
def _interrupts() -> Iterator[int]:
    """A descriptor that can be read once a signal came: one that comes just before a wait does not interrupt it."""
    come, wake = os.pipe()
    os.set_blocking(wake, False)
    before = signal.set_wakeup_fd(wake)
    try:
        yield come
    finally:
        signal.set_wakeup_fd(before)
        os.close(come)
        os.close(wake)


def _key(terminal: int, interrupt: int) -> str:
    if interrupt in select([terminal, interrupt], [], [])[0]:
        raise KeyboardInterrupt
    pressed = os.read(terminal, 8)
    if not pressed:
        raise EOFError
    return pressed.decode(errors="replace")


def _held(view: dict[str, Any], story: Story, eye: Eye) -> list[str]:
    if eye == AUDITOR:
        hands = [(each["seat"], each["hand"]) for each in view["seats_see"]]
    else:
        hands = [(view["seat"], view["hand"])]
    return [story.hand(seat, hand) for seat, hand in hands if hand]
