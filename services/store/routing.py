"""Requests to a cluster: each to the node that has its slot, all nodes at once, replies in the order asked.

Asked again is only what a node has said not to have executed (MOVED, ASK, TRYAGAIN). Whatever else goes wrong is
unknown, and ends in StoreUnavailable for the whole batch: the caller repeats it with the same ids.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from hiredis import pack_command
from redis import ConnectionPool
from redis.exceptions import AskError, ConnectionError, MovedError, TimeoutError

from services.store.away import StoreUnavailable, named, was_not_executed
from services.store.lines import Exchange, NotSent, exchange_all
from services.store.slots import HOME, Request, tag_of
from services.store.topology import Cluster

PAUSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Seconds before each further try; a slot that moves for longer is left to the caller's patience."""
WAIT_MS = 1_000
_ASKING: bytes = pack_command(("ASKING",))


def mark(tag: str) -> str:
    """A key that is written only so that a connection has something for replicas to confirm; see `confirming`."""
    return f"m:{{{tag}}}:mk"


CONFIRMING = 4


def confirming(tag: str, replicas: int) -> tuple[Request, ...]:
    """CONFIRMING requests that follow a batch on its connection; `confirmations` reads their replies.

    A server waits for what this connection has written. A repeated command may write nothing, though its first
    try lies unconfirmed on the master: so something is written behind it. ROLE before tells how far the master had
    got with the batch, ROLE after tells which replicas have got so far: WAIT would count one replica twice that has
    come back while its broken connection is not yet noticed.
    """
    return ("ROLE",), ("HSET", mark(tag), "v", ""), ("WAIT", replicas, WAIT_MS), ("ROLE",)


class _Part:
    """What goes to one node: the packed requests, the places of their replies, and those that need ASKING."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.packed: list[bytes] = []
        self.places: list[int | None] = []

    def add(self, place: int, packed: bytes, *, asking: bool) -> None:
        if asking:
            self.packed.append(_ASKING)
            self.places.append(None)
        self.packed.append(packed)
        self.places.append(place)


def ask_nodes(cluster: Cluster, requests: Sequence[Request], replicas: int = 0) -> list[Any]:
    """The replies to all requests; with `replicas`, once so many have confirmed. Raises StoreUnavailable."""
    # The stub of the packer allows one member only.
    packed = [pack_command(tuple(request)) for request in requests]  # type: ignore[arg-type]
    tags = _tags(requests)
    replies: list[Any] = [None] * len(requests)
    waiting = list(range(len(requests)))
    elsewhere: dict[int, AskError] = {}
    error: Exception = StoreUnavailable("not asked")
    for pause in PAUSES:
        if pause:
            time.sleep(pause)
        try:
            parts = _parts(cluster, waiting, tags, packed, elsewhere)
            _fill(replies, cluster, parts, replicas)
        except NotSent as failed:
            cluster.surprised(failed.pool)
            error = named(failed.why)
            continue
        except (ConnectionError, TimeoutError) as away:
            raise named(away) from away
        waiting, elsewhere = _again(cluster, waiting, replies)
        if not waiting:
            return replies
        error = StoreUnavailable(str(replies[waiting[0]]))
    raise error


def _tags(requests: Sequence[Request]) -> list[str]:
    """The tag of each request; one without a key goes where the first of the others goes."""
    tags = [tag_of(request) for request in requests]
    usual = next((tag for tag in tags if tag is not None), HOME)
    return [usual if tag is None else tag for tag in tags]


def _parts(
    cluster: Cluster, waiting: Sequence[int], tags: Sequence[str], packed: Sequence[bytes],
    elsewhere: dict[int, AskError],
) -> dict[ConnectionPool, _Part]:
    parts: dict[ConnectionPool, _Part] = {}
    pools: dict[str, ConnectionPool] = {}
    for place in waiting:
        tag = tags[place]
        ask = elsewhere.get(place)
        if ask is not None:
            pool = cluster.pool_at(ask.host, ask.port)
        elif (found := pools.get(tag)) is not None:
            pool = found
        else:
            pool = pools[tag] = cluster.pool_of(tag)
        part = parts.get(pool)
        if part is None:
            part = parts[pool] = _Part(tag)
        part.add(place, packed[place], asking=ask is not None)
    return parts


def _fill(replies: list[Any], cluster: Cluster, parts: dict[ConnectionPool, _Part], replicas: int) -> None:
    """One round trip to each node at once. Raises NotSent, StoreUnavailable."""
    exchanges = []
    for pool, part in parts.items():
        last = [pack_command(each) for each in confirming(part.tag, replicas)] if replicas else []  # type: ignore[arg-type]
        exchanges.append(Exchange(pool, b"".join((*part.packed, *last)), len(part.packed) + len(last)))
    outcomes = exchange_all(exchanges)
    for (pool, part), outcome in zip(parts.items(), outcomes, strict=True):
        if isinstance(outcome, Exception):
            cluster.surprised(pool)
            raise named(outcome) from outcome
        answered = [
            reply for place, reply in zip(part.places, outcome, strict=False) if place is not None
        ]
        for place, reply in zip((place for place in part.places if place is not None), answered, strict=True):
            replies[place] = reply
        if replicas and not all(isinstance(each, Exception) and was_not_executed(each) for each in answered):
            check_confirmed(outcome[-CONFIRMING:], replicas)


def check_confirmed(last: Sequence[Any], replicas: int) -> None:
    """Have so many replicas confirmed, by the replies to `confirming`? Raises StoreUnavailable."""
    found = confirmations(last)
    if found.confirmed < replicas:
        raise unconfirmed(found, replicas)


class Confirmations(NamedTuple):
    """How many replicas are connected to a master, and how many of them have all of a batch."""

    connected: int
    confirmed: int


def confirmations(last: Sequence[Any]) -> Confirmations:
    """What the replies to `confirming` say. Raises StoreUnavailable."""
    before, _, _, after = last
    failed = next((each for each in last if isinstance(each, Exception)), None)
    if failed is not None:
        raise StoreUnavailable(f"not confirmed by replicas: {failed}") from failed
    if not before[0] == after[0] == b"master":
        raise StoreUnavailable("not confirmed by replicas: it is no master any more")
    connected = {(host, port) for host, port, _ in after[2]}
    return Confirmations(len(connected), len({(host, port) for host, port, at in after[2] if int(at) >= before[1]}))


def unconfirmed(found: Confirmations, wanted: int) -> StoreUnavailable:
    """Why nothing is answered."""
    return StoreUnavailable(
        f"not confirmed by {wanted} replicas: {found.connected} are connected, {found.confirmed} have confirmed"
    )


def _again(
    cluster: Cluster, waiting: Sequence[int], replies: Sequence[Any]
) -> tuple[list[int], dict[int, AskError]]:
    """The places that were not executed, and those among them that another node has for the moment."""
    again: list[int] = []
    elsewhere: dict[int, AskError] = {}
    for place in waiting:
        reply = replies[place]
        if not isinstance(reply, Exception) or not was_not_executed(reply):
            continue
        again.append(place)
        if isinstance(reply, MovedError):
            cluster.moved(reply)
        elif isinstance(reply, AskError):
            elsewhere[place] = reply
    return again, elsewhere
