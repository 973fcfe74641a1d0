"""A table replayed from its first event, against all that is made of it: state, views, feed, and what was pushed."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec
from redis import Redis

from engine.table.state import SEATS
from schemas.table import SPECTATOR, Fragments, ShownEvents, join_code, shown_events, view_fragments, who
from services.store import views
from services.store.history import Recorded
from services.worker.held import UNOPENED, Held, events_of, gone_on
from services.worker.tables import read
from tests.faults.history import Pushed
from tests.faults.verdict import Verdict

FEED_PAGE = 500


class _Message(msgspec.Struct):
    """What was pushed, on either wire."""

    version: int
    events: msgspec.Raw = msgspec.Raw(b"[]")
    view: msgspec.Raw = msgspec.Raw(b"null")
    reset: bool = False


_message = msgspec.json.Decoder(_Message).decode


def check_table(
    redis: Redis, table: str, entries: Sequence[Recorded], pushed: Sequence[Pushed], verdict: Verdict
) -> int:
    """Replay `table`; gives the chips that lie at it by its events."""
    heard: dict[int, list[Pushed]] = defaultdict(list)
    for each in pushed:
        heard[each.version].append(each)
    _check_order(table, pushed, verdict)
    held, told = UNOPENED, dict[int, ShownEvents]()
    for entry in entries:
        try:
            events = events_of(table, entry)
            held = gone_on(held, table, entry)
        except Exception as error:
            verdict.add("replay", f"{table}: version {entry.version} cannot be replayed: {error!r}")
            return 0
        told[entry.version] = shown_events(events)
        if sum(held.table.session.score) != 0:
            verdict.add("chips", f"{table}: the scores at version {entry.version} are {held.table.session.score}")
        if entry.version in heard:
            _check_pushed(table, held, told[entry.version], heard.pop(entry.version), verdict)
    for version in heard:
        verdict.add("taken back", f"{table}: version {version} was pushed, the stream ends at {len(entries)}")
    if held is not UNOPENED:
        _check_reads(redis, table, held, verdict)
        _check_feed(redis, table, told, verdict)
    return _chips_at(held)


def _chips_at(held: Held) -> int:
    """What lies at the seats, if it came from accounts."""
    session = held.table.session
    if session.opened is None or session.opened.stake != "bankroll":
        return 0
    return sum(session.bank)


def _check_order(table: str, pushed: Sequence[Pushed], verdict: Verdict) -> None:
    """On a connection versions only go up. But who was heard late is followed from now on meanwhile, lacks some before
    that, and then is sent all after the version that he has, once."""
    last, late = dict[int, int](), set[int]()
    for each in pushed:
        before, has = last.get(each.connection, 0), each.resumed
        if each.connection not in last and has is not None and each.version > has + 1 and not _is_reset(each):
            late.add(each.connection)
        elif each.version <= before:
            starts_over = has is not None and (each.version == has + 1 or (_is_reset(each) and each.version == before))
            if each.connection not in late or not starts_over:
                said = f"(which asked for all after {has})"
                verdict.add("taken back", f"{table}: {each.version} came after {before} to {each.actor} {said}")
            late.discard(each.connection)
        last[each.connection] = each.version


def _is_reset(pushed: Pushed) -> bool:
    """Is it the table as it stands, in place of what the feed has no longer?"""
    return pushed.text.endswith(b'"reset":true}')


def _check_pushed(
    table: str, held: Held, told: ShownEvents, pushed: Sequence[Pushed], verdict: Verdict
) -> None:
    """Each message of a version holds, byte for byte, what its reader may see of it."""
    seats = who(held.table).split("|")
    fragments = view_fragments(held.table, held.version)
    for each in pushed:
        try:
            message = _message(each.text)
        except msgspec.MsgspecError as error:
            verdict.add("taken back", f"{table}: {each.text[:80]!r} to {each.actor} cannot be read: {error}")
            continue
        seat = seats.index(each.actor) if each.actor in seats else None
        # A seat that has changed hands since is told as a spectator.
        seen = {told.public} if seat is None else {told.public, told.by_seat[seat] or told.public}
        mine = {_view(fragments, None), _view(fragments, seat)}
        if not message.reset and bytes(message.events) not in _also_later(seen, told, seat):
            verdict.add("taken back", f"{table}: the events of version {each.version} to {each.actor} were others")
        if bytes(message.view) != b"null" and bytes(message.view) not in mine:
            verdict.add("taken back", f"{table}: the view at version {each.version} to {each.actor} was another")


def _also_later(seen: set[bytes], told: ShownEvents, seat: int | None) -> set[bytes]:
    """Who sat down later is told what his seat was told, which nobody held then."""
    return seen if seat is not None else seen | {text for text in told.by_seat if text is not None}


def _view(fragments: Fragments, seat: int | None) -> bytes:
    return b"{%b,%b}" % (fragments.public, SPECTATOR if seat is None else fragments.private[seat])


def _check_reads(redis: Redis, table: str, held: Held, verdict: Verdict) -> None:
    """The state from a snapshot, the view of each seat, and the facts about the table are those of the replay."""
    try:
        if read(redis, table) != held:
            verdict.add("replay", f"{table}: the state from the snapshot is not the replayed one")
    except Exception as error:
        verdict.add("replay", f"{table}: the state cannot be read: {error!r}")
    current = views.current(redis, table)
    if current is None:
        verdict.add("view", f"{table} has no view")
        return
    fragments = view_fragments(held.table, held.version)
    if current.version != held.version:
        verdict.add("view", f"{table}: the view is of version {current.version}, the table is at {held.version}")
    for seat in (None, *range(SEATS)):
        if views.view_bytes(current, seat) != _view(fragments, seat):
            verdict.add("view", f"{table}: the view of seat {seat} is not what the events make of it")
    about = (tuple(who(held.table).split("|")), join_code(held.table), held.settled)
    if (current.who, current.code, current.settled) != about:
        verdict.add("view", f"{table}: {current.who, current.code, current.settled} should be {about}")


def _check_feed(redis: Redis, table: str, told: dict[int, ShownEvents], verdict: Verdict) -> None:
    """What the feed keeps is what the events show, without a hole up to now."""
    expected, place = 0, 0
    while True:
        page = views.feed(redis, table, place, FEED_PAGE)
        if page is None or not page.items:
            break
        for item in page.items:
            if expected and item.version != expected:
                verdict.add("view", f"{table}: the feed has a hole before version {item.version}")
            expected = item.version + 1
            shown = told.get(item.version)
            if shown is None or item.events != {None: shown.public} | {
                seat: shown.by_seat[seat] or shown.public for seat in range(SEATS)
            }:
                verdict.add("view", f"{table}: the feed at version {item.version} is not what the events show")
        place = page.items[-1].version
    if expected and expected != len(told) + 1:
        verdict.add("view", f"{table}: the feed ends at version {expected - 1}, the table is at {len(told)}")
