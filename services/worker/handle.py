"""One command decided on one table: what is written of it, and the table after it."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import msgspec
from redis import Redis

from engine.errors import RuleViolation
from engine.fairness.commitments import seed_of
from engine.shuffle import deck_from_key
from engine.table import SEATS, Sit, Step, at_rest, step
from engine.table.events import ChipsBrought
from engine.table.state import settings
from schemas.errors import Malformed
from schemas.table import Draw, Sender, dump_events, join_code, kinds, load_command, shown_events, view_fragments, who
from schemas.values import dump_facts
from services.envelope import Opener, spoken
from services.store import accounts, chain, keys
from services.store.append import Answer, Entry, Position
from services.store.commands import Command
from services.store.history import Recorded
from services.worker.build import TAG
from services.worker.held import Held, after, snapshot

REMEMBERED_MS = 10 * 60 * 1000
"""How long receipts and the feed of a deal outlive it."""

KEY_BYTES = 32

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, object]).decode


class Desk(NamedTuple):
    """What decisions need beside the table: the accounts, a deck when one is dealt, a new account's chips, and when
    nobody could play."""

    redis: Redis
    draw: Callable[[], Draw]
    opening_chips: int = accounts.OPENING_CHIPS
    opener: Opener | None = None

    def body_of(self, command: Command) -> bytes:
        """The body of a command as it was sent. Raises Forged. Without an opener every body is taken as it is."""
        if self.opener is None:
            return command.body
        said = partial(spoken, command.aggregate, command.actor, command.key, command.name)
        return self.opener.open(command.fingerprint, said, command.body)
    gaps: Callable[[], Sequence[tuple[int, int]]] = tuple


class Refund(NamedTuple):
    """Chips that may have left an account for a seat that was refused."""

    player: str
    transfer: str


class Handled(NamedTuple):
    """What is to be written; `held` is the table once it is, None when it stays as it was.

    `refund` is to be given back once the refusal is stored.
    """

    write: Entry | Answer
    held: Held | None = None
    refund: Refund | None = None


def handle(held: Held, command: Command, place: Position, desk: Desk) -> Handled:
    """Decide `command` on the table `held`. Raises Forged, and StoreUnavailable when an account cannot be reached."""
    text = desk.body_of(command)
    if command.if_version is not None and command.if_version != held.version:
        return Handled(_refusal(held, command, place, "version_mismatch", {"version": held.version}))
    body: dict[str, object] = {}
    try:
        body = _decode(text)
        made = _decide(held, command, body, desk)
    except RuleViolation as refused:
        answer = _refusal(held, command, place, refused.code, dump_facts(refused.facts))
        return Handled(answer, refund=_refund(held, command, body))
    except (Malformed, msgspec.DecodeError) as error:  # The API lets no such body in: somebody else wrote it.
        return Handled(_refusal(held, command, place, "malformed", {"message": str(error)}))
    return applied(held, command, place, made)


def open_account(command: Command, place: Position, desk: Desk) -> Handled:
    """What can be asked of an account: to be opened. It has no stream of events, only its postings. Raises Forged."""
    if _decode(desk.body_of(command)) == {"type": "open_account"} and keys.is_player_id(place.aggregate):
        accounts.open_account(desk.redis, place.aggregate, desk.opening_chips)
        said = b'"applied"'
    else:
        said = b'"refused","c":"not_found"'
    return Handled(Answer(place, 0, _receipt(0, command, said), command.at + REMEMBERED_MS))


def park(command: Command, place: Position, error: str) -> Handled:
    """Give up a command that cannot be handled: a refusal for its sender, a dead letter for the operator."""
    letter = (
        *("id", command.id, "t", command.aggregate, "a", command.actor, "n", command.name, "k", command.key),
        *("f", command.fingerprint, "b", command.body, "error", error),
        *(() if command.if_version is None else ("v", command.if_version)),
    )
    receipt = _receipt(0, command, b'"refused","c":"internal"')
    return Handled(Answer(place, None, receipt, dead=letter))


def draw(seal: Callable[[bytes], str]) -> Draw:
    """Chance enters here, from the operating system; the key is only kept sealed."""
    key = secrets.token_bytes(KEY_BYTES)
    return Draw(secrets.randbelow(SEATS), deck_from_key(key), seal(key), seed_of(key))


def _decide(held: Held, command: Command, body: dict[str, object], desk: Desk) -> Step:
    transfer = f"{command.aggregate}.{command.id}"
    sits = body.get("type") == "sit"
    sender = Sender(command.actor, command.name, command.at, held.version, "" if sits else transfer, command.aggregate)
    loaded = load_command(held.table, sender, body, desk.draw)
    made = step(held.table, loaded, desk.gaps())
    if isinstance(loaded, Sit):
        for event in made.events:
            if isinstance(event, ChipsBrought):
                accounts.withdraw(desk.redis, command.actor, transfer, event.chips, command.aggregate)
                return step(held.table, replace(loaded, transfer=transfer), desk.gaps())
    return made


def applied(held: Held, command: Command, place: Position, made: Step) -> Handled:
    """What is written when `command` has made of `held` what `made` says."""
    at = command.at
    events = dump_events(made.events)
    told = Recorded(held.version + 1, at, place.actor, place.key, place.fingerprint, events, TAG)
    now = after(held, made.table, chain.link(held.chain, place.aggregate, told))
    head = chain.text(now.chain)
    rests = at_rest(made.table)
    view = view_fragments(made.table, now.version)
    shown = shown_events(made.events)
    entry = Entry(
        position=place,
        expected=held.version,
        receipt=_receipt(now.version, command, b'"applied","h":"%b"' % head.encode()),
        at=at,
        events=events,
        tag=TAG,
        hash=head,
        shown=(shown.public, shown.by_seat),
        brief=view.brief,
        private=view.private,
        about=view.about,
        who=who(made.table),
        code=join_code(made.table),
        settled=now.settled,
        about_changed=made.table.session is not held.table.session,
        kinds=kinds(made.events, made.table),
        due=now.due,
        due_changed=now.due != held.due,
        forget_at=at + REMEMBERED_MS if rests else None,
        feed_floor=held.began if now.began != held.began and held.began else None,
        snapshot=snapshot(now) if rests else b"",
    )
    return Handled(entry, now)


def _refusal(
    held: Held, command: Command, place: Position, code: str, facts: dict[str, object]
) -> Answer:
    said = b'"refused","c":%b' % _encode(code)
    if facts:
        said += b',"d":' + _encode(facts)
    forget = command.at + REMEMBERED_MS if at_rest(held.table) else None
    return Answer(place, held.version, _receipt(held.version, command, said), forget)


def _receipt(version: int, command: Command, said: bytes) -> bytes:
    """The version comes first: whoever forgets old receipts finds it there."""
    return b'{"v":%d,"f":"%b","s":%b}' % (version, command.fingerprint.encode(), said)


def _refund(held: Held, command: Command, body: dict[str, object]) -> Refund | None:
    """A buy-in may have been paid when this was decided before, by a worker that died."""
    if body.get("type") != "sit" or not held.version or settings(held.table.session).stake != "bankroll":
        return None
    return Refund(command.actor, f"{command.aggregate}.{command.id}")
