"""A log of writes whose last transaction was torn by a power cut, made whole before a server loads it.

Redis (seen in 7.0.15) and Valkey before 9.1.2 forget such a transaction when they load it, but leave its first part in
the file. At the next start it is joined to what was written since: commands that nobody was answered come back, and
answered ones are refused. The packaged server cuts its log before the transaction by itself.
"""

import re
import subprocess
from pathlib import Path

from services.serve.binary import is_packaged

_COUNT = re.compile(rb"[*](\d+)\r\n")
_SIZE = re.compile(rb"[$](\d+)\r\n")
_BEGUN = re.compile(rb"[*$]\d*\r?")
_WHOLE_UNTIL = re.compile(r"ok_up_to=(\d+)")


def mend(server: Path, folder: Path) -> int:
    """Cut a torn transaction off the log in the store's `folder`, for `server` to start; how many bytes went.

    Anything else that is wrong with the log is left for the server to refuse.
    """
    logs = list((folder / "appendonlydir").glob("*.incr.aof"))
    if is_packaged(server) or not logs:
        return 0
    log = max(logs, key=lambda file: int(file.name.split(".")[-3]))
    whole = _whole_until(server, log)
    with log.open("r+b") as file:
        file.seek(whole)
        tail = file.read()
        if not tail or not is_torn(tail):
            return 0
        file.truncate(whole)
    return len(tail)


def is_torn(tail: bytes) -> bool:
    """Is it the beginning of commands as a log has them, and nothing else?"""
    place = 0
    while place < len(tail):
        count = _COUNT.match(tail, place)
        if count is None:
            return _BEGUN.fullmatch(tail, place) is not None and tail[place : place + 1] == b"*"
        place = count.end()
        for _ in range(int(count[1])):
            size = _SIZE.match(tail, place)
            if size is None:
                return place >= len(tail) or (_BEGUN.fullmatch(tail, place) is not None and tail[place] == ord("$"))
            place = size.end() + int(size[1])
            if not b"\r\n".startswith(tail[place : place + 2]):
                return False
            place += 2
    return True


def _whole_until(server: Path, log: Path) -> int:
    """Where the last whole transaction ends. Every server checks a log when it is called by this other name."""
    name = "valkey-check-aof" if "valkey" in server.name else "redis-check-aof"
    done = subprocess.run([name, str(log)], executable=server, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    found = _WHOLE_UNTIL.search(done.stdout)
    return int(found[1]) if found else log.stat().st_size
