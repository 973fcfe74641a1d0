"""What somebody could change in the events of a table, with and without new hashes, and where it must be found."""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from engine.table import Move, step
from engine.table.state import game_of
from schemas.table import dump_events
from services.store import chain, history, keys
from services.store.history import recorded
from services.worker.held import UNOPENED, gone_on
from tests.audit.town import FREE, FRESH, RICH, Town
from tests.worker.house import ANA, BARA

STREAM = [b"at", b"a", b"k", b"f", b"e", b"x", b"h"]


class Place(NamedTuple):
    """Where a fault must be found: `whose` is a table or an account. `field` is what its field begins with, "" is any;
    with `|` between, one of several. `version` -1 may be any."""

    whose: str
    version: int
    field: str


class Row(NamedTuple):
    """What is done to which kind of thing; `do` gives where it must be found."""

    kind: str
    what: str
    do: Callable[[Town], Place]


Entry = tuple[bytes, dict[bytes, bytes]]


def flipped(value: bytes) -> bytes:
    """The lowest bit of the last letter or digit is another: `4` becomes `5`, `a` becomes `` ` ``."""
    place = max(n for n, byte in enumerate(value) if chr(byte).isalnum())
    return value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]


EDITS: dict[str, Callable[[bytes], bytes]] = {
    "flip a bit of": flipped,
    "cut the end off": lambda value: value[:-1],
    "add a byte to": lambda value: value + b"7",
    "empty": lambda value: b"",
}


def entries(town: Town, key: str) -> list[Entry]:
    """A stream as it is."""
    return town.redis.xrange(key)


def put(town: Town, key: str, found: list[Entry]) -> None:
    """A stream as somebody wants it to be."""
    town.redis.delete(key)
    for id_, fields in found:
        town.redis.xadd(key, fields, id=id_)


# The stream.


def stream_rows() -> Iterator[Row]:
    """One field, or whole entries, of the events of a table; nothing is hashed anew."""
    for field in STREAM:
        for what, edit in EDITS.items():
            yield Row("stream", f"{what} field {field.decode()}", _edit_field(field, edit))
        yield Row("stream", f"drop field {field.decode()}", _drop_field(field))
        if field != b"x":  # All are of one build.
            yield Row("stream", f"swap field {field.decode()} with that of the next entry", _swap_field(field))
    yield Row("stream", "insert a field", _insert_field)
    yield Row("stream", "put the fields in another order", _reorder)
    yield Row("stream", "drop an entry", _drop_entry)
    yield Row("stream", "drop the last entry", lambda town: _cut(town, 1))
    yield Row("stream", "truncate: drop the last three entries", lambda town: _cut(town, 3))
    yield Row("stream", "drop the first entry that is not archived", _drop_first)
    yield Row("stream", "swap two entries, ids in order", _swap_entries)
    yield Row("stream", "insert a copy of an entry at the end", _repeat)
    yield Row("stream", "insert an entry between two", _between)
    yield Row("stream", "delete the stream", _delete_stream)
    yield Row("stream", "another type of key", _wrong_type)
    yield Row("stream", "the events of another table", _other_table)
    yield Row("stream", "change the name of who sat down", _rename)
    yield Row("stream", "spell the events with a blank", _blank)


def middle(found: list[Entry]) -> int:
    """A move of the running deal."""
    return len(found) - 4


def version(entry: Entry) -> int:
    """Its version."""
    return int(entry[0].partition(b"-")[0])


def _edit_field(field: bytes, edit: Callable[[bytes], bytes]) -> Callable[[Town], Place]:
    def do(town: Town) -> Place:
        found = entries(town, keys.events(FREE))
        id_, fields = found[middle(found)]
        found[middle(found)] = id_, {**fields, field: edit(fields[field])}
        put(town, keys.events(FREE), found)
        return Place(FREE, version((id_, fields)), field.decode())

    return do


def _drop_field(field: bytes) -> Callable[[Town], Place]:
    def do(town: Town) -> Place:
        found = entries(town, keys.events(FREE))
        id_, fields = found[middle(found)]
        found[middle(found)] = id_, {name: value for name, value in fields.items() if name != field}
        put(town, keys.events(FREE), found)
        return Place(FREE, version((id_, fields)), "fields")

    return do


def _swap_field(field: bytes) -> Callable[[Town], Place]:
    def do(town: Town) -> Place:
        found = entries(town, keys.events(FREE))
        place = next(n for n in range(middle(found), 0, -1) if found[n][1][field] != found[n + 1][1][field])
        (one, first), (other, second) = found[place], found[place + 1]
        found[place] = one, {**first, field: second[field]}
        found[place + 1] = other, {**second, field: first[field]}
        put(town, keys.events(FREE), found)
        return Place(FREE, version((one, first)), field.decode())

    return do


