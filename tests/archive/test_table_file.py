"""A whole table as one file: what was exported comes back, and every damage is found."""

import io
import json
from collections.abc import Iterator
from functools import reduce

import pytest
import zstandard
from fakeredis import FakeRedis, FakeServer

from services.archive import folder, make
from services.archive.format import pack
from services.archive.frames import BadArchive
from services.archive.table_file import End, Part, packed_table, parts
from services.store import chain, history
from services.worker.restore import restore
from tests.archive.conftest import Archived
from tests.worker.house import OTHER, PARTITIONS, PLAYERS, TABLE

DEALS = 3


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Iterator[Archived]:
    """Three finished deals, one that runs."""
    client = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    house = Archived(client, tmp_path_factory.mktemp("played") / "archive")
    house.open()
    for player in PLAYERS:
        house.say(TABLE, player, "sit")
    house.play_deals(DEALS)
    house.play(8)
    house.follow()
    yield house
    client.close()


def exported(house, table=TABLE):
    version = history.last_version(house.redis, table)
    return list(packed_table(table, version, history.raw_after(house.redis, table, 0)))


def read(data):
    return list(parts(io.BytesIO(data)))


def unpacked(frame):
    return zstandard.ZstdDecompressor().decompress(frame)


def packed(text):
    return zstandard.ZstdCompressor().compress(text)


def test_all_of_a_table_is_there(played):
    *found, end = read(b"".join(exported(played)))
    entries = [entry for part in found for entry in part.deal.entries]
    assert entries == list(history.raw_after(played.redis, TABLE, 0))
    assert [part.is_finished for part in found] == [True] * DEALS + [False]
    assert isinstance(end, End)
    assert (end.version, end.deals) == (len(entries), DEALS)
    told = history.entries_after(played.redis, TABLE, 0)
    assert end.head == chain.text(reduce(lambda head, entry: chain.link(head, TABLE, entry), told, b""))


def test_archived_or_not_it_is_the_same_file_and_its_deals_are_those_of_the_archive(played):
    before = exported(played)
    assert make.archive(played.redis, played.archive, TABLE, DEALS) == DEALS
    assert exported(played) == before
    kept = [file.path.read_bytes() for file in folder.files(played.archive, TABLE)]
    assert before[1 : 1 + DEALS] == kept
    assert [pack(part.deal) for part in read(b"".join(before))[:DEALS]] == kept


def test_it_goes_into_another_archive_and_from_there_into_an_empty_store(played, tmp_path):
    deals = [part.deal for part in read(b"".join(exported(played))) if isinstance(part, Part) and part.is_finished]
    other = tmp_path / "other"
    assert folder.add(other, deals[:2]) == 2
    assert folder.add(other, deals) == 1
    assert folder.add(other, deals) == 0
    assert list(folder.faults(other)) == []
    empty = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    assert restore(empty, other, PARTITIONS, lambda *_: None) == 1
    last = deals[-1].last
    assert list(history.entries_after(empty, TABLE, 0)) == list(history.entries_after(played.redis, TABLE, 0))[:last]
    empty.close()


def test_no_deal_of_an_archive_is_replaced(played, tmp_path):
    deals = [part.deal for part in read(b"".join(exported(played)))[:DEALS]]
    other = tmp_path / "other"
    with pytest.raises(BadArchive, match="does not follow"):
        folder.add(other, deals[1:])
    folder.add(other, deals[:1])
    id_, flat = deals[0].entries[-1]
    changed = deals[0]._replace(entries=[*deals[0].entries[:-1], (id_, [*flat[:-1], b"x"])])
    with pytest.raises(BadArchive, match="another deal 1"):
        folder.add(other, [changed])
    assert folder.read(folder.files(other, TABLE)[0]) == deals[0]


def test_an_empty_rest_is_left_out(house):
    house.play_deals(1)
    *found, end = read(b"".join(exported(house)))
    assert [part.is_finished for part in found] == [True]
    assert end.deals == 1


def test_a_table_without_a_deal_is_all_rest(house):
    house.open(OTHER)
    [part, end] = read(b"".join(exported(house, OTHER)))
    assert (part.is_finished, end.deals, end.version) == (False, 0, 1)


