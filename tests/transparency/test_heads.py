"""Heads are signed while the log grows, kept outside the store first, and never for a log that is not the old one."""

import json

import pytest

from engine import merkle
from services.signing import BadSignature
from services.store import chain, deal_log, log_keys
from services.store.deal_log import Leaf
from services.transparency import heads, outside, signing
from services.transparency.heads import BadHeads
from services.transparency.leaves import leaf
from services.transparency.outside import BadTarget, InFile
from services.transparency.restoring import restore
from services.transparency.signing import Book, Refused, sign
from tests.transparency.conftest import Logged

NAMES = ("t-00-00000000000a", "t-01-00000000000b")


def deals(first: int, last: int) -> list[Leaf]:
    """Deals at two tables in turn."""
    return [leaf(NAMES[n % 2], n // 2 + 1, 10 * n + 1, 10 * n + 9, chain.text(bytes(31) + bytes([n])))
            for n in range(first, last)]


def grow(redis, first, last):
    assert deal_log.grow(redis, deals(first, last))


def lines(house):
    return [json.loads(line) for line in house.kept.lines()]


def test_nothing_is_signed_for_an_empty_log(house):
    assert sign(house.book) is None
    assert list(house.kept.lines()) == []


def test_a_head_is_kept_outside_the_store_before_it_is_told(house, monkeypatch):
    grow(house.redis, 0, 3)

    def gone(*_):
        raise RuntimeError("killed")

    monkeypatch.setattr(deal_log, "keep_head", gone)
    with pytest.raises(RuntimeError):
        sign(house.book)
    assert [line["size"] for line in lines(house)] == [3]
    assert deal_log.state(house.redis).head == b""
    monkeypatch.undo()
    house.now += 100
    told = sign(house.book)
    assert [line["size"] for line in lines(house)] == [3]
    assert (told.size, told.at) == (3, 1_800_000_000)
    assert json.loads(deal_log.state(house.redis).head)["signed"] == told.signed


def test_where_the_file_was_lost_the_stores_own_head_counts(house):
    """Who deletes the file and writes the log anew does not get that signed."""
    grow(house.redis, 0, 3)
    sign(house.book)
    kept = house.kept.path.read_bytes()
    house.kept.path.unlink()
    grow(house.redis, 3, 5)
    told = sign(house.book)
    assert [(line["size"], len(line["leaves"])) for line in lines(house)] == [(5, 5)]
    assert told.size == 5
    for text in (b"", kept):
        house.kept.path.write_bytes(text)
        state = house.redis.hgetall(log_keys.state())
        house.redis.setrange(log_keys.nodes(0, 0), 4 * 32, b"x" * 32)
        with pytest.raises(Refused, match="forked"):
            sign(house.book)
        assert house.kept.path.read_bytes() == text
        house.redis.setrange(log_keys.nodes(0, 0), 4 * 32, merkle.leaf_hash(deals(4, 5)[0].data))
        house.redis.hset(log_keys.state(), mapping=state)


def test_a_head_says_what_the_leaves_make_and_grows_out_of_the_one_before(house):
    for first, last in ((0, 1), (1, 6), (6, 9)):
        grow(house.redis, first, last)
        sign(house.book)
        house.now += 60
    told = lines(house)
    tree = [merkle.leaf_hash(each.data) for each in deals(0, 9)]
    assert [line["size"] for line in told] == [1, 6, 9]
    assert [line["root"] for line in told] == [chain.text(merkle.root(tree[:size])) for size in (1, 6, 9)]
    assert [line["leaves"] for line in told] == [
        [each.data.decode() for each in deals(*between)] for between in ((0, 1), (1, 6), (6, 9))
    ]
    for line in told:
        assert heads.read(house.signer.find, line["signed"]) == (line["size"], line["root"], line["at"])
    path = deal_log.consistency(house.redis, 6, 9)
    roots = [chain.digest(line["root"]) for line in told]
    assert merkle.verify_consistency(6, 9, path, roots[1], roots[2])
    assert [line.size for line in heads.all_checked(house.signer.find, house.kept.lines())] == [1, 6, 9]


def test_a_log_that_has_not_grown_gets_no_other_head(house):
    grow(house.redis, 0, 2)
    first = sign(house.book)
    house.now += 1_000
    assert sign(house.book) == first
    assert len(lines(house)) == 1


def test_many_leaves_get_several_lines(house, monkeypatch):
    monkeypatch.setattr(signing, "LEAVES_MAX", 4)
    grow(house.redis, 0, 9)
    sign(house.book)
    assert [len(line["leaves"]) for line in lines(house)] == [4, 4, 1]


def refused(house, words):
    with pytest.raises(Refused, match=words):
        sign(house.book)
    assert len(lines(house)) == 1
    assert words in deal_log.state(house.redis).wrong
    house.keeper.sign()
    assert not house.keeper._is_ours


def test_a_log_that_has_shrunk_is_refused_and_can_be_made_whole_again(house, empty):
    grow(house.redis, 0, 5)
    sign(house.book)
    less = Logged(empty, house.home)
    grow(empty, 0, 3)
    refused(less, "has shrunk")
    assert restore(less.book, lambda _: None) == 2
    sign(less.book)
    assert deal_log.state(empty) == deal_log.state(house.redis)
    assert deal_log.leaves(empty, 0, 9) == deal_log.leaves(house.redis, 0, 9)


def test_a_log_that_was_written_anew_is_refused(house, empty):
    grow(house.redis, 0, 5)
    sign(house.book)
    other = Logged(empty, house.home)
    changed = [each._replace(data=each.data.replace(b'"first":1,', b'"first":2,')) for each in deals(0, 6)]
    deal_log.grow(empty, changed)
    refused(other, "is forked")
    with pytest.raises(Refused, match="are not the first"):
        restore(other.book, lambda _: None)


@pytest.mark.parametrize("damage", ["leaf", "node", "leaf that is gone"])
def test_a_log_whose_leaves_do_not_make_its_tree_is_refused(house, damage):
    grow(house.redis, 0, 4)
    sign(house.book)
    grow(house.redis, 4, 7)
    if damage == "node":
        house.redis.setrange(log_keys.nodes(1, 0), 2 * 32, b"x" * 32)
    else:
        told = house.redis.xrange(log_keys.leaves())
        house.redis.delete(log_keys.leaves())
        for id_, fields in told:
            if id_ != b"6-0":
                house.redis.xadd(log_keys.leaves(), fields, id=id_)
            elif damage == "leaf":
                house.redis.xadd(log_keys.leaves(), {"d": fields[b"d"].replace(b":5", b":6")}, id=id_)
    refused(house, "is damaged")


def test_nothing_is_appended_to_a_log_that_is_not_ours(house, empty):
    grow(house.redis, 0, 5)
    sign(house.book)
    stops = iter([False] * 3 + [True])
    less = Logged(empty, house.home)
    less.open()
    deal_log.add_unlogged(empty, [("t-01-00000000000a", 0)])
    less.keeper.run(lambda: next(stops))
    assert deal_log.state(empty).size == 0
    assert "has shrunk" in deal_log.state(empty).wrong


def test_a_head_of_other_keys_is_refused(house, tmp_path):
    grow(house.redis, 0, 2)
    sign(house.book)
    stranger = Logged(house.redis, tmp_path / "stranger")
    with pytest.raises(Refused, match="is not ours"):
        sign(Book(house.redis, stranger.signer, house.kept))


@pytest.mark.parametrize(("change", "says"), [
    (lambda told: told.replace(b'"size":4', b'"size":5'), "It says"),
    (lambda told: told.replace(b'"deal\\":2', b'"deal\\":3'), "its leaves do not make"),
    (lambda told: told.replace(b'"deal\\":1', b'"deal\\":3'), "its leaves do not make"),
    (lambda told: b"\n".join(told.split(b"\n")[1:]), "line 1: its leaves do not make"),
    (lambda told: told + told.split(b"\n")[0] + b"\n", "line 3: its leaves do not make"),
    (lambda told: b"nothing\n" + told, "line 1"),
], ids=["size", "a leaf", "the first leaf", "first line dropped", "line repeated", "line between"])
def test_a_changed_line_is_named(house, change, says):
    grow(house.redis, 0, 2)
    sign(house.book)
    grow(house.redis, 2, 4)
    sign(house.book)
    text = house.kept.path.read_bytes()
    house.kept.path.write_bytes(change(text))
    assert house.kept.path.read_bytes() != text
    with pytest.raises(BadHeads, match=says):
        list(heads.all_checked(house.signer.find, house.kept.lines()))


def test_a_line_that_was_cut_off_is_dropped(house, caplog):
    grow(house.redis, 0, 2)
    sign(house.book)
    whole = house.kept.path.read_bytes()
    grow(house.redis, 2, 4)
    house.kept.path.write_bytes(whole + whole[:50])
    assert list(house.kept.lines()) == whole.splitlines()
    sign(house.book)
    assert "cut off, 50 bytes" in caplog.text
    assert [line["size"] for line in lines(house)] == [2, 4]


@pytest.mark.parametrize("sizes", [[1], [10, 20], [70_000], [5, 70_000, 3], [65_536, 65_535, 65_537], [0, 0]])
def test_the_last_line_is_found_however_long(tmp_path, sizes, monkeypatch):
    kept = InFile(tmp_path / "deep" / "heads.jsonl")
    told = [bytes([97 + place]) * size for place, size in enumerate(sizes)]
    for line in told:
        with kept.opened() as file:
            file.append(line + b"\n")
    with kept.opened() as file:
        assert file.last() == told[-1]
    assert list(kept.lines()) == told
    assert kept.path.stat().st_mode & 0o777 == 0o600


def test_the_last_line_is_read_without_writing(tmp_path, monkeypatch):
    monkeypatch.setattr(outside, "PIECE", 7)
    kept = InFile(tmp_path / "deep" / "heads.jsonl")
    assert kept.last() == b""
    assert not kept.path.parent.exists()
    kept.path.parent.mkdir()
    for text, last in ((b"", b""), (b"cut", b""), (b"one\n", b"one"), (b"one\nanother\ncut off", b"another")):
        kept.path.write_bytes(text)
        assert (kept.last(), kept.path.read_bytes()) == (last, text)
    monkeypatch.setattr(outside, "LINE_MAX", 20)
    kept.path.write_bytes(b"x" * 50)
    assert len(kept.last()) >= 20  # For its reader to refuse.


def test_where_heads_may_be_kept(tmp_path):
    assert outside.outside(str(tmp_path / "h")).name == str(tmp_path / "h")
    assert outside.outside(f"file://{tmp_path}/a%20b").name == str(tmp_path / "a b")
    with pytest.raises(BadTarget, match="s3://"):
        outside.outside("s3://bucket/heads")


def test_a_disk_that_fails_is_told_and_passes(house, monkeypatch):
    grow(house.redis, 0, 2)
    monkeypatch.setattr(outside.os, "fsync", lambda _: (_ for _ in ()).throw(OSError("no space left")))
    house.keeper.sign()
    assert "no space left" in deal_log.state(house.redis).wrong
    monkeypatch.undo()
    house.keeper.sign()
    assert deal_log.state(house.redis).wrong == ""


def test_a_receipt_is_no_head(house):
    with pytest.raises(BadSignature, match="typ"):
        heads.read(house.signer.find, house.signer.sign("marias-receipt+jws", {"size": 1, "root": "x", "at": 1}))
