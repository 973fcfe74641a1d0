"""The data folder: who may use it now, where the embedded store's socket lies, and what runs on it."""

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from services import private_files
from services.serve.errors import CannotServe

SOCKET_PATH_BYTES_MAX = 100  # Linux allows 107, macOS 103; both count bytes, not letters.


class FolderInUse(CannotServe):
    """Another process works on this data folder; the message says which and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What other commands need to know of a running `marias serve`; kept as `<data>/run.json`."""

    pid: int
    http: str
    redis_url: str
    jobs_redis_url: str
    heads: str | None = None
    """Where the projector keeps signed heads."""


def prepare(data: Path) -> None:
    """Make the data folder, readable by its owner alone: it holds the players' hands and the signing keys."""
    for folder in (data, data / "store", data / "keys"):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


def lock(data: Path) -> IO[str]:
    """Hold the data folder for as long as the returned file is open. Raises FolderInUse.

    The lock is the kernel's: it ends with the process that holds it, however that ends; none is ever stale.
    """
    held = _lock_file(data / "lock")
    if not _try_lock(held):
        who = held.read().strip() or "unknown"
        held.close()
        raise FolderInUse(
            f"{data} is in use by another `marias serve` (process {who}).\n"
            f"Stop that one, or give this one its own folder: marias serve --data DIR --port PORT"
        )
    held.seek(0)
    held.truncate()
    held.write(f"{os.getpid()}\n")
    held.flush()
    return held


def lock_store(data: Path, *, seconds_max: float = 10.0) -> IO[str]:
    """Hold the store's folder. Raises FolderInUse when an earlier store has not ended within `seconds_max`.

    The embedded store inherits this file, so an orphan of it keeps the lock while it lives.
    """
    held = _lock_file(data / "store" / "lock")
    end = time.monotonic() + seconds_max
    while not _try_lock(held):
        if time.monotonic() > end:
            held.close()
            raise FolderInUse(
                f"An earlier store still runs on {data / 'store'} and does not end.\n"
                f"Find it with: ps -ef | grep {socket_path(data)}"
            )
        time.sleep(0.02)
    return held


def socket_path(data: Path) -> Path:
    """The store's socket: in the data folder, or in a short private one where that path were too long."""
    inside = data / "store" / "store.sock"
    if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES_MAX:
        return inside
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return Path("/tmp") / f"marias-{os.getuid()}" / f"{name}.sock"


def prepare_socket(data: Path) -> Path:
    """`socket_path` with its folder made; nobody else may own or enter that. Raises PermissionError."""
    path = socket_path(data)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    found = path.parent.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{path.parent} must be a folder of your own with mode 700")
    return path


def write_running(data: Path, running: Running) -> None:
    """Say on disk what runs here, in one step, so that nobody reads half of it."""
    # For its owner alone: it holds the login of the store's owner.
    private_files.replace(data / "run.json", json.dumps(asdict(running)).encode())


def forget_running(data: Path) -> None:
    """Nothing runs here any more."""
    with contextlib.suppress(FileNotFoundError):
        (data / "run.json").unlink()


def read_running(data: Path) -> Running | None:
    """What runs on this folder now, or None; a note left by a killed process does not count."""
    try:
        running = Running(**json.loads(private_files.read(data / "run.json")))
        os.kill(running.pid, 0)
    except (FileNotFoundError, ProcessLookupError, OverflowError, RecursionError, ValueError, TypeError):
        return None
    except PermissionError:
        pass  # It runs, as another user.
    return running


def _lock_file(path: Path) -> IO[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")


def _try_lock(held: IO[str]) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
