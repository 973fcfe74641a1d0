"""What somebody could change in the log of finished deals: leaves, tree, head, places of tables, heads outside."""

import json
from collections.abc import Callable, Iterator

from engine import merkle
from services.store import chain, deal_log, keys, log_keys
from services.transparency.leaves import leaf, read
from tests.audit.tampers import EDITS, Place, Row, entries, flipped, forge, of_type, put, replaced
from tests.audit.town import FREE, RICH, Town

Do = Callable[[Town], Place]


def rows(town: Town) -> Iterator[Row]:
    """The store's side first, then the file, then past deals written anew."""
    yield from _leaf_rows()
    yield from _level_rows(town)
    yield from _state_rows(town)
    yield from _table_rows(town)
    yield from _line_rows()
    kind = "log, a finished deal forged with all hashes after it"
    yield Row(kind, "when a move was made", lambda town: _forged(town, b"at", lambda at: b"%d" % (int(at) + 1)))
    yield Row(kind, "the fingerprint of a command", lambda town: _forged(town, b"f", flipped))
    yield Row(kind, "the key of a command", lambda town: _forged(town, b"k", lambda key: key + b"7"))
    yield Row(kind, "the same, and its leaf and the tree over it", _forged_with_leaf)


def _leaf_rows() -> Iterator[Row]:
    kind = "log, leaves"
    for what, edit in EDITS.items():
        yield Row(kind, f"{what} a leaf", _leaf(edit))
        yield Row(kind, f"{what} the last leaf", _leaf(edit, -1))
    yield Row(kind, "drop a leaf", _leaves(lambda all_: [*all_[:2], *all_[3:]]))
    yield Row(kind, "drop the last leaf", _leaves(lambda all_: all_[:-1]))
    yield Row(kind, "truncate", _leaves(lambda all_: all_[:1]))
    yield Row(kind, "delete all", _leaves(lambda all_: []))
    yield Row(kind, "swap two leaves", _leaves(
        lambda all_: [(all_[0][0], all_[1][1]), (all_[1][0], all_[0][1]), *all_[2:]]))
    yield Row(kind, "insert a leaf at the end", _leaves(
        lambda all_: [*all_, (b"%d-0" % (len(all_) + 1), all_[-1][1])]))
    yield Row(kind, "insert a leaf between two", _leaves(lambda all_: [*all_[:2], (b"2-1", all_[0][1]), *all_[2:]]))
    yield Row(kind, "another name of its field", _leaves(
        lambda all_: [(all_[0][0], {b"e": all_[0][1][b"d"]}), *all_[1:]]))
    yield Row(kind, "another head, and the tree made anew", _other_leaf)


def _leaf(edit: Callable[[bytes], bytes], place: int = 2) -> Do:
    def do(town: Town) -> Place:
        found = entries(town, log_keys.leaves())
        id_, fields = found[place]
        found[place] = id_, {b"d": edit(fields[b"d"])}
        put(town, log_keys.leaves(), found)
        return Place("", 0, id_.decode())

    return do


def _leaves(change: Callable[[list], list]) -> Do:
    def do(town: Town) -> Place:
        put(town, log_keys.leaves(), change(entries(town, log_keys.leaves())))
        return Place("", 0, "")

    return do


def _other_leaf(town: Town) -> Place:
    """The deal is left as it was."""
    told = read(entries(town, log_keys.leaves())[0][1][b"d"])
    return _again(town, leaf(told.table, told.deal, told.first, told.last, "A" * 43))


def _again(town: Town, other: deal_log.Leaf) -> Place:
    """Put `other` in the place of the leaf of its deal, and make the tree over all leaves anew."""
    found = entries(town, log_keys.leaves())
    told = [read(fields[b"d"]) for _, fields in found]
    index = next(n for n, each in enumerate(told) if (each.table, each.deal) == (other.table, other.place.deal))
    found[index] = found[index][0], {b"d": other.data}
    put(town, log_keys.leaves(), found)
    made, _ = merkle.grown(0, [], [merkle.leaf_hash(fields[b"d"]) for _, fields in found])
    for subtree, node in made:
        town.redis.setrange(log_keys.nodes(subtree.level, 0), subtree.place * merkle.HASH_SIZE, node)
    return Place(other.table, 0, f"{index + 1}-0")


def _level_rows(town: Town) -> Iterator[Row]:
    kind = "log, levels"
    size = deal_log.state(town.redis).size
    for level in range(size.bit_length()):
        key = log_keys.nodes(level, 0)
        for place in {0, size // 2 >> level, (size >> level) - 1}:
            yield Row(kind, f"flip a bit of node {place} of level {level}", _bytes(
                key, lambda data, at=32 * place: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]))
        yield Row(kind, f"cut a byte off level {level}", _bytes(key, lambda data: data[:-1]))
        yield Row(kind, f"add a node to level {level}", _bytes(key, lambda data: data + bytes(32)))
        yield Row(kind, f"insert a byte into level {level}", _bytes(key, lambda data: b"x" + data))
        yield Row(kind, f"empty level {level}", _bytes(key, lambda data: b""))


def _bytes(key: str, edit: Callable[[bytes], bytes]) -> Do:
    def do(town: Town) -> Place:
        town.redis.set(key, edit(town.redis.get(key)))
        return Place("", 0, "")

    return do


