"""`marias status`: how everything fares, in one page; the exit status says whether it is well."""

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from services.cli.roles import with_store
from services.config import Config

if TYPE_CHECKING:
    from services.operations.fare import Fare

WATCH_SECONDS = 2.0


@click.command()
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder of the system.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --watch one line each time.")
@click.option("--watch", is_flag=True, help=f"Again every {WATCH_SECONDS:.0f} s, until Ctrl-C.")
def status(data: Path | None, as_json: bool, watch: bool) -> None:
    """How the system fares: the store, the workers, partitions and queues. Never a card.

    The exit status is 0 when nothing is wrong and 1 otherwise, with the reasons in words. It looks at REDIS_URL if
    set, else at the `marias serve` that runs on the data folder.
    """
    from redis.exceptions import RedisError

    from services.store.wire import StoreUnavailable

    config = with_store(Config.from_environment().given(data=data))
    while True:
        try:
            wrong = _look(config, as_json=as_json, clear=watch and sys.stdout.isatty())
        except (StoreUnavailable, RedisError, OSError) as error:
            wrong = [f"the store does not answer: {error}"]
            click.echo(json.dumps({"healthy": False, "troubles": wrong}) if as_json else f"WRONG: {wrong[0]}")
        if not watch:
            sys.exit(1 if wrong else 0)
        time.sleep(WATCH_SECONDS)


def _look(config: Config, *, as_json: bool, clear: bool) -> list[str]:
    from services.operations.fare import document, fare
    from services.operations.health import troubles, warnings
    from services.store.connect import connect
    from services.store.installation import partitions_kept
    from services.store.topology import replicas_of

    assert config.redis_url is not None
    with ExitStack() as held:
        redis = held.enter_context(connect(config.redis_url, replicas=config.replicas))
        jobs = held.enter_context(connect(config.jobs_redis_url)) if config.jobs_redis_url else None
        found = fare(redis, jobs, partitions_kept(redis, config.partitions), sampled=True)
        wrong = [*troubles(found, replicas_of(redis)), *_front(config)]
    cautions = warnings(found)
    if as_json:
        click.echo(json.dumps({"healthy": not wrong, "troubles": wrong, "warnings": cautions, **document(found)}))
        return wrong
    if clear:
        click.clear()
    for line in page(found):
        click.echo(line)
    for caution in cautions:
        click.echo(f"warning: {caution}")
    for trouble in wrong:
        click.echo(f"WRONG: {trouble}")
    click.echo("not healthy" if wrong else "healthy")
    return wrong


def _front(config: Config) -> list[str]:
    """Does the front of a `marias serve` answer? Of roles that run apart only their proxy knows the addresses."""
    from services.cli.caller import Caller, Refused, Unreachable
    from services.serve.folder import read_running

    running = read_running(config.data)
    if running is None or running.redis_url != config.redis_url:
        return []
    try:
        Caller(running.http).get("/v1/health/live")
    except (Unreachable, Refused) as error:
        return [f"the front does not answer: {error}"]
    return []


def page(fare: "Fare") -> list[str]:
    """The page for people: sums first, then only the partitions that have something to tell."""
    parts = fare.partitions
    lines = [f"store     {_server(each)}" for each in fare.servers]
    owned = {seen.name: sum(each.owner == seen.name for each in parts) for seen in fare.workers}
    lines += [f"worker    {name}: {count} of {len(parts)} partitions" for name, count in owned.items()]
    lines.append(
        f"commands  {sum(each.waiting for each in parts)} wait, the oldest for"
        f" {max((each.oldest_ms for each in parts), default=0) / 1000:.1f} s; {_sum(each.dead for each in parts)} dead"
    )
    lags = [f"{name} {max(each.lag_ms[name] or 0 for each in parts) / 1000:.1f} s" for name in parts[0].lag_ms]
    lines.append(f"log       behind by: {', '.join(lags)}; {_sum(each.stuck for each in parts)} payments stuck")
    size = "" if fare.table_bytes is None else f", about {fare.table_bytes:,} bytes each"
    lines.append(
        f"tables    {_sum(each.tables for each in parts)}{size}; {_sum(each.frozen for each in parts)} frozen")
    lines.append(f"deal log  {fare.log.size} deals, signed for {fare.log.signed}; {fare.log.stuck} tables stuck")
    lines += [
        f"jobs      {each.queue}: {each.waiting} wait, the oldest for {each.oldest_ms / 1000:.1f} s;"
        f" {each.failed} failed" for each in fare.jobs or ()
    ]
    if fare.jobs is None:
        lines.append("jobs      their store does not answer")
    lines.append(f"audit     {_audited(fare)}")
    told = [each for each in parts if each.waiting or each.dead or each.frozen or each.stuck or not each.owner]
    if told:
        lines.append(f"{'partition':<10}{'waiting':>8}{'oldest s':>10}{'dead':>6}{'frozen':>8}{'stuck':>7}  owner")
    lines += [
        f"{each.partition:<10}{each.waiting:>8}{each.oldest_ms / 1000:>10.1f}{_or(each.dead):>6}{_or(each.frozen):>8}"
        f"{_or(each.stuck):>7}  {each.owner or '-'}" for each in told
    ]
    return lines


def _audited(fare: "Fare") -> str:
    found = fare.audited
    if found is None:
        return "none yet"
    word = f"{found.faults} faults" if found.faults else "clean"
    hours = (fare.at - found.ended) / 3_600_000
    return f"of {found.night}, {hours:.1f} h ago: {word}; {found.deals:,} deals of {found.tables:,} tables"


def _server(server: Any) -> str:
    full = f" of {server.memory_max / 2**20:,.0f}" if server.memory_max else ""
    fsync = f"appendfsync {server.fsync or 'not told'}" if server.aof else "no append-only file"
    return (f"{server.version}, {fsync}, {server.policy}, {server.memory / 2**20:,.1f}{full} MiB,"
            f" {server.replicas} replicas")


def _sum(values: Any) -> str:
    known = [value for value in values if value is not None]
    return str(sum(known)) if known else "?"


def _or(value: int | None) -> str:
    return "?" if value is None else str(value)
