"""The key of a deal can be written by the workers, and read by the auditor alone."""

import stat
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from engine.shuffle import deck_from_key
from services.worker.handle import draw
from services.worker.seal import make_auditor_keys, open_sealed, read_private_key, read_public_key, seal

OF_THE_FIRST_BUILD = (
    "UB55Mtw0ej8zFYEmiFKZKxYbBlnOWU1nZHqQ_qmO1h3V2g"
    "Os7t2SW_y6ELL3-FSx5EhlHLC39Wna6vQGfqwDmelxzs4="
)


def test_the_auditor_reads_the_deck_of_a_deal(tmp_path: Path) -> None:
    make_auditor_keys(tmp_path)
    public, private = read_public_key(tmp_path), read_private_key(tmp_path)
    drawn = draw(lambda key: seal(public, key))
    assert deck_from_key(open_sealed(private, drawn.sealed_key)) == drawn.deck
    assert sorted(drawn.deck) == list(range(32))
    assert drawn.first_dealer in range(3)


def test_no_two_deals_and_no_two_boxes_are_alike(tmp_path: Path) -> None:
    make_auditor_keys(tmp_path)
    public = read_public_key(tmp_path)
    drawn = [draw(lambda key: seal(public, key)) for _ in range(20)]
    assert len({each.deck for each in drawn}) == 20
    assert seal(public, b"same") != seal(public, b"same")


def test_nobody_else_reads_it_and_no_byte_can_be_changed(tmp_path: Path) -> None:
    make_auditor_keys(tmp_path)
    sealed = seal(read_public_key(tmp_path), bytes(32))
    with pytest.raises(InvalidTag):
        open_sealed(X25519PrivateKey.generate(), sealed)
    assert sealed.endswith("=")
    for place in (0, 50, len(sealed) - 2):  # Also those bits of the last letter that are not needed for a byte.
        for other in {"A", "B", "C", "D", "E", "!"} - {sealed[place]}:
            with pytest.raises(InvalidTag):
                open_sealed(read_private_key(tmp_path), sealed[:place] + other + sealed[place + 1 :])


def test_what_earlier_builds_sealed_is_still_read() -> None:
    """Written down as the first build wrote it: with a public key of its own and no nonce."""
    private = X25519PrivateKey.from_private_bytes(bytes(range(32)))
    assert open_sealed(private, OF_THE_FIRST_BUILD) == b"a secret of long ago"


def test_keys_are_made_once_and_the_private_one_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    make_auditor_keys(folder)
    first = (folder / "auditor.pub").read_bytes()
    make_auditor_keys(folder)
    assert (folder / "auditor.pub").read_bytes() == first
    assert stat.S_IMODE((folder / "auditor.key").stat().st_mode) == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["auditor.key", "auditor.pub"]


def test_a_private_key_that_was_moved_away_is_not_made_again(tmp_path: Path) -> None:
    make_auditor_keys(tmp_path)
    (tmp_path / "auditor.key").unlink()
    make_auditor_keys(tmp_path)
    assert not (tmp_path / "auditor.key").exists()
    assert seal(read_public_key(tmp_path), b"still sealed")
