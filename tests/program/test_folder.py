"""The data folder: one program at a time, no stale lock, a socket that every system can bind, private to its owner."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from services.serve import embedded, folder
from tests import servers


def _hold(data: Path, how: str) -> subprocess.Popen[bytes]:
    """Another process that holds a lock of the folder."""
    program = f"from pathlib import Path; from services.serve import folder; held = folder.{how}(Path({str(data)!r}))"
    other = subprocess.Popen(
        [sys.executable, "-c", f"{program}; print('held', flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(folder.__file__).parents[2],
    )
    assert other.stdout is not None
    other.stdout.readline()
    return other


def _end(other: subprocess.Popen[bytes]) -> None:
    other.kill()
    other.communicate()


def test_a_second_program_is_told_who_uses_the_folder_and_what_to_do(tmp_path):
    folder.prepare(tmp_path)
    other = _hold(tmp_path, "lock")
    with pytest.raises(folder.FolderInUse, match=rf"process {other.pid}[\s\S]*--data DIR"):
        folder.lock(tmp_path)
    _end(other)


def test_the_lock_of_a_killed_program_does_no_harm(tmp_path):
    folder.prepare(tmp_path)
    _end(_hold(tmp_path, "lock"))
    folder.lock(tmp_path).close()


def test_a_store_that_does_not_end_is_named(tmp_path):
    folder.prepare(tmp_path)
    other = _hold(tmp_path, "lock_store")
    with pytest.raises(folder.FolderInUse, match="does not end"):
        folder.lock_store(tmp_path, seconds_max=0.05)
    _end(other)


def test_only_the_owner_may_look_into_the_data_folder(tmp_path):
    folder.prepare(tmp_path / "data")
    for made in (tmp_path / "data", tmp_path / "data" / "store", tmp_path / "data" / "keys"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_deep_folder_gets_a_short_socket_of_its_own(tmp_path):
    deep, other = tmp_path / ("d" * 100), tmp_path / ("e" * 100)
    assert len(os.fsencode(folder.socket_path(deep))) <= folder.SOCKET_PATH_BYTES_MAX
    assert folder.socket_path(deep) == folder.socket_path(deep) != folder.socket_path(other)


def test_letters_outside_ascii_count_as_the_bytes_they_are(tmp_path):
    data = Path("/srv") / ("č" * 45)
    assert len(str(data / "store" / "store.sock")) < folder.SOCKET_PATH_BYTES_MAX
    assert folder.socket_path(data).name != "store.sock"


def test_a_short_folder_that_others_may_enter_is_not_trusted(tmp_path, monkeypatch):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o755)
    monkeypatch.setattr(folder, "socket_path", lambda data: open_to_all / "s.sock")
    with pytest.raises(PermissionError, match="mode 700"):
        folder.prepare_socket(tmp_path)


def test_what_runs_is_known_while_it_runs(tmp_path):
    running = folder.Running(pid=os.getpid(), http="http://127.0.0.1:1", redis_url="unix:///s", jobs_redis_url="unix:///s")
    assert folder.read_running(tmp_path) is None
    folder.write_running(tmp_path, running)
    assert folder.read_running(tmp_path) == running
    folder.forget_running(tmp_path)
    folder.forget_running(tmp_path)
    assert folder.read_running(tmp_path) is None


def test_the_note_of_a_killed_program_is_not_believed(tmp_path):
    other = _hold(tmp_path, "lock")
    folder.write_running(tmp_path, folder.Running(pid=other.pid, http="", redis_url="", jobs_redis_url=""))
    _end(other)
    assert folder.read_running(tmp_path) is None


def test_a_half_written_note_is_not_believed(tmp_path):
    (tmp_path / "run.json").write_text('{"pid": 1')
    assert folder.read_running(tmp_path) is None


@pytest.mark.parametrize("kind", ["valkey", "redis"])
def test_an_orphaned_store_is_stopped_and_its_socket_is_free(kind):
    orphan = servers.Server(servers.program(kind))
    try:
        orphan.start()
        assert orphan.process is not None
        assert embedded.end_orphan(orphan.path)
        orphan.process.wait(60)
        assert embedded.ask(orphan.path, "PING") is None
        assert not embedded.end_orphan(orphan.path)
    finally:
        orphan.remove()
