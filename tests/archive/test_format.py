"""A file of the archive: the stream's entries as they were, and every damage is found."""

import contextlib
import json
import os
import stat

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from services.archive import folder
from services.archive.format import FORMAT, Deal, linked, pack, unpack
from services.archive.frames import BadArchive
from services.store import chain
from services.store.cold import PastMissing

TABLE = "t-00-00000000000a"


def entry(version, events=b"[]", **fields):
    stored = {"at": b"1", "a": b"ana", "k": b"k", "f": b"f", "e": events, "x": b"t", **fields}
    return b"%d-0" % version, [part for name, value in stored.items() for part in (name.encode(), value)]


def deal(number=1, first=1, count=3):
    return Deal(TABLE, number, [entry(version) for version in range(first, first + count)])


def test_the_first_line_tells_what_follows():
    lines = zstandard.ZstdDecompressor().decompress(pack(deal())).splitlines()
    assert json.loads(lines[0]) | {"sha256": ""} == {
        "format": FORMAT, "table": TABLE, "deal": 1, "first": 1, "last": 3, "count": 3, "sha256": ""
    }
    assert json.loads(lines[1]) == {"id": "1-0", "at": "1", "a": "ana", "k": "k", "f": "f", "e": "[]", "x": "t"}


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5))
def test_what_is_packed_comes_back(values):
    whole = Deal(TABLE, 7, [entry(number, value) for number, value in enumerate(values, 4)])
    assert unpack(pack(whole)) == whole


def test_members_of_the_first_line_that_are_not_known_are_passed_over():
    head, _, rest = zstandard.ZstdDecompressor().decompress(pack(deal())).partition(b"\n")
    more = json.dumps({**json.loads(head), "chain": "ab", "signature": {"by": "x"}}).encode()
    assert unpack(zstandard.ZstdCompressor().compress(more + b"\n" + rest)) == deal()


def test_the_first_line_tells_the_chain_before_and_after():
    one = linked(deal(), chain.text(chain.genesis(TABLE)))
    two = linked(deal(2, 4), one.head)
    head = json.loads(zstandard.ZstdDecompressor().decompress(pack(two)).splitlines()[0])
    assert (head["previous"], head["head"]) == (one.head, two.head)
    assert unpack(pack(two)) == two


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda deal: deal._replace(entries=[entry(1), entry(2, b"[1]"), entry(3)]), "does not end with"),
        (lambda deal: deal._replace(entries=[entry(1), entry(2, h=b"A" * 43), entry(3)]), "the hash of version 2"),
        (lambda deal: deal._replace(previous=deal.head), "does not end with"),
        (lambda deal: deal._replace(head=deal.previous), "does not end with"),
        (lambda deal: deal._replace(previous="no hash"), "not linked"),
    ],
    ids=["an entry", "the hash of an entry", "what was before", "what comes after", "nonsense"],
)
def test_a_file_made_anew_around_a_change_does_not_fit_the_chain(change, told):
    whole = linked(deal(), chain.text(chain.genesis(TABLE)))
    with pytest.raises(BadArchive, match=told):
        unpack(pack(change(whole)))


def test_a_deal_that_is_of_another_chain_is_named(tmp_path):
    one = linked(deal(), chain.text(chain.genesis(TABLE)))
    folder.write(tmp_path, [one, linked(deal(2, 4), one.head)])
    assert list(folder.faults(tmp_path)) == []
    assert folder.head_at(tmp_path, TABLE, 3) == one.head
    folder.write(tmp_path, [linked(deal(2, 4), one.previous)])
    [fault] = folder.faults(tmp_path)
    assert "000002.4-6" in fault
    assert "(previous)" in fault


def test_the_chain_goes_on_behind_files_that_do_not_tell_it(tmp_path):
    one = linked(deal(), chain.text(chain.genesis(TABLE)))
    folder.write(tmp_path, [deal()])
    assert folder.head_at(tmp_path, TABLE, 3) == one.head
    assert folder.head_at(tmp_path, TABLE, 2) == ""
    assert folder.head_at(tmp_path, TABLE, 0) == one.previous
    folder.write(tmp_path, [linked(deal(2, 4), one.head)])
    assert list(folder.faults(tmp_path)) == []


def changed(packed, change):
    return zstandard.ZstdCompressor().compress(change(zstandard.ZstdDecompressor().decompress(packed)))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace(b'"ana"', b'"eva"', 1), "SHA-256"),
        (lambda text: b"\n".join(text.split(b"\n")[:-2]) + b"\n", "SHA-256"),
        (lambda text: text[:40], "cannot be read"),
        (lambda text: b"", "cannot be read"),
        (lambda text: text.replace(b"marias-archive/1", b"marias-archive/2"), "its format"),
        (lambda text: text.replace(b'"last":3', b'"last":4'), "not 1 to 4"),
        (lambda text: text.replace(b'"first":1', b'"first":0'), "not 0 to 3"),
        (lambda text: text.replace(b'"count":3', b'"count":2'), "not 1 to 3"),
    ],
)
def test_a_damaged_text_is_found(change, told):
    with pytest.raises(BadArchive, match=told):
        unpack(changed(pack(deal()), change))


def test_every_flipped_bit_of_a_file_is_found():
    packed = pack(deal())
    for place in range(len(packed)):
        damaged = bytearray(packed)
        damaged[place] ^= 1
        with contextlib.suppress(BadArchive):
            assert unpack(bytes(damaged)) == deal()  # Some bits of the packing say nothing.


def test_files_are_for_their_owner_alone(tmp_path):
    old = os.umask(0)
    try:
        file = folder.write(tmp_path / "archive", [deal()])
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (file.path, *list(file.path.parents)[:3])}
    assert modes == {file.path.name: 0o600, TABLE: 0o700, "00": 0o700, "archive": 0o700}


def test_nothing_but_whole_files_lies_in_the_folder(tmp_path):
    folder.write(tmp_path, [deal()])
    folder.write(tmp_path, [deal()])
    assert [path.name for path in (tmp_path / "00" / TABLE).iterdir()] == ["000001.1-3.jsonl.zst"]


def test_a_file_that_is_not_what_it_was_is_written_again(tmp_path):
    file = folder.write(tmp_path, [deal()])
    file.path.write_bytes(b"")
    assert folder.read(folder.write(tmp_path, [deal()])) == deal()


def test_entries_are_found_by_version_over_several_deals(tmp_path):
    for number in range(3):
        folder.write(tmp_path, [deal(number + 1, 1 + 3 * number)])
    found = folder.entries(tmp_path, TABLE, 3, 7)
    assert [id_ for id_, _ in found] == [b"3-0", b"4-0", b"5-0", b"6-0", b"7-0"]
    assert folder.entries(tmp_path, "t-00-00000000000b", 1, 3) == []


def test_the_first_fault_is_named(tmp_path):
    for number in range(4):
        folder.write(tmp_path, [deal(number + 1, 1 + 3 * number)])
    assert list(folder.faults(tmp_path)) == []
    one, two, three, _ = folder.files(tmp_path, TABLE)
    two.path.unlink()
    assert list(folder.faults(tmp_path)) == [f"{three.path}: deal 2 from version 4 on is missing before it"]
    one.path.write_bytes(one.path.read_bytes()[:-3])
    assert next(folder.faults(tmp_path)).startswith(f"{one.path}: it cannot be read")
    three.path.rename(three.path.parent / "000003.8-10.jsonl.zst")
    assert "it holds deal 3" in list(folder.faults(tmp_path))[1]
    with pytest.raises(PastMissing):
        folder.entries(tmp_path, TABLE, 1, 12)
