"""The checker: what clients saw against what the store holds, once all is quiet.

Each ok is in the stream once and at its version, each refusal is not there, each unknown at most once; versions have
no hole and are linked by their hashes; a replay from the first event gives the state, the views of all seats and every
message that was pushed; no chip has come or gone; projections are what a rebuild makes of them; nothing was given up;
finished deals were fair and are logged once each, as every head has told; and the audit of it all has found nothing.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec
from redis import Redis

from services.processes import settlement
from services.projections.rebuild import rebuild
from services.store import chain, cold, deal_log, history, keys, outbox
from services.store.history import Recorded
from services.store.outbox import place
from services.store.wire import ask, fields_of
from services.transparency.leaves import Told
from tests.faults.audited import Beside, check_audit
from tests.faults.chips import check_chips
from tests.faults.fair import Seen, check_fair, ended
from tests.faults.history import Operation, Pushed
from tests.faults.logged import check_log
from tests.faults.replays import check_table
from tests.faults.verdict import Verdict

PAGE = 1_000

_decode = msgspec.json.Decoder(dict[str, object]).decode


def check(
    redis: Redis,
    partitions: Sequence[str],
    operations: Sequence[Operation],
    pushed: Sequence[Pushed] = (),
    *,
    complete: bool = False,
    dead_letters: int = 0,
    projections: bool = True,
    beside: Beside | None = None,
) -> Verdict:
    """Look at everything. Nobody may write meanwhile: end the roles, or wait with `await_quiet` and end the load.

    `complete`: no other commands than `operations` were sent by their actors to their tables. So many `dead_letters`
    are expected. `projections` are rebuilt and compared, which writes to the store. With what lies `beside` the store
    deals and their log are checked too, and everything is audited.
    """
    verdict = Verdict(operations=len(operations), pushed=len(pushed))
    by_table: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        by_table[operation.table].append(operation)
    heard: dict[str, list[Pushed]] = defaultdict(list)
    for each in pushed:
        heard[each.table].append(each)
    tables = [table for partition in partitions for table in history.tables_of(redis, partition)]
    at_tables, finished = 0, list[Told]()
    for table in sorted({*tables, *by_table, *heard}):
        entries = _entries(redis, table, verdict)
        check_operations(table, by_table[table], entries, verdict, complete=complete)
        check_chain(table, entries, verdict)
        _check_receipts(redis, table, entries, verdict)
        at_tables += check_table(redis, table, entries, heard[table], verdict)
        if beside is not None:
            finished += _check_deals(table, entries, by_table[table], beside, verdict)
    verdict.tables = len(tables)
    check_chips(redis, partitions, at_tables, verdict)
    _check_dead_letters(redis, partitions, dead_letters, verdict)
    if beside is not None:
        check_log(redis, finished, beside.kept, beside.heads, verdict)
        check_audit(redis, partitions, beside, verdict)
    if projections:
        _check_projections(redis, partitions, verdict)
    return verdict


def check_operations(
    table: str, operations: Iterable[Operation], entries: Sequence[Recorded], verdict: Verdict, *, complete: bool
) -> None:
    """Each ok once and at its version, each refusal never, each unknown at most once."""
    written: dict[tuple[str, str], list[int]] = defaultdict(list)
    for entry in entries:
        written[entry.actor, entry.key].append(entry.version)
    for (actor, key), versions in written.items():
        if len(versions) > 1:
            verdict.add("doubled", f"{table}: {actor}/{key} at versions {versions}")
    sent = set()
    for operation in operations:
        sent.add((operation.actor, operation.key))
        _check_operation(operation, written.get((operation.actor, operation.key), []), verdict)
    actors = {actor for actor, _ in sent}
    if complete:
        for entry in entries[1:]:  # The first is the opening, which is no command to a table.
            if entry.actor in actors and (entry.actor, entry.key) not in sent:
                verdict.add("ghost entry", f"{table}: {entry.actor}/{entry.key} at version {entry.version}")


def _check_operation(operation: Operation, versions: list[int], verdict: Verdict) -> None:
    named = f"{operation.table}: {operation.actor}/{operation.key} {operation.body.get('type')}"
    if len(operation.answers) > 1:
        verdict.add("other outcome", f"{named} was answered {' and '.join(operation.answers)}")
    if operation.outcome == "ok" and not versions:
        verdict.add("lost", f"{named} was acknowledged as version {operation.version}")
    elif operation.outcome == "ok" and operation.version is not None and operation.version not in versions:
        verdict.add("other outcome", f"{named} was told version {operation.version}, written as {versions}")
    elif operation.outcome == "refused" and versions:
        verdict.add("ghost refusal", f"{named} was refused as {operation.code}, written as {versions}")
    elif operation.outcome == "unknown":
        verdict.unknown_applied += bool(versions)


def _check_deals(
    table: str, entries: Sequence[Recorded], operations: Sequence[Operation], beside: Beside, verdict: Verdict
) -> list[Told]:
    """The finished deals of a table were fair; gives what the log must tell of them."""
    try:
        dealt = list(ended(table, entries))
    except Exception:  # What cannot be read is told by the replay.
        return []
    told = [each for each in beside.proofs if each.table == table]
    check_fair(table, dealt, Seen(operations, told, beside.open_key), verdict)
    return [each.told for each in dealt]


def check_chain(table: str, entries: Sequence[Recorded], verdict: Verdict) -> None:
    """Each entry bears the hash of what it says and of all before it; those of builds that wrote none have one."""
    before = b""
    for entry in entries:
        before = chain.link(before, table, entry)
        if entry.hash == chain.text(before):
            verdict.linked += 1
        elif entry.hash:
            verdict.add("chain", f"{table}: version {entry.version} bears {entry.hash}, not {chain.text(before)}")
            return


def _entries(redis: Redis, table: str, verdict: Verdict) -> list[Recorded]:
    """The stream of a table from its first entry, archived or not; a hole is a violation and ends it."""
    found: list[Recorded] = []
    start, whole = "-", True
    while True:
        page = ask(redis, "XRANGE", keys.events(table), start, "+", "COUNT", PAGE)
        for id_, flat in cold.filled(redis, table, 1, None, page) if start == "-" else page:
            if whole and id_ != b"%d-0" % (len(found) + 1):
                verdict.add("hole", f"{table}: {id_.decode()} follows version {len(found)}")
                whole = False
            if whole:
                found.append(_recorded(len(found) + 1, fields_of(flat)))
            verdict.entries += 1
        if len(page) < PAGE:
            return found
        start = f"({page[-1][0].decode()}"


def _recorded(version: int, fields: dict[bytes, bytes]) -> Recorded:
    actor, key, fingerprint, tag = (fields[name].decode() for name in (b"a", b"k", b"f", b"x"))
    carried = fields.get(b"h", b"").decode()
    return Recorded(version, int(fields[b"at"]), actor, key, fingerprint, fields[b"e"], tag, carried)


def _check_receipts(redis: Redis, table: str, entries: Sequence[Recorded], verdict: Verdict) -> None:
    """Receipts say what was written; whatever was taken in and does not wait has one."""
    receipts = fields_of(ask(redis, "HGETALL", keys.receipts(table)))
    written = Counter(f"{entry.actor}/{entry.key}".encode() for entry in entries)
    heads = {entry.version: entry.hash for entry in entries}
    for field, text in receipts.items():
        receipt = _decode(text)
        if receipt.get("h") and receipt["h"] != heads.get(receipt["v"]):
            verdict.add("chain", f"{table}: the receipt of {field.decode()} says {text.decode()}")
        if (receipt["s"] == "applied") != bool(written[field]):
            verdict.add("other outcome", f"{table}: the receipt of {field.decode()} says {text.decode()}")
    waiting = _waiting(redis, table)
    for field in ask(redis, "HKEYS", keys.reservations(table)):
        if field not in receipts and field not in waiting:
            verdict.add("unanswered", f"{table}: {field.decode()}")


def _waiting(redis: Redis, table: str) -> set[bytes]:
    """The commands of a table that its partition has not come to."""
    partition = keys.partition_of(table)
    cursor = history.cursors(redis, [partition])[partition]
    found = ask(redis, "XRANGE", keys.commands(partition), f"({cursor}" if cursor != "0-0" else "-", "+")
    rows = [fields_of(flat) for _, flat in found]
    return {b"%b/%b" % (row[b"a"], row[b"k"]) for row in rows if row.get(b"t") == table.encode()}


def _check_dead_letters(redis: Redis, partitions: Sequence[str], expected: int, verdict: Verdict) -> None:
    letters = [fields_of(flat) for each in partitions for _, flat in ask(redis, "XRANGE", keys.dead(each), "-", "+")]
    verdict.dead_letters = len(letters)
    if len(letters) != expected:
        verdict.add("dead letter", f"{len(letters)} dead letters where {expected} were expected")
        for letter in letters:
            last = letter.get(b"error", b"").decode(errors="replace").strip().rpartition("\n")[2]
            verdict.add("dead letter", f"{letter.get(b't', b'?').decode()}: {letter.get(b'k', b'?').decode()}: {last}")


def _check_projections(redis: Redis, partitions: Sequence[str], verdict: Verdict) -> None:
    compared = rebuild(redis, partitions, lambda *_: None)
    for key in compared.different:
        verdict.add("projection", f"{key} is not what the events say")
    for table in compared.stopped:
        verdict.add("projection", f"{table} is stopped by an error")


def await_quiet(
    redis: Redis, partitions: Sequence[str], seconds_max: float = 30.0, *, logged: bool = False
) -> bool:
    """Wait, with the roles running and no more load, until every command is handled and all chips have arrived, and
    with `logged` until all finished deals are in their log."""
    end = time.monotonic() + seconds_max
    while time.monotonic() < end:
        waits = logged and deal_log.unlogged(redis, partitions, 1)
        if not waits and not any(_is_busy(redis, partition) for partition in partitions):
            return True
        time.sleep(0.1)
    return False


def _is_busy(redis: Redis, partition: str) -> bool:
    """Does a command, a buy-in or a pointer for the settlement of chips wait?"""
    command, pointer = (ask(redis, "XREVRANGE", key, "+", "-", "COUNT", 1) for key in (
        keys.commands(partition), keys.log(partition),
    ))
    cursor = history.cursors(redis, [partition])[partition]
    settled = outbox.handled(redis, settlement.PROCESS, [partition])[partition]
    return (
        (bool(command) and place(command[0][0].decode()) > place(cursor))
        or (bool(pointer) and place(pointer[0][0].decode()) > place(settled))
        or bool(ask(redis, "HLEN", keys.buy_ins(partition)))
    )