def test_a_file_that_was_cut_off_between_two_frames_says_so(played):
    frames = exported(played)
    for count in range(1, len(frames)):
        with pytest.raises(BadArchive, match="cut off: its end is missing"):
            read(b"".join(frames[:count]))


def test_every_truncation_is_found(house):
    house.play_deals(1)
    data = b"".join(exported(house))
    for length in range(len(data)):
        with pytest.raises(BadArchive):
            read(data[:length])


def test_every_flipped_bit_is_found_or_says_nothing(house):
    house.play_deals(1)
    data = b"".join(exported(house))
    whole = read(data)
    for place in range(0, len(data), 7):
        for bit in (1, 128):
            damaged = bytearray(data)
            damaged[place] ^= bit
            try:
                found = read(bytes(damaged))
            except BadArchive:
                continue
            assert found == whole


def changed_line(frame, change):
    """The frame with its first line changed."""
    first, _, rest = unpacked(frame).partition(b"\n")
    return packed(json.dumps(change(json.loads(first))).encode() + b"\n" + rest)


def without_a_deal(frames):
    return frames[:2] + frames[3:]


def swapped(frames):
    return [frames[0], frames[2], frames[1], *frames[3:]]


def twice(frames):
    return [*frames[:2], *frames[1:]]


def after_the_rest(frames):
    return [*frames[:-3], frames[-2], frames[-3], frames[-1]]


DAMAGES = {
    "a deal is missing": (without_a_deal, r"after version \d+: deal 2 from version \d+ on is missing"),
    "deals are swapped": (swapped, "after version 0: deal 1 from version 1 on is missing"),
    "a deal is there twice": (twice, "deal 2 from"),
    "a deal follows the rest": (after_the_rest, "missing"),
    "something follows": (lambda frames: [*frames, frames[1]], "something follows its end"),
    "no zstd follows": (lambda frames: [*frames, b"\0"], "not packed with zstd"),
    "no beginning": (lambda frames: frames[1:], "first line cannot be read"),
    "another version": (
        lambda frames: [changed_line(frames[0], lambda line: line | {"version": 1}), *frames[1:]], "different versions",
    ),
    "another table": (
        lambda frames: [changed_line(frames[0], lambda line: line | {"table": OTHER}), *frames[1:]], "a deal of",
    ),
    "another format": (
        lambda frames: [changed_line(frames[0], lambda line: line | {"format": "x" * 99}), *frames[1:]], "its format",
    ),
    "another head": (
        lambda frames: [*frames[:-1], changed_line(frames[-1], lambda line: line | {"head": "x" * 43})],
        "its last line tells another head",
    ),
    "another count": (
        lambda frames: [*frames[:-1], changed_line(frames[-1], lambda line: line | {"deals": 9})], "another deals",
    ),
    "a deal without a chain": (
        lambda frames: [frames[0], changed_line(frames[1], lambda line: line | {"previous": "", "head": ""}),
                        *frames[2:]],
        "after version 0: the chain of deal 1",
    ),
    "a rest that is told to be a deal": (
        lambda frames: [*frames[:-2], changed_line(frames[-2], lambda line: line | {"format": "marias-archive/1"}),
                        frames[-1]],
        "another deals",
    ),
    "a line too many": (lambda frames: [packed(unpacked(frames[0]) * 2), *frames[1:]], "must end"),
    "a frame of nothing": (lambda frames: [frames[0], packed(b""), *frames[1:]], "cannot be read"),
    "a frame of another kind": (lambda frames: [frames[0], packed(b"[]\n"), *frames[1:]], "cannot be read"),
}


@pytest.mark.parametrize(("damage", "told"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused_with_its_place(played, damage, told):
    with pytest.raises(BadArchive, match=told):
        read(b"".join(damage(exported(played))))


def test_a_deal_of_another_table_is_found_by_its_chain(played):
    played.open(OTHER)
    for player in PLAYERS:
        played.say(OTHER, player, "sit")
    played.play_deals(1, OTHER)
    frames, others = exported(played), exported(played, OTHER)
    renamed = [part.deal._replace(table=TABLE) for part in read(b"".join(others))[:1]]
    with pytest.raises(BadArchive, match="not linked to what was before"):
        read(b"".join([frames[0], pack(renamed[0]), *frames[2:]]))
