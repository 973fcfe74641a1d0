"""Runs one program and kills it when our own parent dies: for systems without a signal for that."""

import os
import signal
import subprocess
import sys
import time

POLL_SECONDS = 0.2


def main(command: list[str]) -> int:
    """Run `command` to its end and return its exit status; pass stop signals on."""
    parent = os.getppid()
    child = subprocess.Popen(command, close_fds=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: child.send_signal(number))
    while child.poll() is None:
        if os.getppid() != parent:
            child.kill()
        time.sleep(POLL_SECONDS)
    return child.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
