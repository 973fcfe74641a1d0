"""The stores by kind: one server (also one that sentinels watch), or a cluster with its map of slots."""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from redis import ConnectionPool, Redis
from redis.cluster import ClusterNode, NodesManager, get_node_name
from redis.exceptions import AskError, MovedError, RedisClusterException
from redis.exceptions import ConnectionError as RedisConnectionError

from services.store.slots import slot_of_tag
from services.store.watched import Watchers

LOOK_SECONDS = 0.02
"""At least so long between two looks at the map, however many requests fail."""


class Single(Redis):
    """A store with one master. `replicas` must confirm what is written before anybody hears of it; `watchers` are
    the sentinels, where there are some."""

    replicas = 0
    is_cluster = False
    watchers: Watchers | None = None


class Cluster(Redis):
    """A cluster. Requests go through `services.store.wire`, which finds the node; the library's own commands, on
    this object, do not. The map of slots is the library's, looked up at the first request and after each surprise.
    """

    replicas = 0
    is_cluster = True

    def __init__(self, nodes: Sequence[tuple[str, int]], options: Mapping[str, Any]) -> None:
        super().__init__(host=nodes[0][0], port=nodes[0][1], **options)
        self.changes = 0
        """How often the map has changed, as far as we know."""
        self._named = list(nodes)
        self._options = {name: value for name, value in options.items() if name != "retry"}
        self._manager: NodesManager | None = None
        self._lock = threading.Lock()
        self._stale = False
        self._failed: str | None = None
        self._looked = 0.0

    def pool_of(self, tag: str) -> ConnectionPool:
        """Connections to the master of a hash tag. Raises ConnectionError when no node can tell it."""
        manager = self._map()
        try:
            return self._pool(manager, manager.get_node_from_slot(slot_of_tag(tag)))
        except RedisClusterException as error:
            self.surprised()
            raise RedisConnectionError(str(error)) from error

    def pool_at(self, host: str, port: int) -> ConnectionPool:
        """Connections to a node that another one has named."""
        manager = self._map()
        node = manager.get_node(host=host, port=port)
        return self._pool(manager, node if node is not None else _node(host, port))

    def masters(self) -> list[Redis]:
        """A client for each master. Raises ConnectionError."""
        manager = self._map()
        found = [node for node in manager.nodes_cache.values() if node.server_type == "primary"]
        return [Redis(connection_pool=self._pool(manager, node)) for node in found]

    def moved(self, error: AskError) -> None:
        """A node says that another one has a slot now (MOVED)."""
        manager = self._map()
        host = error.host or self._named[0][0]
        if isinstance(error, MovedError) and error.slot_id in manager.slots_cache and host:
            manager.move_slot(error)
            self.changes += 1
        else:
            self.surprised()

    def surprised(self, failed: ConnectionPool | None = None) -> None:
        """Something was not as the map says: look it up before the next request, at the node `failed` last."""
        if failed is not None:
            self._failed = get_node_name(failed.connection_kwargs["host"], failed.connection_kwargs["port"])
        self._stale = True

    def close(self) -> None:
        """Close all connections."""
        super().close()
        if self._manager is not None:
            self._manager.close()

    def _map(self) -> NodesManager:
        manager = self._manager
        if manager is not None and not (self._stale and time.monotonic() - self._looked > LOOK_SECONDS):
            return manager
        with self._lock:
            if self._manager is None or self._stale:
                self._stale = False
                self._manager = self._look(self._manager)
                self._looked = time.monotonic()
                self.changes += 1
            return self._manager

    def _look(self, manager: NodesManager | None) -> NodesManager:
        """Ask a living node for the map; raises ConnectionError when none answers."""
        try:
            if manager is None:
                return NodesManager([_node(host, port) for host, port in self._named], **self._options)
            manager.initialize(
                self._named, disconnect_startup_nodes_pools=False, last_failed_node_name=self._failed
            )
        except RedisClusterException as error:
            self._stale = True
            raise RedisConnectionError(str(error)) from error.__cause__
        return manager

    def _pool(self, manager: NodesManager, node: ClusterNode) -> ConnectionPool:
        if node.redis_connection is None:
            with self._lock:
                if node.redis_connection is None:
                    manager.create_redis_connections([node])  # type: ignore[no-untyped-call]
        pool: ConnectionPool = node.redis_connection.connection_pool
        return pool


def _node(host: str, port: int) -> ClusterNode:
    return ClusterNode(host, port)  # type: ignore[no-untyped-call]


def is_cluster(redis: Redis) -> TypeGuard[Cluster]:
    """Has the store several masters? Asking for the type costs a microsecond, as the library's are protocols."""
    found: bool = getattr(redis, "is_cluster", False)
    return found


def masters(redis: Redis) -> list[Redis]:
    """A client for each master of a store. Raises ConnectionError."""
    return redis.masters() if is_cluster(redis) else [redis]


def watchers_of(redis: Redis) -> Watchers | None:
    """The sentinels that watch a store, if any do."""
    found: Watchers | None = getattr(redis, "watchers", None)
    return found


def replicas_of(redis: Redis) -> int:
    """How many replicas must confirm what is written through `redis`.

    Where sentinels watch, it is all that they know, if any must: they choose the next master without asking the one
    that lives, and a replica that still follows it would go on confirming what the chosen one has never got.
    """
    least: int = getattr(redis, "replicas", 0)
    watchers = watchers_of(redis)
    return least if watchers is None or not least else max(least, watchers.known)
