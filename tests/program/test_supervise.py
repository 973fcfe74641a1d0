"""The parent of the children: it restarts the dead, gives up only before all was up, and stops stage by stage."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from services.serve import supervise
from services.serve.child import BACK_OFF_SECONDS, Child
from services.serve.supervise import EARLY_DEATHS_MAX, CannotStart, Supervisor

FOREVER = "import time; time.sleep(60)"


class Asked:
    """A probe that says what it is told to say."""

    def __init__(self, ready: bool = True) -> None:
        self.ready = ready

    def poll(self) -> bool:
        return self.ready

    def close(self) -> None:
        pass


def child(name: str, program: str, **rest) -> Child:
    return Child(name=name, command=[sys.executable, "-u", "-c", program], environment=dict(os.environ), **rest)


def run(children, when, *, verbose=False, ready=True, order=None):
    """Supervise until `when(supervisor)` holds; the lines that were said."""
    said: list[str] = []
    supervisor = Supervisor(children, said.append, verbose=verbose)
    turn = supervisor._turn
    end = time.monotonic() + 90

    def watched(seconds: float) -> None:
        turn(min(seconds, 0.05))
        if not supervisor.stopping and when(said):
            os.kill(os.getpid(), signal.SIGTERM)
        assert time.monotonic() < end, said

    supervisor._turn = watched
    supervisor.run(Asked(ready), lambda: said.append("READY"), order or [[each.name for each in children]])
    return said


def test_a_child_that_dies_is_started_again_at_once_and_it_is_said(tmp_path):
    once = tmp_path / "once"
    program = f"import os; p={str(once)!r}\nif os.path.exists(p): print('back'); import time; time.sleep(60)\n" \
              "open(p, 'w').close(); os._exit(3)"
    said = run([child("worker", program)], lambda said: "worker    | back" in said)
    assert "worker ended (exit status 3); it is started again at once" in said


def test_a_killed_child_is_told_by_the_name_of_the_signal():
    one = child("worker", FOREVER)
    killed = []

    def when(said: list[str]) -> bool:
        if "READY" in said and not killed:
            killed.append(one.pid)
            os.kill(one.pid, signal.SIGKILL)
        return any("SIGKILL" in line for line in said) and one.pid not in (None, *killed)

    said = run([one], when)
    assert "worker ended (killed by SIGKILL); it is started again at once" in said


def test_the_waits_before_a_restart_grow_and_are_bounded():
    one = child("worker", "pass")
    waits = []
    for _ in range(len(BACK_OFF_SECONDS) + 2):
        one.start()
        one.process.wait()
        waits.append(one.bury())
    assert waits == [*BACK_OFF_SECONDS, BACK_OFF_SECONDS[-1], BACK_OFF_SECONDS[-1]]


def test_a_child_that_was_long_healthy_is_started_again_at_once(monkeypatch):
    one = child("worker", "pass")
    for _ in range(3):
        one.start()
        one.process.wait()
        one.bury()
    one.start()
    one.process.wait()
    one.started -= 3600
    assert one.bury() == 0.0


def test_what_cannot_start_ends_the_program_and_its_last_lines_are_shown():
    with pytest.raises(CannotStart, match=rf"worker ended {EARLY_DEATHS_MAX} times[\s\S]*no such thing"):
        run([child("worker", "import sys; sys.exit('no such thing')")], lambda said: False, ready=False)


def test_lines_carry_the_name_of_the_child_and_broken_ones_are_kept():
    program = f"import os; os.write(1, b'one\\ntwo'); os.close(1); os.close(2); {FOREVER}"
    said = run([child("jobs", program)], lambda said: "jobs      | two" in said)
    assert said.index("jobs      | one") < said.index("jobs      | two")


def test_the_chatter_of_the_store_is_shown_only_on_demand():
    chatty = [child("store", f"print('hello'); {FOREVER}", chatty=True)]
    heard = [child("worker", f"import time; time.sleep(0.3); print('late'); {FOREVER}")]
    quiet = run(chatty + heard, lambda said: "worker    | late" in said)
    assert "store     | hello" not in quiet
    loud = [child("store", f"print('hello'); {FOREVER}", chatty=True)]
    assert "store     | hello" in run(loud, lambda said: "store     | hello" in said, verbose=True)


def test_the_end_comes_stage_by_stage_and_the_store_is_last(tmp_path, monkeypatch):
    monkeypatch.setattr(supervise, "STOP_SECONDS", 60.0)  # Nobody is killed for being slow.
    diary = tmp_path / "diary"
    program = (
        "import os, signal, sys, time\n"
        "def leave(number, frame):\n"
        f"    with open({str(diary)!r}, 'a') as file: file.write(NAME + ' ')\n"
        "    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, leave); print('up'); time.sleep(60)"
    )
    names = ["store", "front", "worker-1", "worker-2", "jobs"]
    children = [child(name, f"NAME={name.split('-')[0]!r}\n{program}") for name in names]
    run(children, lambda said: sum(line.endswith("| up") for line in said) == len(names),
        order=[["front"], ["worker"], ["jobs"], ["store"]])
    assert diary.read_text() == "front worker worker jobs store "


def test_a_child_that_will_not_stop_is_killed():
    deaf = child("worker", f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up'); {FOREVER}")
    run([deaf], lambda said: "worker    | up" in said)
    assert deaf.pid is None


def test_a_child_does_not_outlive_a_parent_that_is_killed(tmp_path):
    """The parent is a process of its own here, killed without a chance to clean up."""
    program = (
        "import os, sys, time\nfrom services.serve.child import Child\n"
        f"c = Child(name='x', command=[sys.executable, '-c', {FOREVER!r}], environment=dict(os.environ)); c.start()\n"
        "print(c.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    orphan = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    _await_end(orphan)


def test_the_guard_ends_its_program_where_the_system_has_no_signal_for_it(tmp_path):
    program = (
        "import os, sys, time, subprocess\n"
        f"c = subprocess.Popen([sys.executable, '-m', 'services.serve.guard', sys.executable, '-u', '-c', "
        f"{'import os; print(os.getpid()); ' + FOREVER!r}])\ntime.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    orphan = int(parent.stdout.readline())
    parent.kill()
    parent.stdout.close()
    parent.wait()
    _await_end(orphan)


def _await_end(pid: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    pytest.fail(f"process {pid} outlived its parent")
