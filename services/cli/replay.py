"""`marias replay`: any deal of a table again, as one seat, a spectator or an auditor saw it then."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from services.cli.roles import opened, with_store
from services.config import Config
from services.replay.moments import AUDITOR, Eye, Moment, as_json, moments
from services.replay.story import Story
from services.replay.words import LANGUAGES

SEATS = 3



@click.command()
@click.argument("table")
@click.option("--deal", type=click.IntRange(min=1), help="One deal only; what led to it belongs to it.")
@click.option("--seat", type=click.IntRange(0, SEATS - 1), help="With the eyes of this seat. Default: of a spectator.")
@click.option("--auditor", is_flag=True, help="With the eyes of an auditor, who sees every card.")
@click.option("--step", is_flag=True, help="Moment by moment, with what could be seen; Enter goes on.")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="en", show_default=True)
@click.option("--json", "as_lines", is_flag=True, help="One JSON line for each version.")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder of the system.")
def replay(table: str, **options: Any) -> None:
    """Replay TABLE from its events, also those of archived deals.

    It needs the store's own password: whoever runs this may see every card, and chooses with whose eyes he looks.
    What was hidden then stays hidden, except from an auditor.

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
        with _past(table, eye, options["data"]) as past:
            told = (moment for moment in past if deal is None or moment.deal == deal)
            if options["as_lines"]:
                count = _write_lines(told)
            else:
                count = _tell(told, eye, options["lang"], step=options["step"])
    except (KeyboardInterrupt, EOFError):
        sys.exit(130)
    if not count:
        raise click.ClickException(f"There is no deal {deal} at {table}." if deal else f"There is no table {table}.")


@contextmanager
def _past(table: str, eye: Eye, data: Path | None) -> Iterator[Iterator[Moment]]:
    """All moments of the table, read as they are asked for."""
    from services.store.cold import PastMissing
    from services.store.history import BrokenStream, NewerEvent, entries_after
    from services.store.keys import is_table_id
    from services.store.wire import StoreUnavailable

    if not is_table_id(table):
        raise click.BadParameter("A table is named as in t-1f-0a1b2c3d4e5f.", param_hint="TABLE")
    config = with_store(Config.from_environment().given(data=data))
    try:
        with opened(config) as redis:
            yield moments(table, entries_after(redis, table, 0), eye)
    except (PastMissing, BrokenStream, NewerEvent, StoreUnavailable) as error:
        raise click.ClickException(str(error)) from error


def _write_lines(told: Iterator[Moment]) -> int:
    import msgspec

    count = 0
    for moment in told:
        click.echo(msgspec.json.encode(as_json(moment)))
        count += 1
    return count


def _tell(told: Iterator[Moment], eye: Eye, lang: str, *, step: bool) -> int:
    """The moments as text; how many there were."""
    story = Story([f"seat {seat}" for seat in range(SEATS)], LANGUAGES[lang])
    count = 0
    for moment in told:
        count += 1
        names = story.meet(moment.view, moment.events)
        lines = story.lines(moment.events)
        if not step and any(event["type"] == "dealt" for event in moment.events):
            lines += [story.hand(seat, hand) for seat, hand in _hands(moment.view, eye) if hand]
        if step:
            lines = [_head(moment), *filter(None, lines), *_table(moment.view, story, names, eye)]
        for line in lines:
            click.echo(line)
        if step and sys.stdin.isatty():
            input()
    return count


def _hands(view: dict[str, Any], eye: Eye) -> list[tuple[int, list[str]]]:
    if eye is None:
        return []
    if eye == AUDITOR:
        return [(each["seat"], each["hand"]) for each in view["seats_see"]]
    assert isinstance(eye, int)
    return [(eye, view["hand"])]


def _head(moment: Moment) -> str:
    took = "" if moment.took_ms is None else f", after {moment.took_ms / 1000:.1f} s"
    return f"— version {moment.version}, {as_json(moment)['at']}{took}"


def _table(view: dict[str, Any], story: Story, names: list[str], eye: Eye) -> list[str]:
    """What lies on the table, and who is to act."""
    lines = [story.hand(seat, hand) for seat, hand in _hands(view, eye) if hand]
    if view["trick"]:
        lines.append(f"  on the table: {story.on_table(view['trick'])}")
    if levels := {part: level for part, level in view["levels"].items() if level}:
        lines.append(f"  levels: {', '.join(f'{part} {level}' for part, level in levels.items())}")
    if any(view["points"].values()):
        lines.append(f"  points: {view['points']['declarer']} : {view['points']['defence']}")
    if view["to_act"]:
        lines.append(f"  to act: {', '.join(names[seat] for seat in view['to_act'])}")
    return lines
