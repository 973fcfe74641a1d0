"""Files in the archive's folder that are none of its files: refused with the reason, and without being held."""

import io
import json
import os
import sys

import pytest
import zstandard
from fakeredis import FakeRedis, FakeServer

from services.archive import folder, shelf
from services.archive.format import Deal, linked, pack, unpack
from services.archive.frames import BYTES_MAX, LINE_MAX, BadArchive, Frames
from services.store import chain, keys
from services.store.cold import PastMissing
from services.store.history import BrokenStream, NewerEvent
from services.worker.restore import restore
from tests.archive.test_format import TABLE, deal
from tests.weighed import GROWTH_MIB_MAX, is_refused, marias
from tests.worker.house import PARTITIONS

MIB = 1024 * 1024


def block(kind, size, last=False):
    """The head of a block of zstd: 0 as it is, 1 one byte repeated."""
    return (last | kind << 1 | size << 3).to_bytes(3, "little")


def frame(*blocks, size=None, window=0x58):
    """A frame of given blocks, with the size it claims to have (None: it says nothing)."""
    head = bytes([0, window]) if size is None else bytes([0xE0]) + size.to_bytes(8, "little")
    return zstandard.FRAME_HEADER + head + b"".join(blocks)


def zeros(count):
    """Blocks that unpack to `count` times 128 KiB of zeros, 4 bytes each."""
    return [block(1, 128 * 1024, number == count - 1) + b"\0" for number in range(count)]


def packed_text(text):
    return zstandard.ZstdCompressor().compress(text)


def header(**fields):
    told = {"format": "marias-archive/1", "table": TABLE, "deal": 1, "first": 1, "last": 3, "count": 3,
            "sha256": "0" * 64}
    return json.dumps({**told, **fields}).encode() + b"\n"


HOSTILE = {
    "nothing": (b"", "it is empty"),
    "PNG": (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "not packed with zstd"),
    "ZIP": (b"PK\x03\x04" + b"\0" * 100, "not packed with zstd"),
    "gzip": (b"\x1f\x8b\x08" + b"\0" * 100, "not packed with zstd"),
    "UTF-16": ("marias".encode("utf-16"), "not packed with zstd"),
    "plain JSON": (header(), "not packed with zstd"),
    "a skippable frame": (b"\x50\x2a\x4d\x18\4\0\0\0abcd" + pack(deal()), "not packed with zstd"),
    "a magic number and no more": (zstandard.FRAME_HEADER, "it cannot be read"),
    "noise in a frame": (zstandard.FRAME_HEADER + b"\x24\x05" + b"\xff" * 40, "it cannot be read"),
    "a window of a gigabyte": (frame(*zeros(2), window=0xA0), "it cannot be read"),
    "a claimed size": (frame(*zeros(2), size=1 << 50), "unpacks to 1125899906842624 bytes"),
    "a bomb that claims a little": (frame(*zeros(8000), size=MIB), "it cannot be read"),
    "a bomb that claims nothing": (frame(*zeros(8000)), "packed tighter"),
    "a long line": (packed_text(os.urandom(3 * MIB).hex().encode()), f"longer than {LINE_MAX}"),
    "blocks of nothing without end": (frame(*[block(0, 0)] * 1000), "cut off"),
    "two deals in one file": (pack(deal(1)) + pack(deal(2, 4)), "something follows"),
    "a byte behind the end": (pack(deal()) + b"x", "not packed with zstd"),
    "a header of another kind": (packed_text(b'{"format":"marias-table/1"}\n'), "first line cannot be read"),
    "a header that is a list": (packed_text(b"[]\n"), "first line cannot be read"),
    "a deep header": (packed_text(b"[" * 100_000 + b"\n"), "first line cannot be read"),
    "NaN": (packed_text(header().replace(b'"first": 1', b'"first": NaN')), "first line cannot be read"),
    "a huge number": (packed_text(header(last=10**400).replace(b"1" + b"0" * 400, b"1" * 5000)),
                      "first line cannot be read"),
    "a surrogate": (packed_text(b'{"format":"\\ud800"}\n'), "first line cannot be read"),
    "no end of the last line": (packed_text(header()[:-1]), "no end"),
    "UTF-16 within": (packed_text(header().decode().encode("utf-16")), "first line cannot be read"),
    "fewer entries than told": (packed_text(header()), "SHA-256"),
    "lines that are no entries": (packed_text(header() + b"\n" * 1000), "line 2 is none"),
    "more entries than told": (packed_text(header() + b'{"id":"1-0"}\n' * 4), "not 1 to 3"),
}


