"""How much memory of the store a table takes, by what it is kept for."""

from redis import Redis

from services.store import keys
from services.store.clock import forget_member
from services.store.forget import forget_many
from services.store.wire import ask, ask_all
from services.worker.build import TAG

OWN = {
    "events": keys.events,
    "feed": keys.feed,
    "view": keys.view,
    "snapshot": keys.snapshot,
    "receipts": keys.receipts,
    "reservations": keys.reservations,
}
PROJECTED = {
    "position": keys.fold,
    "bank": keys.bank,
    "records": keys.records,
    "whole records": keys.sealed_records,
}


def weigh(redis: Redis, table: str) -> dict[str, int]:
    """Bytes of the store by kind of key."""
    named = OWN | PROJECTED
    replies = ask_all(redis, [("MEMORY", "USAGE", name(table), "SAMPLES", 0) for name in named.values()])
    return {kind: reply or 0 for kind, reply in zip(named, replies, strict=True)}


def forget(redis: Redis, table: str) -> None:
    """What the owner of a table at rest does ten minutes after its last command, now and in its name."""
    partition = keys.partition_of(table)
    fence, version = ask(redis, "GET", keys.lease(partition)), ask(redis, "HGET", keys.snapshot(table), "v")
    forget_many(redis, [(fence.decode(), forget_member(table, int(version)))], TAG)
