"""The mutation table: each guard of the promise is taken out in turn, and a named test must turn red.

A guard that no test misses is not known to work. The tests run on a copy of the tree; without a mutation they are
green there. A mutation whose text is no longer in the source is an error: the table must follow the code.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests import sources

SECONDS_MAX = 300.0
"""A mutation may make a test run for ever; that is noticed as well."""


class Mutation(NamedTuple):
    """What is taken out: in `file`, `before` stands exactly once and becomes `after`; `tests` must notice.

    The `promised` ones are tried by the test suite as well.
    """

    guard: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    promised: bool = False


class Noticed(NamedTuple):
    """Which of the named tests turned red."""

    mutation: Mutation
    red: tuple[str, ...]


APPLY, INTAKE = "services/store/lua/apply.lua", "services/store/lua/intake.lua"
APPENDED, TAKEN_IN = "tests/store/test_append.py", "tests/store/test_intake.py"
WORKED, HANDLED = "tests/worker/test_faults.py", "tests/worker/test_commands.py"

MUTATIONS = (
    Mutation(
        "the fence: a late owner writes nothing", APPLY,
        "if redis.call('GET', lease) ~= ARGV[1] then return {'fenced'} end", "",
        (f"{APPENDED}::test_an_old_owner_writes_nothing",
         f"{WORKED}::test_a_paused_owner_that_wakes_up_is_fenced"),
        promised=True,
    ),
    Mutation(
        "the lease: one owner at a time", "services/store/lua/claim.lua",
        "if owner and string.match(owner, '^%d+:(.*)$') ~= ARGV[1] then", "if false then",
        (f"{APPENDED}::test_leases_are_exclusive_and_each_fence_is_new",),
    ),
    Mutation(
        "the dedupe in apply: a key has one effect", APPLY,
        "if stored then", "if false then",
        (f"{APPENDED}::test_a_key_that_was_answered_keeps_its_receipt_and_the_cursor_moves_on",
         f"{HANDLED}::test_a_key_that_slipped_past_intake_is_still_applied_once"),
        promised=True,
    ),
    Mutation(
        "the dedupe in intake: a key is queued once", INTAKE,
        "if reserved then", "if false then",
        (f"{TAKEN_IN}::test_a_command_sent_several_times_is_queued_once",
         f"{HANDLED}::test_a_refused_command_repeated_with_its_key_gets_the_same_refusal"),
        promised=True,
    ),
    Mutation(
        "the fingerprint: another body under a used key", INTAKE,
        "if reserved ~= fingerprint then return {'reused'} end", "",
        (f"{TAKEN_IN}::test_another_body_under_a_used_key_is_refused",),
    ),
    Mutation(
        "the version test: events follow without a gap", APPLY,
        "if found ~= expected then", "if false then",
        (f"{APPENDED}::test_only_the_next_version_is_appended",),
        promised=True,
    ),
    Mutation(
        "the chain of cursors: no command is passed by", APPLY,
        "if cursor ~= previous then", "if false then",
        (f"{APPENDED}::test_after_a_conflict_nothing_of_the_partition_is_written_not_even_of_another_table",
         f"{APPENDED}::test_a_command_sent_again_under_the_cursor_is_behind"),
        promised=True,
    ),
    Mutation(
        "the wait for replicas, before anybody hears of it", "services/store/routing.py",
        "len({(host, port) for host, port, at in after[2] if int(at) >= before[1]})", "99",
        ("tests/store/test_replicas.py::test_a_command_is_taken_in_once_a_replica_has_it",
         "tests/store/test_replicas.py::test_live_readers_are_told_only_what_a_replica_has"),
        promised=True,
    ),
    Mutation(
        "where sentinels watch: all replicas confirm, not some", "services/store/topology.py",
        "return least if watchers is None or not least else max(least, watchers.known)", "return least",
        ("tests/store/test_replicas.py::TestWhereSentinelsWatch::test_one_of_two_is_not_enough",
         "tests/store/test_replicas.py::TestWhereSentinelsWatch"
         "::test_one_that_is_gone_is_waited_for_until_the_sentinels_forget_it"),
    ),
    Mutation(
        "a replica confirms once, over however many connections", "services/store/routing.py",
        "len({(host, port) for host, port, at in after[2] if int(at) >= before[1]})",
        "len([(host, port) for host, port, at in after[2] if int(at) >= before[1]])",
        ("tests/store/test_replicas.py::test_who_has_confirmed",),
    ),
    Mutation(
        "what is read is shown once replicas have it", "services/store/views.py",
        'replies = ask_all(redis, [("HMGET", keys.view(table), *_VIEW) for table in tables], confirmed=True)',
        'replies = ask_all(redis, [("HMGET", keys.view(table), *_VIEW) for table in tables])',
        ("tests/store/test_replicas.py::test_what_is_read_is_shown_once_a_replica_has_it",),
    ),
    Mutation(
        "nobody acts on news that replicas have not got", "services/store/outbox.py",
        "if not news or not replicas_of(redis):", "if True:",
        ("tests/store/test_replicas.py::test_nobody_acts_on_what_is_not_confirmed",),
    ),
    Mutation(
        "the cursor goes on together with the events", APPLY,
        "redis.call('HSET', state, 'cur', command)\nif ARGV[5] ~= '' then -- As", "if ARGV[5] ~= '' then -- As",
        (f"{APPENDED}::test_an_applied_command_is_in_the_stream_the_receipts_the_feed_the_view_and_the_log",),
    ),
    Mutation(
        "types are checked before the first write", APPLY,
        "redis.call('XLEN', feed)", "",
        (f"{APPENDED}::test_a_key_of_a_wrong_type_leaves_nothing_half_done",),
    ),
    Mutation(
        "a bell with a hole before it is not believed", "services/worker/inbox.py",
        "if previous == self._ends[partition]:", "if previous:",
        ("tests/worker/test_inbox.py::test_lost_and_repeated_bells_make_no_hole_and_no_double",),
    ),
    Mutation(
        "the clock is exempt from full queues", "services/intake.py",
        "0 if actor == CLOCK else most_waiting(kind)", "most_waiting(kind)",
        (f"{TAKEN_IN}::test_a_full_partition_is_busy_and_the_clock_is_exempt",),
        promised=True,
    ),
    Mutation(
        "a gap in the store's time takes nobody's turn", "engine/table/decide.py",
        "grant(table, command.now, gaps) if gaps else ()", "()",
        ("tests/table/test_clock.py::TestGaps",),
    ),
    Mutation(
        "dead letters: workers do not die for ever", "services/worker/batch.py",
        "if tried > DEATHS_MAX or dies(decide, self._tables.pulse):", "if False:",
        (f"{WORKED}::test_a_command_that_kills_its_worker_is_parked_by_a_careful_successor",),
        promised=True,
    ),
    Mutation(
        "an event of a newer build is not guessed at", "services/worker/held.py",
        "if not isinstance(written, int) or written > known:", "if False:",
        (f"{WORKED}::test_an_event_of_a_newer_build_stops_the_partition_here_and_loses_nothing",),
    ),
    Mutation(
        "a hand is its seat's alone", "engine/games/voleny/view.py",
        "hand = None if seat is None or deck is None else _dealt_to(deck, (seat - _forehand(dealer)) % SEATS)",
        "hand = None if deck is None else _dealt_to(deck, (0 - _forehand(dealer)) % SEATS)",
        ("tests/table/test_feed.py",
         "tests/projections/test_projections.py::test_a_record_shows_each_player_the_own_cards_only"),
        promised=True,
    ),
    Mutation(
        "an account goes on from the version that was seen", "services/store/lua/account.lua",
        "if (redis.call('HGET', account, 'v') or '0') ~= seen then return 0 end",
        "seen = redis.call('HGET', account, 'v') or '0'",
        ("tests/bank/test_accounts.py::test_many_at_once_lose_no_chip",),
    ),
    Mutation(
        "a transfer is done once", "engine/bank.py",
        "    if earlier is not None:\n        return ()\n", "",
        ("tests/bank/test_accounts.py::test_a_transfer_is_done_once",),
    ),
)


def main(say: Callable[[str], None]) -> int:
    """Print the table; 0 if each mutation was noticed."""
    holes = 0
    for noticed in run(MUTATIONS):
        holes += not noticed.red
        say(line(noticed))
    say(f"{len(MUTATIONS)} guards taken out in turn, {holes} of them unnoticed")
    return 1 if holes else 0


def line(noticed: Noticed) -> str:
    """One row of the table."""
    red = ", ".join(_short(each) for each in noticed.red)
    return f"{noticed.mutation.guard:55} {red or 'NOBODY NOTICED'}"


def is_current(mutation: Mutation) -> bool:
    """Does what is to be taken out stand in the source, once?"""
    return (sources.ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.before) == 1


def run(mutations: Sequence[Mutation]) -> Iterator[Noticed]:
    """Try each on one copy of the tree. Raises AssertionError if the copy is not green as it is."""
    with TemporaryDirectory(prefix="marias-mutations-") as folder:
        tree = Path(folder)
        copy(tree)
        named = sorted({test for each in mutations for test in each.tests})
        assert (red := red_of(tree, named)) == (), f"red without a mutation: {red}"
        for each in mutations:
            with mutated(tree, each):
                yield Noticed(each, red_of(tree, each.tests))


def copy(tree: Path) -> None:
    """What the tests need of the checkout: its own files, as they are now."""
    for file in sources.tracked():
        target = tree / file.relative_to(sources.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


@contextmanager
def mutated(tree: Path, mutation: Mutation) -> Iterator[None]:
    """The guard is out meanwhile. Raises AssertionError when its text does not stand there exactly once."""
    file = tree / mutation.file
    whole = file.read_text(encoding="utf-8")
    found = whole.count(mutation.before)
    assert found == 1, f"{mutation.guard}: its text stands {found} times in {mutation.file}: {mutation.before}"
    _write(file, whole.replace(mutation.before, mutation.after))
    try:
        yield
    finally:
        _write(file, whole)


def _write(file: Path, text: str) -> None:
    """A compiled file that was made in the same second would pass for fresh."""
    file.write_text(text, encoding="utf-8")
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()


def red_of(tree: Path, tests: Sequence[str]) -> tuple[str, ...]:
    """Those of `tests`, as they are named in the table, that are not green in the tree."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    plain = {"PYTHONPATH": str(tree), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # Plug-ins take longer than the tests.
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", *tests]
    process = subprocess.Popen(
        command, cwd=tree, env={**kept, **plain}, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return tuple(tests)
    assert process.returncode in (0, 1), said
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    return tuple(test for test in tests if any(each == test or each.startswith((test + "::", test + "["))
                                               for each in failed))


def _short(test: str) -> str:
    return test.rpartition("::")[2].rpartition("/")[2]


if __name__ == "__main__":
    started = time.monotonic()
    status = main(print)
    print(f"{time.monotonic() - started:.0f} s")
    sys.exit(status)
