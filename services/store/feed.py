"""What is applied, as it is applied: one reader per process hands it to whoever waits for a table or an answer."""

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec
from redis import Redis

from services.store import keys
from services.store.channels import Ears
from services.store.views import SPECTATOR
from services.store.wire import StoreUnavailable, ask_many

WAIT_SECONDS = 1.0

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_log = logging.getLogger(__name__)


class Change(NamedTuple):
    """One new version of a table. `events` are JSON arrays as a spectator (None) and each seat may know them;
    `brief`, `about` and `private` are the view's JSON members without braces; `about`, the public part that stays
    the same for a whole deal, only differs from the version before if `about_changed`. `who` are ids by seat."""

    table: str
    version: int
    at: int
    events: dict[int | None, bytes]
    brief: bytes
    private: tuple[bytes, bytes, bytes]
    about: bytes
    who: tuple[str, ...]
    about_changed: bool

    def view(self, seat: int | None) -> bytes:
        """The view of `seat`, or of a spectator, as a JSON object."""
        return b"{%b,%b,%b}" % (self.brief, self.about, SPECTATOR if seat is None else self.private[seat])


Watcher = Callable[[Change | None], None]
Waiter = Callable[[dict[str, Any]], None]
Unsubscribe = Callable[[], None]


class Feed:
    """The live tail of every partition, read by one thread (a greenlet under gevent) once `start`ed.

    Callbacks run on that thread and must be quick. A watcher called with None has missed changes, and reads the
    table and its feed anew; a waiter is called once, also when the answer came while the store was away.
    """

    def __init__(self, redis: Redis, partitions: int = keys.PARTITIONS) -> None:
        self._redis = redis
        self._channels = [keys.push(each) for each in keys.all_partitions(partitions)]
        self._ears = Ears(redis)
        self._lock = threading.Lock()
        self._watchers: dict[str, tuple[Watcher, ...]] = {}
        self._waiters: dict[tuple[str, str], tuple[Waiter, ...]] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> "Feed":
        """Start the reader."""
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop the reader."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(2 * WAIT_SECONDS)
        self._ears.close()

    def on_version(self, table: str, watcher: Watcher) -> Unsubscribe:
        """Call `watcher` with every change of `table` from now on."""
        with self._lock:
            self._watchers[table] = (*self._watchers.get(table, ()), watcher)
        return lambda: self._remove(self._watchers, table, watcher)

    def on_receipt(self, table: str, field: str, waiter: Waiter) -> Unsubscribe:
        """Call `waiter` with the receipt of the command `<actor>/<key>`; subscribe before taking it in."""
        place, alone = (table, field), (waiter,)
        if self._waiters.setdefault(place, alone) is not alone:  # Seldom two wait for one, and a lock takes its time.
            with self._lock:
                self._waiters[place] = (*self._waiters.get(place, ()), waiter)
        return lambda: self._remove(self._waiters, (table, field), waiter)

    def read(self, seconds_max: float) -> None:
        """One step of the reader: hand out what has come. Raises StoreUnavailable."""
        if not self._ears.listening:
            self._ears.listen(self._channels)
            self._catch_up()
        for channel, data in self._ears.hear(seconds_max):
            if data:
                self._dispatch(data.split(b"\1"))
            else:
                self._catch_up(channel[4:6].decode())

    def _run(self) -> None:
        pause = 0.02
        while not self._stopped.is_set():
            try:
                self.read(WAIT_SECONDS)
                pause = 0.02
            except StoreUnavailable as error:
                _log.warning("live feed interrupted: %s", error)
                self._stopped.wait(pause)
                pause = min(2 * pause, 0.5)

    def _dispatch(self, parts: list[bytes]) -> None:
        table = parts[0].decode()
        if waiters := self._waiters and self._take((table, parts[1].decode())):
            _call_all(waiters, _decode(parts[2]))
        if len(parts) > 3 and (watchers := self._watchers.get(table)):
            _call_all(watchers, _change(table, parts))

    def _catch_up(self, partition: str = "") -> None:
        """The connection is new, or a worker says that something may have been missed: watchers start over, and
        answers that came meanwhile are looked up."""
        for table, watchers in list(self._watchers.items()):
            if not partition or keys.partition_of(table) == partition:
                _call_all(watchers, None)
        waiting = [place for place in list(self._waiters) if not partition or keys.partition_of(place[0]) == partition]
        asked = [("HGET", keys.receipts(table), field) for table, field in waiting]
        replies = ask_many(self._redis, asked, confirmed=True)
        for place, receipt in zip(waiting, replies, strict=True):
            if isinstance(receipt, bytes):
                _call_all(self._take(place), _decode(receipt))

    def _take(self, place: tuple[str, str]) -> tuple[Waiter, ...]:
        return self._waiters.pop(place, ())  # At once, so that it needs no lock.

    def _remove(self, subscribed: dict[Any, tuple[Any, ...]], place: Any, callback: Any) -> None:
        if place not in subscribed:  # Its answer has come, as nearly always.
            return
        with self._lock:
            rest = tuple(each for each in subscribed.get(place, ()) if each is not callback)
            if rest:
                subscribed[place] = rest
            else:
                subscribed.pop(place, None)


def _call_all(callbacks: Iterable[Callable[[Any], None]], value: Any) -> None:
    for callback in callbacks:
        try:
            callback(value)
        except Exception:  # One subscriber's fault must not silence the others.
            _log.exception("a subscriber of the live feed failed")


def _change(table: str, parts: list[bytes]) -> Change:
    version, at, view, rest, changed, _, told = parts[3:10]
    events: dict[int | None, bytes] = dict.fromkeys(_READERS, told)
    for place in range(10, len(parts), 2):
        events[int(parts[place][1:])] = parts[place + 1]
    brief, first, second, third = view.split(b"\0")
    about, who, _, _ = rest.split(b"\0")
    players = tuple(who.decode().split("|"))
    return Change(table, int(version), int(at), events, brief, (first, second, third), about, players, changed == b"1")


_READERS = (0, 1, 2, None)