@pytest.mark.parametrize(("packed", "told"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_file_of_the_archive_is_refused_with_the_reason(packed, told):
    with pytest.raises(BadArchive, match=told):
        unpack(packed)


@pytest.mark.parametrize("packed", [packed for packed, _ in HOSTILE.values()], ids=HOSTILE)
def test_what_is_no_file_of_what_was_made_of_a_deal_is_refused_too(tmp_path, packed):
    home = tmp_path / "00" / TABLE
    home.mkdir(parents=True)
    (home / shelf.name(1)).write_bytes(packed)
    with pytest.raises(PastMissing, match="deal 1 cannot be read"):
        shelf.read(tmp_path, TABLE, 1)
    [fault] = folder.faults(tmp_path)
    assert shelf.name(1) in fault


def test_every_truncation_is_found():
    packed = pack(deal())
    for length in range(len(packed)):
        with pytest.raises(BadArchive):
            unpack(packed[:length])


@pytest.mark.parametrize("fields", [
    {"last": 10**15, "count": 10**15}, {"first": -10**15}, {"first": 10**18, "last": 10**18 + 2}, {"count": -1},
])
def test_versions_that_are_told_are_not_believed(fields):
    head, _, rest = zstandard.ZstdDecompressor().decompress(pack(deal())).partition(b"\n")
    with pytest.raises(BadArchive, match="in a row"):
        unpack(packed_text(json.dumps({**json.loads(head), **fields}).encode() + b"\n" + rest))


@pytest.mark.parametrize("field", [b'"at":1', b'"at":null', b'"at":[1]', b'"at":{"base64":5}', b'"at":{"base64":"~"}'])
def test_a_field_of_another_type_is_refused(field):
    import hashlib

    _, _, rest = zstandard.ZstdDecompressor().decompress(pack(deal())).partition(b"\n")
    body = rest.replace(b'"at":"1"', field, 1)
    assert body != rest
    with pytest.raises(BadArchive, match="an entry cannot be read"):
        unpack(packed_text(header(sha256=hashlib.sha256(body).hexdigest()) + body))


def test_a_frame_follows_a_frame():
    first, second = pack(deal(1)), pack(deal(2, 4))
    frames = Frames(io.BytesIO(first + second))
    found = []
    while frames.begin():
        found.append(list(frames.lines()))
    assert found == [zstandard.ZstdDecompressor().decompress(each).splitlines() for each in (first, second)]


def linked_deal(changes, count=3):
    """A deal whose header and chain are in order, whatever its entries say."""
    entries = []
    for version in range(1, count + 1):
        fields = {"at": b"1", "a": b"ana", "k": b"k", "f": b"f", "e": b"[]", "x": b"t", **changes}
        entries.append((b"%d-0" % version, [part for name, value in fields.items() for part in (name.encode(), value)]))
    return linked(Deal(TABLE, 1, entries), chain.text(chain.genesis(TABLE)))


STRANGE = {
    "no events": {}, "no JSON": {"e": b"marias"}, "no list": {"e": b"{}"}, "unknown events": {"e": b'[{"type":"x"}]'},
    "half an event": {"e": b'[{"type":"deal_ended"}]'}, "deep events": {"e": b"[" * 100_000},
    "a huge time": {"at": b"9" * 4000}, "a time before all": {"at": b"-1"},
    "another type": {"e": b'[{"type":"sat_down","seat":"0","player":1,"name":[]}]'},
    "events of later": {"e": b'[{"type":"seat_freed","seat":0,"v":99}]'},
    "a seat that is none": {"e": b'[{"type":"seat_freed","seat":7}]'},
    "a huge seat": {"e": b'[{"type":"seat_freed","seat":%b}]' % (b"9" * 4000)},
}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("changes", STRANGE.values(), ids=STRANGE)
def test_whole_files_that_tell_of_no_table_are_refused_when_it_is_made_again(tmp_path, changes, count):
    folder.write(tmp_path, [linked_deal(changes, count)])
    assert list(folder.faults(tmp_path)) == []
    empty = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    with pytest.raises((PastMissing, BrokenStream, NewerEvent), match=TABLE):
        restore(empty, tmp_path, PARTITIONS, lambda *_: None)
    assert empty.exists(keys.view(TABLE)) == 0
    empty.close()


@pytest.mark.parametrize("field", ["at", "a", "k", "f", "e", "x"])
def test_an_entry_without_a_field_is_refused(field):
    whole = linked_deal({})
    id_, flat = whole.entries[1]
    place = flat.index(field.encode())
    entries = [whole.entries[0], (id_, [*flat[:place], *flat[place + 2 :]]), whole.entries[2]]
    with pytest.raises(BadArchive, match=f"an entry cannot be read: .*{field}"):
        unpack(pack(Deal(TABLE, 1, entries)))


def test_a_table_of_another_installation_is_named(tmp_path):
    folder.write(tmp_path, [Deal("t-ff-00000000000a", 1, deal().entries)])
    (tmp_path / "00" / TABLE).mkdir(parents=True)
    empty = FakeRedis(server=FakeServer(version=(7,)), protocol=2)
    with pytest.raises(PastMissing, match="MARIAS_PARTITIONS"):
        restore(empty, tmp_path, PARTITIONS, lambda *_: None)
    empty.close()


def test_names_that_lead_nowhere_are_told(tmp_path):
    file = folder.write(tmp_path, [deal()])
    for make in (lambda: os.mkfifo(file.path), lambda: file.path.symlink_to(file.path), file.path.mkdir):
        file.path.unlink(missing_ok=True)
        make()
        [fault] = folder.faults(tmp_path)
        assert fault.startswith(f"{file.path}: it cannot be read")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_bombs_do_not_weigh(tmp_path):
    home = tmp_path / "archive" / "00" / TABLE
    home.mkdir(parents=True)
    idle = marias(tmp_path, "archive", "--help")
    for packed in (frame(*zeros(80_000)), frame(*zeros(8000), size=BYTES_MAX), packed_text(b"[" * (100 * MIB)),
                   packed_text(header() + b'{"id":"1-0"}\n' * 8_000_000)):
        (home / "000001.1-3.jsonl.zst").write_bytes(packed)
        ended = marias(tmp_path, "archive", "verify", str(tmp_path / "archive"))
        assert is_refused(ended, "000001.1-3.jsonl.zst: it cannot be read: ")
        assert ended.mib - idle.mib < GROWTH_MIB_MAX, (ended.mib, idle.mib)
