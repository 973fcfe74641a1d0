"""The embedded store: a real Valkey or Redis of our own, on a private socket, that forgets nothing."""

import contextlib
import socket
import time
from pathlib import Path

from services.store.rights import OWNER

SETTINGS = {
    "port": "0",  # No network: the socket's folder decides who may come in.
    "unixsocketperm": "700",
    "daemonize": "no",
    "databases": "2",  # The tables, and the job queue.
    "save": "",  # The log of writes is the only copy; a dump beside it would only cost time.
    "appendonly": "yes",
    "aof-load-truncated": "yes",  # A power cut may leave half of an unanswered write at the end.
    "maxmemory-policy": "noeviction",  # A full store refuses; it never drops part of a table.
    # Small hashes lie in one block. The limits fit a table's view (its longest fragment lists 66 discards) and a
    # deal's receipts, and keep the search in a block short.
    "hash-max-listpack-entries": "128",
    "hash-max-listpack-value": "4096",
    # A node of a stream takes its whole size at once: what a table at rest keeps of its stream is one entry.
    "stream-node-max-bytes": "1024",
}


def command(
    server: Path, folder: Path, path: Path, *, fsync: str = "always", verbose: bool = False
) -> list[str]:
    """The command line that starts `server` in `folder`, listening on the socket `path`.

    Everybody who reaches the socket may do everything, unless `with_users` is added.
    """
    chosen = {
        **SETTINGS,
        "dir": str(folder.resolve()),  # The server changes its folder: a relative one fails.
        "unixsocket": str(path),
        "appendfsync": fsync,
        "loglevel": "notice" if verbose else "warning",
    }
    return [str(server), *(word for name, value in chosen.items() for word in (f"--{name}", value))]


def with_users(acl: Path) -> list[str]:
    """What the command line needs more, so that only the users in the file `acl` come in."""
    return ["--aclfile", str(acl.resolve())]


def url(path: Path, database: int = 0) -> str:
    """The address of a database of the store behind the socket `path`."""
    return f"unix://{path}?db={database}"


def ask(path: Path, line: str, *, seconds_max: float = 1.0) -> str | None:
    """The first line of the answer to a one-line request, or None when nobody answers."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(seconds_max)
        peer.connect(str(path))
        peer.sendall(line.encode() + b"\r\n")
        return peer.recv(4096).split(b"\r\n")[0].decode()
    return None


def is_ready(path: Path) -> bool:
    """Whether the store answers; one that still loads its data does not count."""
    return ask(path, "PING") == "+PONG"


def end_orphan(path: Path, *, password: str = "", seconds_max: float = 5.0) -> bool:
    """Stop a store that outlived its parent. True when one was found and has ended.

    `password` is its owner's; a store without users takes none, and is stopped all the same.
    """
    if ask(path, "PING") is None:
        return False
    ask(path, f"AUTH {OWNER} {password}\r\nSHUTDOWN NOSAVE" if password else "SHUTDOWN NOSAVE")
    end = time.monotonic() + seconds_max
    while ask(path, "PING") is not None:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
