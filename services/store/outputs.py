"""What projections write: outputs committed together with how far their source was read, or not at all."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from redis import Redis

from services.store import keys, scripts
from services.store.wire import Argument, Request, ask, ask_all, fields_of

LOBBY = "lobby"

_COMMIT = scripts.load("commit")


class TableOutput(NamedTuple):
    """What a table's projections write in its own slot, on its way from one version to a later one.

    `bank`, `records` and `sealed` are fields and values; `state` is what must be remembered until the next step.
    """

    table: str
    before: int
    after: int
    state: bytes
    bank: Mapping[str, bytes]
    records: Mapping[str, bytes]
    sealed: Mapping[str, bytes]


class Freeze(NamedTuple):
    """The projections of `table` stop, for `error` (JSON)."""

    table: str
    error: bytes


class Post(NamedTuple):
    """A posting to the score of `player`; its `place` sorts it among his others."""

    player: str
    id: str
    place: str
    chips: int
    posting: bytes


class Row(NamedTuple):
    """A table's row in the lobby (JSON) since `version`, at its `place`; empty: it goes."""

    table: str
    version: int
    place: str
    row: bytes


Output = TableOutput | Freeze | Post | Row


class Step(NamedTuple):
    """How far a slot has come with a source: from the checkpoint seen to the one after; see `lua/commit.lua`."""

    slot: str
    source: str
    seen: str
    now: str


class Space(NamedTuple):
    """Where projections are written: the live keys, or the same ones beside them; `writer` may pass a hold."""

    name: Callable[[str], str]
    writer: str = ""


LIVE = Space(lambda key: key)
ELSEWHERE = "*"
"""`seen` where the checkpoint of the source is kept in another slot; such outputs are done once by themselves."""


def slot_of(aggregate: str) -> str:
    """The slot of a table's or player's projections."""
    return f"p{keys.partition_of(aggregate)}"


def checkpoints(redis: Redis, partitions: Sequence[str], space: Space = LIVE) -> dict[str, str]:
    """How far each partition is projected in its own slot; "" where nothing is."""
    requests = [("HGET", space.name(keys.checkpoint(f"p{each}")), each) for each in partitions]
    replies = ask_all(redis, requests)
    return {each: reply.decode() if reply else "" for each, reply in zip(partitions, replies, strict=True)}


class Remembered(NamedTuple):
    """How far a table is projected, its state, and the error that froze it, if any."""

    version: int
    state: bytes
    error: bytes | None


def remembered(redis: Redis, tables: Sequence[str], space: Space = LIVE) -> list[Remembered]:
    """What projections remember of each table; version 0 and no state where they begin."""
    requests: list[Request] = []
    for table in tables:
        requests.append(("HMGET", space.name(keys.fold(table)), "v", "s"))
        requests.append(("HGET", space.name(keys.frozen(keys.partition_of(table))), table))
    replies = ask_all(redis, requests)
    return [
        Remembered(int(version or 0), state or b"", error)
        for (version, state), error in zip(replies[::2], replies[1::2], strict=True)
    ]


def frozen(redis: Redis, partition: str, space: Space = LIVE) -> dict[str, bytes]:
    """The tables of a partition whose projections are stopped, with the error (JSON)."""
    found = fields_of(ask(redis, "HGETALL", space.name(keys.frozen(partition))))
    return {table.decode(): error for table, error in found.items()}


def commit(redis: Redis, step: Step, outputs: Sequence[Output], space: Space = LIVE) -> bool:
    """Write `outputs` and the checkpoint together, or nothing: then another has been here, or a table has moved.

    Raises Held while the projections are being compared.
    """
    return commit_many(redis, [(step, outputs)], space)[0]


class Held(Exception):
    """The projections are being compared and must stand still for a moment."""


def commit_many(redis: Redis, work: Sequence[tuple[Step, Sequence[Output]]], space: Space = LIVE) -> list[bool]:
    """`commit` of each step, in order, in one round trip. Raises Held when one was stopped by that."""
    replies = scripts.run_all(redis, _COMMIT, [_call(*each, space) for each in work], confirmed=True)
    if -1 in replies:
        raise Held
    return [reply == 1 for reply in replies]


def _call(step: Step, outputs: Sequence[Output], space: Space) -> scripts.Call:
    names = [keys.checkpoint(step.slot), keys.hold(step.slot)]
    arguments: list[Argument] = [step.source, step.seen, step.now, space.writer, len(outputs)]
    for output in outputs:
        more_names, more_arguments = _encoded(output)
        names += more_names
        arguments += more_arguments
    hold = names[1]
    return scripts.Call([name if name == hold else space.name(name) for name in names], arguments)


def _encoded(output: Output) -> tuple[list[str], list[Argument]]:
    match output:
        case TableOutput():
            return _encoded_table(output)
        case Freeze(table, error):
            return [keys.frozen(keys.partition_of(table))], ["freeze", table, error]
        case Post(player, id_, place, chips, posting):
            return [keys.balance(player), keys.score(player)], ["post", id_, place, chips, posting]
        case Row(table, version, place, row):
            names = [keys.lobby(), keys.lobby_order(), keys.lobby_versions()]
            return names, ["row", table, version, place, row]


def _encoded_table(output: TableOutput) -> tuple[list[str], list[Argument]]:
    table = output.table
    names = [
        keys.fold(table),
        keys.frozen(keys.partition_of(table)),
        keys.bank(table),
        keys.records(table),
        keys.sealed_records(table),
    ]
    writes: list[Argument] = [
        part
        for place, fields in enumerate((output.bank, output.records, output.sealed), start=1)
        for field, value in fields.items()
        for part in (place, field, value)
    ]
    head: list[Argument] = ["table", table, output.before, output.after, output.state]
    return names, [*head, len(writes) // 3, *writes]
