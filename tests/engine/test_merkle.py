"""Merkle trees: the vectors of Certificate Transparency, and what no proof may show."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import merkle

# The test vectors that the implementations of RFC 6962 and 9162 share (certificate-transparency, merkle_tree_test.cc).
DATA = [
    bytes.fromhex(word)
    for word in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
INCLUSIONS = {
    (0, 1): (),
    (0, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (5, 8): (
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 3): ("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",),
    (1, 5): (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}
CONSISTENCIES = {
    (1, 1): (),
    (1, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (6, 8): (
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 5): (
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}
LEAVES = [merkle.leaf_hash(data) for data in DATA]

sizes = st.integers(1, 80)
places = st.integers(0, 10_000)


def _leaves(size):
    return [merkle.leaf_hash(b"%d" % number) for number in range(size)]


def _mth(data):
    """The definition in RFC 9162 §2.1.1, word by word."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    half = 1
    while half * 2 < len(data):
        half *= 2
    return hashlib.sha256(b"\x01" + _mth(data[:half]) + _mth(data[half:])).digest()


def test_the_root_of_nothing():
    assert merkle.root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("size", range(1, 9))
def test_published_roots(size):
    assert merkle.root(LEAVES[:size]).hex() == ROOTS[size - 1]


@pytest.mark.parametrize(("index", "size"), INCLUSIONS)
def test_published_inclusion_proofs(index, size):
    path = merkle.inclusion(LEAVES[:size], index)
    assert tuple(step.hex() for step in path) == INCLUSIONS[index, size]
    assert merkle.verify_inclusion(LEAVES[index], index, size, path, bytes.fromhex(ROOTS[size - 1]))


@pytest.mark.parametrize(("first", "second"), CONSISTENCIES)
def test_published_consistency_proofs(first, second):
    path = merkle.consistency(LEAVES[:second], first)
    assert tuple(step.hex() for step in path) == CONSISTENCIES[first, second]
    old, new = (bytes.fromhex(ROOTS[size - 1]) for size in (first, second))
    assert merkle.verify_consistency(first, second, path, old, new)


@given(st.lists(st.binary(max_size=8), max_size=40))
def test_a_root_is_what_the_definition_says(data):
    assert merkle.root([merkle.leaf_hash(each) for each in data]) == _mth(data)


@given(sizes, places)
def test_each_leaf_is_proven_at_its_place_and_at_no_other(size, place):
    leaves, index = _leaves(size), place % size
    path, top = merkle.inclusion(leaves, index), merkle.root(leaves)
    assert len(path) <= (size - 1).bit_length()
    proven = [at for at in range(size) if merkle.verify_inclusion(leaves[index], at, size, path, top)]
    assert proven == [index]
    assert not merkle.verify_inclusion(leaves[index], index + size, size, path, top)
    assert not merkle.verify_inclusion(leaves[index], -1, size, path, top)


@given(sizes, places, st.integers(1, 255), places)
def test_a_changed_byte_proves_nothing(size, place, change, where):
    leaves, index = _leaves(size), place % size
    path, top = merkle.inclusion(leaves, index), merkle.root(leaves)
    told = bytearray(b"".join((leaves[index], *path, top)))
    told[where % len(told)] ^= change
    pieces = [bytes(told[start : start + 32]) for start in range(0, len(told), 32)]
    assert not merkle.verify_inclusion(pieces[0], index, size, pieces[1:-1], pieces[-1])


@given(sizes, places)
def test_a_path_of_another_length_proves_nothing(size, place):
    leaves, index = _leaves(size), place % size
    path, top = merkle.inclusion(leaves, index), merkle.root(leaves)
    assert not merkle.verify_inclusion(leaves[index], index, size, [*path, top], top)
    assert not path or not merkle.verify_inclusion(leaves[index], index, size, path[:-1], top)
    assert not merkle.verify_inclusion(leaves[index], index, size, [step[:-1] for step in path] or [b""], top)


@given(sizes, places)
def test_what_grew_is_proven_and_another_past_is_not(second, place):
    leaves, first = _leaves(second), place % second + 1
    path, old, new = merkle.consistency(leaves, first), merkle.root(leaves[:first]), merkle.root(leaves)
    assert merkle.verify_consistency(first, second, path, old, new)
    other = merkle.root([merkle.leaf_hash(b"other"), *leaves[1:first]])
    assert not merkle.verify_consistency(first, second, path, other, new)
    assert first == second or not merkle.verify_consistency(first, second, path, old, other)
    assert not merkle.verify_consistency(first, second, [*path, old], old, new)
    assert not path or not merkle.verify_consistency(first, second, path[:-1], old, new)
    wrong = [size for size in range(second + 2) if merkle.verify_consistency(size, second, path, old, new)]
    assert wrong == [first]


@given(sizes, places, st.data())
def test_nothing_that_is_made_up_is_a_proof(second, place, data):
    first = place % second + 1
    path = data.draw(st.lists(st.binary(max_size=33), max_size=8))
    leaves = _leaves(second)
    top = merkle.root(leaves)
    assert not merkle.verify_consistency(first, second, path, merkle.leaf_hash(b"made up"), top)
    assert not merkle.verify_inclusion(merkle.leaf_hash(b"made up"), place % second, second, path, top)


@given(sizes, places)
def test_full_subtrees_make_every_node_of_a_proof(size, place):
    leaves = _leaves(size)

    def hash_of(span):
        return merkle.fold(
            merkle.root(leaves[at << level : (at + 1) << level]) for level, at in merkle.subtrees(span)
        )

    assert hash_of(merkle.Span(0, size)) == merkle.root(leaves)
    index, first = place % size, place % size + 1
    assert [hash_of(span) for span in merkle.inclusion_spans(index, size)] == merkle.inclusion(leaves, index)
    assert [hash_of(span) for span in merkle.consistency_spans(first, size)] == merkle.consistency(leaves, first)


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_leaf_that_is_not_there_has_no_proof(index, size):
    with pytest.raises(IndexError):
        merkle.inclusion(_leaves(size), index)


@pytest.mark.parametrize(("first", "second"), [(0, 3), (4, 3), (-1, 3)])
def test_a_size_that_never_was_has_no_proof(first, second):
    with pytest.raises(IndexError):
        merkle.consistency(_leaves(second), first)
