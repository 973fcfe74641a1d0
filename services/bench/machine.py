"""What a bench needs to know of the machine: which cores there are, and what each process has used of them."""

import contextlib
import os
import platform
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


def describe() -> str:
    """The machine and the Python, in one line."""
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{_processor()}, {os.cpu_count()} cores, {system}"


def cores() -> list[int]:
    """The cores this process may use; [] where a process cannot be bound to one."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def bind(core: int) -> None:
    """Run this process, and what it starts from now on, on one core."""
    os.sched_setaffinity(0, {core})


def cpu_seconds(root: int) -> dict[str, float]:
    """CPU seconds used so far by process `root` and all below it, by what they are; {} where /proc is missing."""
    used: dict[str, float] = {}
    for pid, seconds in _tree(root).items():
        name = _name(pid)
        used[name] = used.get(name, 0.0) + seconds
    return used


def cpu_seconds_exactly(root: int) -> float:
    """CPU seconds used so far by process `root` and all below it, to the nanosecond where the kernel tells."""
    return sum(_nanoseconds(pid) for pid in _tree(root)) / 1e9 or sum(cpu_seconds(root).values())


def _nanoseconds(pid: int) -> int:
    total = 0
    for thread in (_PROC / str(pid) / "task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # It has ended meanwhile.
            total += int(thread.read_text().split()[0])
    return total


def processes(root: int, name: str) -> list[int]:
    """The processes below `root` that are `name`, as in `cpu_seconds`."""
    return [pid for pid in _tree(root) if pid != root and _name(pid) == name]


def _tree(root: int) -> dict[int, float]:
    """Process id -> CPU seconds."""
    rows = {pid: row for pid in _pids() if (row := _row(pid)) is not None}
    wanted = {root}
    while more := {pid for pid, (parent, _) in rows.items() if parent in wanted} - wanted:
        wanted |= more
    return {pid: rows[pid][1] for pid in wanted if pid in rows}


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()] if _PROC.is_dir() else []


def _row(pid: int) -> tuple[int, float] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None  # It has ended meanwhile.
    fields = text.rpartition(")")[2].split()  # The name before it may hold anything.
    ticks = sum(map(int, fields[11:15]))  # Of its own, and of its children that have ended.
    return int(fields[1]), ticks / _TICKS


def _name(pid: int) -> str:
    """The role of one of our processes, else the name of its program."""
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return "ended"
    if "services.cli" in words:
        return words[words.index("services.cli") + 1]
    program = Path(words[0].partition(" ")[0]).name  # A store, and its child that writes its log anew, say more there.
    return "store" if program.startswith(("valkey", "redis")) else program or "ended"


def _processor() -> str:
    try:
        lines = (_PROC / "cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
