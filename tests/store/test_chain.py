"""The hash chain: what is hashed is what the module says, and nothing can be changed without being seen."""

import base64
import hashlib
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.store import chain
from services.store.history import BrokenStream, Recorded

TABLE = "t-1f-00000000000a"
texts = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.integers(0, 2**53)
entries = st.builds(Recorded, numbers, numbers, texts, texts, texts, st.binary(max_size=20), texts, st.just(""))


def spelt(previous: bytes, table: str, entry: Recorded) -> bytes:
    """As the module's first lines tell it."""
    parts = [previous, table.encode(), str(entry.version).encode(), str(entry.at).encode()]
    parts += [entry.actor.encode(), entry.key.encode(), entry.fingerprint.encode(), entry.events, entry.tag.encode()]
    lengths = b"".join(len(part).to_bytes(4, "big") for part in parts)
    return hashlib.sha256(lengths + b"".join(parts)).digest()


def test_an_entry_whose_hash_is_known() -> None:
    entry = Recorded(1, 1767225600000, "u-0a-00000000000000a1", "k1", "fp", b'[{"type":"opened"}]', "tag")
    first = chain.link(b"", TABLE, entry)
    assert chain.genesis(TABLE) == hashlib.sha256(b"marias-chain/1\0t-1f-00000000000a").digest()
    assert first == chain.link(chain.genesis(TABLE), TABLE, entry)
    assert chain.text(first) == "cjg9ZDxA0RQ9UErqWimBgOiKNl3_VJkveLoH6_H9L5w"


@given(st.binary(min_size=32, max_size=32), texts, entries)
def test_what_is_hashed_is_what_is_written_down(previous: bytes, table: str, entry: Recorded) -> None:
    assert chain.link(previous, table, entry) == spelt(previous, table, entry)


@given(entries, entries)
def test_entries_that_differ_have_other_hashes(one: Recorded, other: Recorded) -> None:
    assert (chain.link(b"", TABLE, one) == chain.link(b"", TABLE, other)) == (one == other)


@given(entries)
def test_bytes_that_move_from_a_field_to_the_next_change_the_hash(entry: Recorded) -> None:
    moved = entry._replace(actor=entry.actor + entry.key, key="")
    assert (chain.link(b"", TABLE, moved) == chain.link(b"", TABLE, entry)) == (moved == entry)


@given(st.binary(min_size=32, max_size=32))
def test_a_hash_is_written_in_base64url_and_read_again(digest: bytes) -> None:
    assert chain.text(digest) == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert chain.digest(chain.text(digest)) == digest


@pytest.mark.parametrize("wrong", ["", "a", "A" * 42, "A" * 44, "A" * 42 + "=", "ž" * 43, "A" * 42 + "B"])
def test_what_is_no_hash_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - also in the words of the library.
        chain.digest(wrong)


def heads_of(told: list[Recorded]) -> list[bytes]:
    return list(accumulate(told, lambda head, entry: chain.link(head, TABLE, entry), initial=b""))[1:]


def test_all_that_follows_a_change_is_another_chain() -> None:
    told = [Recorded(version, version, "a", "k", "f", b"[%d]" % version, "x") for version in range(1, 6)]
    heads = heads_of(told)
    changed = heads_of([told[0], told[1]._replace(at=3), *told[2:]])
    assert heads[0] == changed[0]
    assert not set(heads[1:]) & set(changed[1:])


def test_a_hash_that_is_not_the_one_of_its_entry_is_refused() -> None:
    entry = Recorded(1, 2, "a", "k", "f", b"[]", "x")
    right = entry._replace(hash=chain.text(chain.link(b"", TABLE, entry)))
    assert chain.checked(b"", TABLE, right) == chain.checked(b"", TABLE, entry)
    with pytest.raises(BrokenStream, match="version 1"):
        chain.checked(b"", TABLE, right._replace(events=b"[0]"))


def as_stored(entry: Recorded) -> tuple[bytes, list[bytes]]:
    """As `apply` writes it; without `h`, as early builds did."""
    version, at, actor, key, mark, events, tag, head = entry
    fields = [b"at", b"%d" % at, b"a", actor.encode(), b"k", key.encode(), b"f", mark.encode(), b"e", events]
    return b"%d-0" % version, [*fields, b"x", tag.encode(), *([b"h", head.encode()] if head else [])]


@given(entries, st.booleans(), st.booleans())
def test_an_entry_is_checked_alike_read_and_as_it_is_stored(entry: Recorded, is_first: bool, has_hash: bool) -> None:
    previous = b"" if is_first else chain.genesis("t-1f-00000000000b")
    head = chain.link(previous, TABLE, entry)
    if has_hash:
        entry = entry._replace(hash=chain.text(head))
    id_, fields = as_stored(entry)
    assert chain.checked_raw(previous, TABLE, (id_, fields)) == (head, entry.events)
    turned = [part for pair in reversed(list(zip(fields[::2], fields[1::2], strict=True))) for part in pair]
    assert chain.checked_raw(previous, TABLE, (id_, turned)) == (head, entry.events)
    if has_hash:
        changed = fields.copy()
        changed[9] += b" "
        for wrong in (changed, [*fields[:-1], chain.text(chain.genesis(TABLE)).encode()]):
            with pytest.raises(BrokenStream, match=f"version {entry.version} "):
                chain.checked_raw(previous, TABLE, (id_, wrong))