def _insert_field(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    id_, fields = found[middle(found)]
    found[middle(found)] = id_, {**fields, b"z": b"1"}
    put(town, keys.events(FREE), found)
    return Place(FREE, version((id_, fields)), "fields")


def _reorder(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    id_, fields = found[middle(found)]
    found[middle(found)] = id_, dict(reversed(fields.items()))
    put(town, keys.events(FREE), found)
    return Place(FREE, version((id_, fields)), "fields")


def _drop_entry(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    gone = found.pop(middle(found))
    put(town, keys.events(FREE), found)
    return Place(FREE, version(gone), "id")


def _cut(town: Town, count: int) -> Place:
    found = entries(town, keys.events(FREE))
    put(town, keys.events(FREE), found[:-count])
    return Place(FREE, version(found[-count - 1]), "v")


def _drop_first(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    put(town, keys.events(FREE), [found[0], *found[2:]])
    return Place(FREE, version(found[1]), "id")


def _swap_entries(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    place = middle(found)
    (one, first), (other, second) = found[place], found[place + 1]
    found[place : place + 2] = [(one, second), (other, first)]
    put(town, keys.events(FREE), found)
    return Place(FREE, version(found[place]), "")


def _repeat(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    last = version(found[-1]) + 1
    put(town, keys.events(FREE), [*found, (b"%d-0" % last, found[-1][1])])
    return Place(FREE, last, "")


def _between(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    place = middle(found)
    number = version(found[place])
    put(town, keys.events(FREE), [*found[:place], (b"%d-0" % number, found[place][1]),
                                  (b"%d-1" % number, found[place][1]), *found[place + 1 :]])
    return Place(FREE, number + 1, "id")


def _delete_stream(town: Town) -> Place:
    town.redis.delete(keys.events(FRESH))
    return Place(FRESH, 1, "id")


def _wrong_type(town: Town) -> Place:
    town.redis.delete(keys.events(FRESH))
    town.redis.hset(keys.events(FRESH), "1-0", "entry")
    return Place(FRESH, -1, "type")


def _other_table(town: Town) -> Place:
    put(town, keys.events(FRESH), entries(town, keys.events(RICH)))
    return Place(FRESH, 1, "")


def _rename(town: Town) -> Place:
    found = entries(town, keys.events(FRESH))
    id_, fields = found[1]
    found[1] = id_, {**fields, b"e": fields[b"e"].replace(b'"name":"u-00"', b'"name":"u-09"')}
    assert found[1][1] != fields
    put(town, keys.events(FRESH), found)
    return Place(FRESH, 2, "e")


def _blank(town: Town) -> Place:
    found = entries(town, keys.events(FRESH))
    id_, fields = found[-1]
    found[-1] = id_, {**fields, b"e": fields[b"e"].replace(b'":', b'": ', 1)}
    put(town, keys.events(FRESH), found)
    return Place(FRESH, version(found[-1]), "e")


# A forger, who makes all hashes anew behind his change.


def forger_rows() -> Iterator[Row]:
    """Changes of the events after which the whole chain of the stream fits again."""
    yield Row("forger, chain made anew", "another card than was held", _forge_card)
    yield Row("forger, chain made anew", "another legal card", _forge_legal_card)
    yield Row("forger, chain made anew", "payments", _forge_payments)
    yield Row("forger, chain made anew", "points", _forge_points)
    yield Row("forger, chain made anew", "the deck", _forge_deck)
    yield Row("forger, chain made anew", "who sat down", _forge_name)
    yield Row("forger, chain made anew", "when a move was made", _forge_time)
    yield Row("forger, chain made anew", "drop the last trick", _forge_cut)
    yield Row("forger, chain made anew", "add a legal move", _forge_move)
    yield Row("forger, chain made anew", "who moved", _forge_actor)
    yield Row("forger, chain made anew", "leave the hashes out", _forge_no_hash)


def hashed(table: str, found: list[Entry], previous: bytes = b"") -> list[Entry]:
    """The entries with hashes that fit, after one with the hash `previous`."""
    fitting: list[Entry] = []
    for id_, fields in found:
        flat = [part for pair in fields.items() for part in pair]
        previous = chain.link(previous, table, recorded((id_, flat)))
        fitting.append((id_, {**fields, b"h": chain.text(previous).encode()}))
    return fitting


def forge(town: Town, table: str, change: Callable[[list[Entry]], int]) -> int:
    """Change a stream from some place on, which `change` gives, and hash the rest anew; gives the version there."""
    found = entries(town, keys.events(table))
    place = change(found)
    previous = chain.digest(found[place - 1][1][b"h"].decode()) if place else b""
    put(town, keys.events(table), [*found[:place], *hashed(table, found[place:], previous)])
    return version(found[place]) if place < len(found) else version(found[-1])


def replaced(found: list[Entry], place: int, field: bytes, value: bytes) -> int:
    """Another value in an entry."""
    id_, fields = found[place]
    assert fields[field] != value
    found[place] = id_, {**fields, field: value}
    return place


def of_type(found: list[Entry], kind: bytes, *, last: bool = True) -> int:
    """The place of the last (or first) entry with an event of this type."""
    places = [n for n, (_, fields) in enumerate(found) if b'"%b"' % kind in fields[b"e"]]
    return places[-1 if last else 0]


def _forge_card(town: Town) -> Place:
    return Place(RICH, forge(town, RICH, _card_of_a_trick), "e")


def _card_of_a_trick(found: list[Entry]) -> int:
    """A card that somebody else holds."""
    place = of_type(found, b"card_played", last=False)
    mine = json.loads(found[place][1][b"e"])[0]["card"]
    other = json.loads(found[place + 1][1][b"e"])[0]["card"]
    return replaced(found, place, b"e", found[place][1][b"e"].replace(mine.encode(), other.encode()))


def _forge_legal_card(town: Town) -> Place:
    """The last move of the running deal is another one that the rules allow: only copies of its hash tell."""
    found = entries(town, keys.events(FREE))
    view = town.view(FREE)
    previous = chain.digest(found[-2][1][b"h"].decode())
    made = _another_last_move(town, found)
    put(town, keys.events(FREE), [*found[:-1], *hashed(FREE, [made], previous)])
    return Place(FREE, view["version"], "")


def _another_last_move(town: Town, found: list[Entry]) -> Entry:
    """What would have happened, had the last who moved chosen another of his legal moves."""
    held = UNOPENED
    *past, last = history.entries_after(town.redis, FREE, 0)
    for entry in past:
        held = gone_on(held, FREE, entry)
    game = game_of(held.table.session)
    for move in game.legal(held.table.state):
        events = dump_events(step(held.table, Move(now=last.at, seat=move.seat, move=move)).events)
        if events != last.events:
            return found[-1][0], {**found[-1][1], b"e": events}
    raise AssertionError("there was only one legal move")


def _forge_payments(town: Town) -> Place:
    def change(found: list[Entry]) -> int:
        place = of_type(found, b"deal_ended")
        events = json.loads(found[place][1][b"e"])
        for event in events:
            if event["type"] == "deal_ended":
                event["payments"] = [event["payments"][n] for n in (1, 2, 0)]
        return replaced(found, place, b"e", msgspec.json.encode(events))

    return Place(RICH, forge(town, RICH, change), "e.3.payments")


def _forge_points(town: Town) -> Place:
    def change(found: list[Entry]) -> int:
        place = of_type(found, b"deal_scored")
        events = json.loads(found[place][1][b"e"])
        for event in events:
            if event["type"] == "deal_scored":
                event["result"]["points"]["declarer"] += 10
        return replaced(found, place, b"e", msgspec.json.encode(events))

    return Place(RICH, forge(town, RICH, change), "e.2.result.points")


def _forge_deck(town: Town) -> Place:
    def change(found: list[Entry]) -> int:
        place = of_type(found, b"dealt", last=False)
        events = json.loads(found[place][1][b"e"])
        for event in events:
            if event["type"] == "dealt":
                event["deck"] = event["deck"][::-1]
        return replaced(found, place, b"e", msgspec.json.encode(events))

    return Place(FRESH, forge(town, FRESH, change), "")


def _forge_name(town: Town) -> Place:
    def change(found: list[Entry]) -> int:
        return replaced(found, 1, b"e", found[1][1][b"e"].replace(b'"name":"u-00"', b'"name":"u-09"'))

    return Place(FRESH, forge(town, FRESH, change), "")


def _forge_time(town: Town) -> Place:
    def change(found: list[Entry]) -> int:
        place = middle(found)
        return replaced(found, place, b"at", b"%d" % (int(found[place][1][b"at"]) + 1))

    return Place(FREE, forge(town, FREE, change), "")


def _forge_cut(town: Town) -> Place:
    found = entries(town, keys.events(FREE))
    put(town, keys.events(FREE), found[:-3])
    return Place(FREE, version(found[-4]), "v")


def _forge_move(town: Town) -> Place:
    """A move that a player could have made next, but did not."""
    held = UNOPENED
    for entry in history.entries_after(town.redis, FREE, 0):
        held = gone_on(held, FREE, entry)
    move = game_of(held.table.session).legal(held.table.state)[0]
    at = entry.at + 10
    events = dump_events(step(held.table, Move(now=at, seat=move.seat, move=move)).events)
    occupant = held.table.session.seats[move.seat]
    found = entries(town, keys.events(FREE))
    made = (b"%d-0" % (held.version + 1), {
        **found[-1][1], b"at": b"%d" % at, b"a": occupant.player.encode(), b"k": b"forged", b"e": events,
    })
    put(town, keys.events(FREE), [*found, *hashed(FREE, [made], held.chain)])
    return Place(FREE, held.version + 1, "")


def _forge_actor(town: Town) -> Place:
    def change(found: list[Entry]) -> int:
        place = middle(found)
        other = ANA if found[place][1][b"a"] != ANA.encode() else BARA
        return replaced(found, place, b"a", other.encode())

    return Place(FREE, forge(town, FREE, change), "a")


def _forge_no_hash(town: Town) -> Place:
    """As if an older build had written them: but the ones before have hashes."""
    found = entries(town, keys.events(FREE))
    place = middle(found)
    put(town, keys.events(FREE), [
        (id_, fields if n < place else {name: value for name, value in fields.items() if name != b"h"})
        for n, (id_, fields) in enumerate(found)
    ])
    return Place(FREE, version(found[place]), "fields")
