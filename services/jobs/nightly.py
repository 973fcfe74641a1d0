"""The job that starts the audit of a night, in a process of its own: bots' moves must not wait behind it."""

import logging
import os
import subprocess
import sys

from services.jobs.store import auditor_settings

NICE = 10

_log = logging.getLogger(__name__)
_running: list[subprocess.Popen[bytes]] = []


def nightly_audit(night: str) -> None:
    """The job. While one runs, another is not started; of two on two machines the store lets one go on.

    It ends with this process, or by itself; what it has done is noted, and the next one goes on there.
    """
    while _running and _running[0].poll() is not None:
        status = _running.pop(0).returncode
        _log.info("the audit has ended with %d", status)
    if not _running:
        command = [sys.executable, "-P", "-m", "services.cli", "audit", "--all", "--night", night]
        _running.append(subprocess.Popen(
            command, env={**os.environ, **auditor_settings()}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            preexec_fn=_behind,  # noqa: PLW1509  The worker of rq has one thread.
        ))


def _behind() -> None:
    os.nice(NICE)


def end() -> None:
    """This process ends, and the audit with it."""
    for process in _running:
        if process.poll() is None:
            process.terminate()
            process.wait()
