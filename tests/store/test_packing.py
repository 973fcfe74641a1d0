"""Records as they are kept: small, readable for ever, and never read as another."""

import hashlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.store.packing import COMMON, Damaged, packed, unpacked


def test_what_records_have_in_common_never_changes():
    """Red: every record of before would be lost. Give the new text a number of its own beside this one."""
    assert hashlib.sha256(COMMON).hexdigest()[:16] == "3d5745d55d8dfd0e"


@given(st.binary(max_size=3000).map(lambda text: b"{" + text))
def test_what_is_packed_comes_back(text):
    assert unpacked(packed(text)) == text


@pytest.mark.parametrize("kept", [b'{"format":"marias-deal/1"}', zlib.compress(b'{"format":"marias-deal/1"}', 6)])
def test_what_earlier_builds_have_kept_is_read(kept):
    assert unpacked(kept) == b'{"format":"marias-deal/1"}'


@pytest.mark.parametrize("kept", [b"", b"(\xb5/\xfd", b"x\x9c12", b"[1,2]", packed(b"{" + bytes(200))[:-3]])
def test_what_is_damaged_is_told(kept):
    with pytest.raises(Damaged):
        unpacked(kept)
