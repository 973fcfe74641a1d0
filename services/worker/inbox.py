"""Commands that wait for their owner: told by the bells while nothing is missing, else read from the streams."""

from collections.abc import Container

from redis import Redis

from services.store.commands import Command, heard, read_commands

READ_MAX = 32


class Inbox:
    """The queue of each owned partition, without holes: each command is known to follow the one before it."""

    def __init__(self) -> None:
        self._queues: dict[str, list[Command]] = {}
        self._ends: dict[str, str] = {}  # The id of the last command queued, or handled.
        self._unread: set[str] = set()

    def open(self, partition: str, cursor: str) -> None:
        """Begin, or begin anew, after the command `cursor`."""
        self._queues[partition] = []
        self._ends[partition] = cursor
        self._unread.add(partition)

    def close(self, partition: str) -> None:
        """The partition is another's now."""
        self._queues.pop(partition, None)
        self._ends.pop(partition, None)
        self._unread.discard(partition)

    def hear(self, partition: str, message: bytes) -> None:
        """A bell: it says the command itself, or nothing but that one should look."""
        if partition not in self._queues:
            return
        if message and partition not in self._unread:
            previous, command = heard(message)
            if previous == self._ends[partition]:
                self._queues[partition].append(command)
                self._ends[partition] = command.id
                return
        self._unread.add(partition)

    def look_everywhere(self) -> None:
        """A bell may have been lost with its connection."""
        self._unread.update(self._queues)

    def is_empty(self) -> bool:
        """Is there neither a command nor a stream to read?"""
        return not self._unread and not any(self._queues.values())

    def read(self, redis: Redis) -> None:
        """Read the streams that may hold more than is queued. Raises StoreUnavailable."""
        if not self._unread:
            return
        found = read_commands(redis, {partition: self._ends[partition] for partition in self._unread}, READ_MAX)
        self._unread = {partition for partition, commands in found.items() if len(commands) == READ_MAX}
        for partition, commands in found.items():
            self._queues[partition] += commands
            self._ends[partition] = commands[-1].id

    def take(self, count: int, alone: Container[str]) -> dict[str, list[Command]]:
        """Up to `count` commands by partition, in order; a single one where the partition is among `alone`."""
        taken: dict[str, list[Command]] = {}
        for partition in [partition for partition, queue in self._queues.items() if queue]:
            queue = self._queues[partition]
            if partition in alone:
                return taken or {partition: [queue.pop(0)]}
            taken[partition] = queue[:count]
            del queue[:count]
            count -= len(taken[partition])
            if count == 0:
                break
        return taken

    def has(self, partition: str) -> bool:
        """May there be commands of this partition?"""
        return partition in self._unread or bool(self._queues.get(partition))
