"""What somebody could change of all that is made of the events, and of the bank, and where it must be found."""

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from services.store import keys
from services.store.accounts import house_of
from services.store.packing import packed, unpacked
from tests.audit.tampers import Place, Row, entries, flipped, put
from tests.audit.town import FREE, FRESH, RICH, Town
from tests.worker.house import ANA, BARA

Do = Callable[[Town], Place]


class Hash(NamedTuple):
    """A key that holds fields; each is flipped, cut, emptied, dropped and swapped with another. Faults lie at `whose`;
    `names` gives what a fault of a field is called where that is not the field, and `loses` what a lost one is."""

    kind: str
    key: str
    whose: str
    names: Mapping[bytes, str] = MappingProxyType({})
    loses: str = "fields"
    only: tuple[bytes, ...] = ()


def rows(town: Town) -> Iterator[Row]:
    """Every field of every key of every kind; then whole keys, members and entries."""
    for each in hashes():
        yield from _hash_rows(town, each)
    yield from _feed_rows(town)
    yield from _receipt_rows(town)
    yield from _record_rows()
    yield from _lobby_rows()
    yield from _key_rows()
    yield from _account_rows(town)


def hashes() -> list[Hash]:
    """Those whose fields can be changed one by one."""
    return [
        Hash("view", keys.view(FREE), FREE),
        Hash("view", keys.view(RICH), RICH),
        Hash("snapshot", keys.snapshot(FREE), FREE, only=(b"v", b"b"), loses="v|fields"),
        Hash("projections", keys.fold(RICH), RICH, {b"v": ""}, "|"),
        Hash("projections", keys.bank(RICH), RICH),
        Hash("projections", keys.balance(ANA), "", {b"balance": "balance|postings"}, ""),
        Hash("marks", keys.archived("01"), FREE, only=(FREE.encode(),), names={FREE.encode(): "|"}, loses=FREE),
        Hash("bank", keys.account(ANA), ANA, {b"v": "", b"b": "b", b"h": "h"}, ""),
        Hash("bank", keys.account(house_of("00")), house_of("00"), {b"v": ""}, ""),
        Hash("bank", keys.transfers(ANA), ANA),
    ]


def _hash_rows(town: Town, each: Hash) -> Iterator[Row]:
    found = town.redis.hgetall(each.key)
    for field in each.only or sorted(found):
        name, said = each.names.get(field, field.decode()), field.decode()
        short = f"{said[:24]} of {each.key.split(':')[2]}"
        yield Row(each.kind, f"flip a bit of {short}", _set(each, field, name, flipped))
        yield Row(each.kind, f"cut the end off {short}", _set(each, field, name, lambda value: value[:-1]))
        yield Row(each.kind, f"add a byte to {short}", _set(each, field, name, lambda value: value + b"7"))
        yield Row(each.kind, f"empty {short}", _set(each, field, name, lambda value: b""))
        yield Row(each.kind, f"drop {short}", _drop(each, field, f"{name}|{each.loses}"))
    if not each.only and each.kind != "view":
        yield Row(each.kind, f"insert a field into {each.key.split(':')[2]}", _insert(each))


def _set(each: Hash, field: bytes, name: str, edit: Callable[[bytes], bytes]) -> Do:
    def do(town: Town) -> Place:
        town.redis.hset(each.key, field, edit(town.redis.hget(each.key, field)))
        return Place(_whose(each, field), -1, name)

    return do


def _drop(each: Hash, field: bytes, name: str) -> Do:
    def do(town: Town) -> Place:
        town.redis.hdel(each.key, field)
        return Place(_whose(each, field), -1, name)

    return do


def _whose(each: Hash, field: bytes) -> str:
    """A posting to a score is found with the table that it comes from."""
    return FREE if field.startswith(FREE.encode()) and not each.whose else each.whose


def _insert(each: Hash) -> Do:
    def do(town: Town) -> Place:
        town.redis.hset(each.key, f"{FREE}:999:0", b"1")
        return Place(each.whose, -1, "")

    return do


