"""`marias replay` at a real store: any deal at once, in both languages, as JSON, step by step, on a terminal too."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from select import select

import pytest

from services.cli import replay
from services.store import keys
from services.store.connect import connect
from tests import servers, sources
from tests.projections.tables import Tables, follow, seated

TABLE = "t-0c-0123456789ab"
DEALS = 4

pytestmark = pytest.mark.server


@dataclass
class Store:
    """A store with a table that has played some deals and is in the next one."""

    server: servers.Server
    tables: Tables

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "services.cli", "replay", TABLE, *words]

    def environment(self) -> dict[str, str]:
        return os.environ | {"REDIS_URL": self.server.url, "NO_COLOR": "1"}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), env=self.environment(), cwd=sources.ROOT, capture_output=True, text=True,
            timeout=180, check=False,
        )

    def lines(self, *words: str) -> list[str]:
        done = self.run(*words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    server = servers.Server(servers.program("valkey"))
    server.start()
    redis = connect(server.url)
    tables = seated(redis, TABLE)
    tables.play(TABLE, deals=DEALS)
    tables.deal(TABLE)
    tables.move(TABLE)
    follow(redis)
    yield Store(server, tables)
    redis.close()
    server.remove()


def test_a_deal_by_its_number_is_what_it_is_among_all(store: Store) -> None:
    together = [json.loads(line) for line in store.lines("--seat", "1", "--json")]
    assert len(together) == store.tables.versions[TABLE]
    for number in range(1, DEALS + 2):
        alone = [json.loads(line) for line in store.lines("--deal", str(number), "--seat", "1", "--json")]
        assert alone == [moment for moment in together if moment["deal"] == number]


def test_a_deal_is_told_with_hands_calls_result_and_time(store: Store) -> None:
    for lang, says in (("en", ["Deal 2", "holds", "chips:", "time used:"]), ("cs", ["Hra 2", "drží:", "spotřebovaný"])):
        text = "\n".join(store.lines("--deal", "2", "--auditor", "--lang", lang))
        assert [each for each in says if each not in text] == []
        assert text.count("drží:" if lang == "cs" else "holds") == 3
    own = "\n".join(store.lines("--deal", "2", "--seat", "0"))
    assert own.count("holds") == 1
    assert "holds" not in "\n".join(store.lines("--deal", "2"))


def test_each_step_shows_what_could_be_seen(store: Store) -> None:
    text = "\n".join(store.lines("--deal", "2", "--seat", "0", "--step"))
    moments = [json.loads(line) for line in store.lines("--deal", "2", "--seat", "0", "--json")]
    assert text.count("— ") >= len(moments)
    for says in ("to act:", "time used:", "Ana holds"):
        assert says in text


def test_where_projections_stand_still_the_events_still_tell(store: Store) -> None:
    wanted = store.lines("--deal", "3", "--seat", "2", "--json")
    with connect(store.server.url) as redis:
        kept = redis.hgetall(keys.bank(TABLE))
        redis.delete(keys.bank(TABLE))
        try:
            assert store.lines("--deal", "3", "--seat", "2", "--json") == wanted
        finally:
            redis.hset(keys.bank(TABLE), mapping=kept)


def test_a_deal_that_there_is_not_is_refused_in_words(store: Store) -> None:
    done = store.run("--deal", "99")
    assert done.returncode == 1
    assert f"There is no deal 99 at {TABLE}." in done.stderr


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, store: Store, *words: str) -> None:
        self._here, there = pty.openpty()
        self.process = subprocess.Popen(
            store.command(*words), env=store.environment() | {"TERM": "xterm"}, cwd=sources.ROOT,
            stdin=there, stdout=there, stderr=there, start_new_session=True,
        )
        os.close(there)

    def until(self, says: str, seconds: float = 60.0) -> str:
        """What comes up to these words."""
        heard, end = "", time.monotonic() + seconds
        while says not in heard:
            if time.monotonic() > end:
                self.process.kill()
                pytest.fail(f"{says!r} did not come, but {heard!r}")
            if select([self._here], [], [], 0.2)[0]:
                heard += os.read(self._here, 4096).decode(errors="replace")
        return heard

    def press(self, keys: str) -> None:
        os.write(self._here, keys.encode())

    def close(self) -> int:
        """How it ended."""
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self._here)


def test_on_a_terminal_one_goes_to_and_fro(store: Store) -> None:
    first, second, third = (
        json.loads(line)["version"] for line in store.lines("--deal", "2", "--json")[:3]
    )
    terminal = Terminal(store, "--deal", "2", "--step")
    assert f"— {second}," not in terminal.until("q ends.")
    terminal.press("\r")
    terminal.until(f"— {second},")
    terminal.press("\x1b[C")
    terminal.until(f"— {third},")
    terminal.press("b")
    terminal.until(f"— {second},")
    terminal.press("\x1b[D")
    terminal.until(f"— {first},")
    terminal.press("q")
    assert terminal.close() == 0


def test_ctrl_c_ends_it_quietly(store: Store) -> None:
    terminal = Terminal(store, "--step")
    terminal.until("q ends.")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.close() == 130


def test_an_interrupt_between_two_keys_is_not_waited_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it comes in the moment before the wait, when there is no wait yet to be interrupted."""
    ours, there = pty.openpty()
    with os.fdopen(ours, "wb", buffering=0), os.fdopen(there, "rb", buffering=0) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        missed = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            with replay._keys() as next_key:
                os.write(ours, b"n")
                assert next_key() == "n"
                signal.raise_signal(signal.SIGINT)
                with pytest.raises(KeyboardInterrupt):
                    next_key()
        finally:
            signal.signal(signal.SIGINT, missed)
