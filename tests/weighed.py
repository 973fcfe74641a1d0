"""The command `marias` in a process of its own that is weighed at its end."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests import sources

GROWTH_MIB_MAX = 150
"""What a command may take beyond what it takes for nothing, whatever is in the files."""

# Told by the process itself: what the system counts for a child begins with the size of its parent.
_WEIGHED = """\
import atexit, sys
def weigh(told=sys.argv[1]):
    with open("/proc/self/status") as lines, open(told, "w") as out:
        out.write(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
atexit.register(weigh)
sys.argv = ["marias", *sys.argv[2:]]
from services.cli import main
sys.exit(main())
"""


class Weighed(NamedTuple):
    """How a command ended, what it wrote, and the most memory it had, MiB."""

    status: int
    out: str
    err: str
    mib: float


def marias(scratch: Path, *words: str, stdin: Path | None = None, environment: dict[str, str] | None = None) -> Weighed:
    """Run `marias` with `words`; `scratch` is a folder to keep a number in."""
    told = scratch / "peak"
    with Path("/dev/null" if stdin is None else stdin).open("rb") as source:
        done = subprocess.run(
            [sys.executable, "-c", _WEIGHED, str(told), *words], stdin=source, capture_output=True, text=True,
            errors="replace", check=False, timeout=900, cwd=sources.ROOT, env={**os.environ, **(environment or {})},
        )
    return Weighed(done.returncode, done.stdout, done.stderr, int(told.read_text()) / 1024)


def is_refused(ended: Weighed, *told: str) -> bool:
    """Did it end with status 1, the reasons and no traceback? Says so in a failing assert when not."""
    said = ended.out + ended.err
    assert ended.status == 1, (ended.status, said[-2000:])
    assert "Traceback" not in said, said[-4000:]
    assert all(each in said for each in told), said[-2000:]
    return True