def _feed_rows(town: Town) -> Iterator[Row]:
    kind, key = "feed", keys.feed(FREE)
    found = entries(town, key)
    for place, (_, fields) in ((0, found[0]), (len(found) // 2, found[len(found) // 2]), (-1, found[-1])):
        for field in fields:
            for what, edit in (("flip a bit of", flipped), ("cut", lambda value: value[:-1]), ("drop", None)):
                yield Row(kind, f"{what} {field.decode()} of entry {place}", _feed(place, field, edit))
        yield Row(kind, f"drop entry {place}", _feed_entries(lambda all_, place=place: _without(all_, place)))
    yield Row(kind, "swap two entries", _feed_entries(lambda all_: [
        *all_[:3], (all_[3][0], all_[4][1]), (all_[4][0], all_[3][1]), *all_[5:],
    ]))
    yield Row(kind, "insert an entry", _feed_entries(lambda all_: [
        *all_, (b"%d-0" % (int(all_[-1][0].partition(b"-")[0]) + 1), all_[-1][1]),
    ]))
    yield Row(kind, "truncate", _feed_entries(lambda all_: all_[:3]))


def _without(all_: list, place: int) -> list:
    return [each for each in all_ if each is not all_[place]]


def _feed(place: int, field: bytes, edit: Callable[[bytes], bytes] | None) -> Do:
    def do(town: Town) -> Place:
        found = entries(town, keys.feed(FREE))
        id_, fields = found[place]
        changed = {name: value for name, value in fields.items() if name != field or edit}
        found[place] = id_, {**changed, field: edit(fields[field])} if edit else changed
        put(town, keys.feed(FREE), found)
        return Place(FREE, int(id_.partition(b"-")[0]), field.decode())

    return do


def _feed_entries(change: Callable[[list], list]) -> Do:
    def do(town: Town) -> Place:
        put(town, keys.feed(FREE), change(entries(town, keys.feed(FREE))))
        return Place(FREE, -1, "")

    return do


def _receipt_rows(town: Town) -> Iterator[Row]:
    kind, key = "receipts", keys.receipts(FRESH)
    field = next(name for name, text in town.redis.hgetall(key).items() if json.loads(text)["v"] == 4)
    for name in ("v", "f", "s", "h"):
        yield Row(kind, f"change {name}", _receipt(field, lambda told, name=name: {**told, name: _other(told[name])}))
        yield Row(kind, f"drop {name}", _receipt(
            field, lambda told, name=name: {each: value for each, value in told.items() if each != name}
        ))
    yield Row(kind, "say that it was refused", _receipt(field, lambda told: {**told, "s": "refused", "c": "wrong"}))
    yield Row(kind, "drop one", lambda town: _hdel(town, key, field, Place(FRESH, 4, "")))
    yield Row(kind, "add a field to one", _receipt(field, lambda told: {**told, "z": 1}))
    yield Row(kind, "no JSON", lambda town: _hset(town, key, field, b"{", Place(FRESH, -1, "")))
    yield Row(kind, "one of a command that nobody sent", lambda town: _hset(
        town, key, b"u-09/k", b'{"v":4,"f":"f","s":"applied"}', Place(FRESH, 4, "u-09/k")))
    yield Row(kind, "under the name of another", lambda town: _rename_field(town, key, field))
    reserved = keys.reservations(FRESH)
    yield Row(kind, "flip a bit of a reservation", lambda town: _hset(
        town, reserved, field, flipped(town.redis.hget(reserved, field)), Place(FRESH, 4, field.decode())))
    yield Row(kind, "drop a reservation", lambda town: _hdel(town, reserved, field, Place(FRESH, 4, field.decode())))


def _other(value: object) -> object:
    return value + 1 if isinstance(value, int) else flipped(str(value).encode()).decode()


def _receipt(field: bytes, change: Callable[[dict], dict]) -> Do:
    def do(town: Town) -> Place:
        key = keys.receipts(FRESH)
        text = json.dumps(change(json.loads(town.redis.hget(key, field))), separators=(",", ":"))
        town.redis.hset(key, field, text)
        return Place(FRESH, -1, "")

    return do


def _hset(town: Town, key: str, field: bytes, value: bytes, place: Place) -> Place:
    town.redis.hset(key, field, value)
    return place


def _hdel(town: Town, key: str, field: bytes, place: Place) -> Place:
    town.redis.hdel(key, field)
    return place


def _rename_field(town: Town, key: str, field: bytes) -> Place:
    town.redis.hset(key, b"u-09/other", town.redis.hget(key, field))
    town.redis.hdel(key, field)
    return Place(FRESH, 4, "")


def _record_rows() -> Iterator[Row]:
    for key, field in (
        (keys.records(FREE), b"4"), (keys.records(FREE), f"4:{ANA}".encode()), (keys.sealed_records(FREE), b"4"),
    ):
        kind, name = "records" if "rec" in key else "sealed records", field.decode()
        short = "a player's part" if ":" in name else "a record"
        yield Row(kind, f"flip a bit of the bytes of {short}", _packed(key, field, _bit))
        yield Row(kind, f"cut {short}", _packed(key, field, lambda data: data[:-4]))
        yield Row(kind, f"empty {short}", _packed(key, field, lambda data: b""))
        yield Row(kind, f"change a card in {short} and pack it", _packed(key, field, _other_card))
        yield Row(kind, f"drop {short}", lambda town, key=key, field=field: _hdel(
            town, key, field, Place(FREE, -1, field.decode())))
        yield Row(kind, f"insert {short}", lambda town, key=key, field=field: _hset(
            town, key, b"9" + field, town.redis.hget(key, field), Place(FREE, -1, "fields")))
        yield Row(kind, f"swap {short} with that of another deal", lambda town, key=key, field=field: _swap(
            town, key, field))


def _bit(data: bytes) -> bytes:
    return data[:-6] + bytes([data[-6] ^ 1]) + data[-5:]


def _packed(key: str, field: bytes, edit: Callable[[bytes], bytes]) -> Do:
    def do(town: Town) -> Place:
        town.redis.hset(key, field, edit(town.redis.hget(key, field)))
        return Place(FREE, -1, field.decode())

    return do


def _other_card(data: bytes) -> bytes:
    text = unpacked(data).decode()
    card, other = ("7h", "8h") if '"7h"' in text else ('"type":"', '"type":"x') if '"type"' in text else ('"', "'")
    assert card in text
    return packed(text.replace(card, other, 1).encode())


def _swap(town: Town, key: str, field: bytes) -> Place:
    other = b"3" + field[1:]
    one, two = town.redis.hget(key, field), town.redis.hget(key, other)
    town.redis.hset(key, mapping={field: two, other: one})
    return Place(FREE, -1, other.decode())


def _lobby_rows() -> Iterator[Row]:
    kind, table = "lobby", RICH.encode()
    yield Row(kind, "flip a bit of a row", lambda town: _hset(
        town, keys.lobby(), table, flipped(town.redis.hget(keys.lobby(), table)), Place(RICH, -1, RICH)))
    yield Row(kind, "drop a row", lambda town: _hdel(town, keys.lobby(), table, Place(RICH, -1, RICH)))
    yield Row(kind, "insert a row of a private table", lambda town: _hset(
        town, keys.lobby(), FRESH.encode(), b"{}", Place(FRESH, -1, FRESH)))
    yield Row(kind, "another version of a row", lambda town: _hset(
        town, keys.lobby_versions(), table, b"1", Place(RICH, -1, RICH)))
    yield Row(kind, "a later version of a row", lambda town: _hset(
        town, keys.lobby_versions(), table, b"999", Place(RICH, -1, RICH)))
    yield Row(kind, "drop the version of a row", lambda town: _hdel(
        town, keys.lobby_versions(), table, Place(RICH, -1, RICH)))
    yield Row(kind, "drop a place", lambda town: _drop_member(town, keys.lobby_order(), RICH))


def _drop_member(town: Town, key: str, whose: str) -> Place:
    member = next(each for each in town.redis.zrange(key, 0, -1) if whose.encode() in each)
    town.redis.zrem(key, member)
    return Place(whose, -1, "")


def _key_rows() -> Iterator[Row]:
    """Whole keys."""
    for kind, key, whose in (
        ("view", keys.view(FREE), FREE), ("feed", keys.feed(FREE), FREE), ("snapshot", keys.snapshot(FREE), FREE),
        ("receipts", keys.receipts(FRESH), FRESH), ("projections", keys.bank(FREE), FREE),
        ("records", keys.records(FREE), FREE), ("sealed records", keys.sealed_records(FREE), FREE),
        ("bank", keys.account(ANA), ANA), ("bank", keys.postings(ANA), ANA), ("bank", keys.transfers(ANA), ANA),
        ("bank", keys.account(house_of("00")), house_of("00")),
        ("projections", keys.balance(ANA), ""), ("projections", keys.score(ANA), ""),
    ):
        yield Row(kind, f"delete {key.split(':')[2]}", lambda town, key=key, whose=whose: _delete(town, key, whose))
        yield Row(kind, f"another type of {key.split(':')[2]}", lambda town, key=key, whose=whose: _string(
            town, key, whose))
    yield Row("tables", "drop a table from the list", lambda town: _srem(town, FREE))
    yield Row("projections", "say that a table is stopped", lambda town: _hset(
        town, keys.frozen("01"), FREE.encode(), b"{}", Place(FREE, -1, FREE)))
    yield Row("projections", "insert a place into a score", lambda town: _zadd(town, keys.score(ANA)))
    yield Row("projections", "drop a place from a score", _drop_place)


def _delete(town: Town, key: str, whose: str) -> Place:
    town.redis.delete(key)
    return Place(whose, -1, "")


def _string(town: Town, key: str, whose: str) -> Place:
    town.redis.delete(key)
    town.redis.set(key, "1")
    return Place(whose, -1, "")


def _srem(town: Town, table: str) -> Place:
    town.redis.srem(keys.tables(keys.partition_of(table)), table)
    return Place(table, -1, table)


def _zadd(town: Town, key: str) -> Place:
    town.redis.zadd(key, {f"{0:015d}-{FREE}-{9:09d}-0": 0})
    return Place(ANA, -1, "members")


def _drop_place(town: Town) -> Place:
    town.redis.zrem(keys.score(ANA), town.redis.zrange(keys.score(ANA), 0, 0)[0])
    return Place(FREE, -1, "")


def _account_rows(town: Town) -> Iterator[Row]:
    kind = "bank"
    for account in (ANA, keys.HOUSE):
        found = entries(town, keys.postings(account))
        for place in range(len(found)):
            for field in found[place][1]:
                for what, edit in (("flip a bit of", flipped), ("drop", None)):
                    row = f"{what} {field.decode()} of posting {place + 1} of {account[:10]}"
                    yield Row(kind, row, _posting(account, place, field, edit))
        yield Row(kind, f"drop the last posting of {account[:10]}", _postings(account, lambda all_: all_[:-1]))
        yield Row(kind, f"drop the first posting of {account[:10]}", _postings(account, lambda all_: all_[1:]))
        if len(found) > 1:
            yield Row(kind, f"swap two postings of {account[:10]}", _postings(
                account, lambda all_: [(all_[0][0], all_[1][1]), (all_[1][0], all_[0][1]), *all_[2:]]))
        yield Row(kind, f"repeat a posting of {account[:10]}", _postings(
            account, lambda all_: [*all_, (b"%d-0" % (len(all_) + 1), all_[-1][1])]))
    yield Row(kind, "forger: a grant more, in balance, index and version", _forged_grant)
    yield Row(kind, "forger: chips from one player to another, all in order", _forged_transfer)
    yield Row(kind, "forger: an account of its own", _forged_account)


def _posting(account: str, place: int, field: bytes, edit: Callable[[bytes], bytes] | None) -> Do:
    def do(town: Town) -> Place:
        found = entries(town, keys.postings(account))
        id_, fields = found[place]
        changed = {name: value for name, value in fields.items() if name != field or edit}
        found[place] = id_, {**changed, field: edit(fields[field])} if edit else changed
        put(town, keys.postings(account), found)
        return Place("", -1, "")

    return do


def _postings(account: str, change: Callable[[list], list]) -> Do:
    def do(town: Town) -> Place:
        put(town, keys.postings(account), change(entries(town, keys.postings(account))))
        return Place(account, -1, "")

    return do


def post(town: Town, account: str, posting: dict[str, object]) -> None:
    """A posting as a forger writes it who knows where everything lies."""
    version, balance = (int(each or 0) for each in town.redis.hmget(keys.account(account), "v", "b"))
    chips = int(posting["chips"]) * (1 if posting["credit"] == account else -1)
    town.redis.xadd(keys.postings(account), {**posting, "at": 1}, id=f"{version + 1}-0")
    town.redis.hset(keys.account(account), mapping={"v": version + 1, "b": balance + chips})
    town.redis.hset(keys.transfers(account), posting["id"], version + 1)


def _forged_grant(town: Town) -> Place:
    posting = {"id": "grant-more", "debit": house_of("00"), "credit": ANA, "chips": 500}
    for account in (ANA, house_of("00")):
        post(town, account, posting)
    return Place(ANA, -1, "")


def _forged_transfer(town: Town) -> Place:
    posting = {"id": f"{RICH}.1-0-back", "debit": f"table:{RICH}", "credit": BARA, "chips": 5, "version": 3}
    post(town, BARA, posting)
    return Place(BARA, -1, "")


def _forged_account(town: Town) -> Place:
    player = "u-00-00000000000000ff"
    posting = {"id": f"grant-{player}", "debit": house_of("00"), "credit": player, "chips": 1000}
    post(town, player, posting)
    return Place(player, -1, "")