def _state_rows(town: Town) -> Iterator[Row]:
    kind, key = "log, signed head", log_keys.state()
    for field in (b"n", b"size", b"at", b"head"):
        name = field.decode()
        for what, edit in EDITS.items():
            yield Row(kind, f"{what} {name}", _set(key, field, edit, ""))
        yield Row(kind, f"drop {name}", lambda town, field=field: _drop(town, log_keys.state(), field, ""))
    yield Row(kind, "an earlier head", _earlier)
    yield Row(kind, "delete it", lambda town: _delete(town, key))
    yield Row(kind, "another type of key", lambda town: _string(town, key))


def _set(key: str, field: bytes, edit: Callable[[bytes], bytes], whose: str) -> Do:
    def do(town: Town) -> Place:
        town.redis.hset(key, field, edit(town.redis.hget(key, field)))
        return Place(whose, 0, "")

    return do


def _drop(town: Town, key: str, field: bytes, whose: str) -> Place:
    town.redis.hdel(key, field)
    return Place(whose, 0, "")


def _delete(town: Town, key: str) -> Place:
    town.redis.delete(key)
    return Place("", 0, "")


def _string(town: Town, key: str) -> Place:
    town.redis.delete(key)
    town.redis.set(key, "1")
    return Place("", 0, "type")


def _earlier(town: Town) -> Place:
    """One that was signed as well."""
    line = json.loads(town.heads.read_bytes().splitlines()[0])
    told = json.dumps({**line, "leaves": []}, separators=(",", ":"))
    town.redis.hset(log_keys.state(), mapping={"size": line["size"], "at": line["at"] * 1000, "head": told})
    return Place("", 0, "size")


def _table_rows(town: Town) -> Iterator[Row]:
    kind, key = "log, places of a table", log_keys.table(FREE)
    for field in sorted(town.redis.hgetall(key)):
        for what, edit in (("flip a bit of", flipped), ("add a byte to", EDITS["add a byte to"])):
            yield Row(kind, f"{what} {field.decode()}", _anywhere(_set(key, field, edit, FREE)))
        yield Row(kind, f"drop {field.decode()}", _anywhere(lambda town, field=field: _drop(
            town, log_keys.table(FREE), field, FREE)))
    yield Row(kind, "insert a deal", _insert)


def _anywhere(do: Do) -> Do:
    """At the version at which the deal ended whose leaf is not found, or at none where what is noted is no place."""
    return lambda town: do(town)._replace(version=-1)


def _insert(town: Town) -> Place:
    town.redis.hset(log_keys.table(FREE), "9", "0")
    return Place(FREE, 0, "9")


def _line_rows() -> Iterator[Row]:
    kind = "log, heads outside"
    for part in range(3, 100, 12):
        yield Row(kind, f"flip a bit {part} % into the file", _file(lambda data, part=part: _flip(data, part)))
    yield Row(kind, "drop the first line", _lines(lambda lines: lines[1:]))
    yield Row(kind, "drop the last line", _lines(lambda lines: lines[:-1]))
    yield Row(kind, "swap two lines", _lines(lambda lines: [*lines[:-2], lines[-1], lines[-2]]))
    yield Row(kind, "insert a copy of a line", _lines(lambda lines: [lines[0], *lines]))
    yield Row(kind, "empty the file", _file(lambda data: b""))
    yield Row(kind, "cut its last half off", _file(lambda data: data[: len(data) // 2]))
    for field in ("size", "root", "at", "signed", "leaves"):
        yield Row(kind, f"drop {field} of the last line", _lines(
            lambda lines, field=field: [*lines[:-1], _without(lines[-1], field)]))
    yield Row(kind, "drop a leaf of the last line", _lines(lambda lines: [*lines[:-1], _fewer(lines[-1])]))


def _flip(data: bytes, part: int) -> bytes:
    place = len(data) * part // 100
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


def _file(edit: Callable[[bytes], bytes]) -> Do:
    def do(town: Town) -> Place:
        town.heads.write_bytes(edit(town.heads.read_bytes()))
        return Place("", 0, "")

    return do


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Do:
    return _file(lambda data: b"".join(line + b"\n" for line in change(data.splitlines())))


def _without(line: bytes, field: str) -> bytes:
    return json.dumps({name: value for name, value in json.loads(line).items() if name != field}).encode()


def _fewer(line: bytes) -> bytes:
    told = json.loads(line)
    return json.dumps({**told, "leaves": told["leaves"][1:]}).encode()


def _forged(town: Town, field: bytes, edit: Callable[[bytes], bytes]) -> Place:
    """A move of a finished deal; its table, and the version at which the deal ended, are named."""
    def change(found: list) -> int:
        place = of_type(found, b"card_played", last=False)
        return replaced(found, place, field, edit(found[place][1][field]))

    forge(town, RICH, change)
    return Place(RICH, -1, "")


def _forged_with_leaf(town: Town) -> Place:
    _forged(town, b"at", lambda at: b"%d" % (int(at) + 1))
    found = entries(town, keys.events(RICH))
    told = next(each for each in (read(fields[b"d"]) for _, fields in entries(town, log_keys.leaves()))
                if each.table == RICH)
    head = found[told.last - 1][1][b"h"].decode()
    assert chain.digest(head)
    return _again(town, leaf(RICH, told.deal, told.first, told.last, head))
