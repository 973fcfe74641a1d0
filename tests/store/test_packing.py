"""Records as they are kept: small, readable for ever, and never read as another."""

import hashlib
import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.store.packing import COMMON, Damaged, packed, unpacked
from tests import sources


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


def test_threads_pack_and_unpack_at_once() -> None:
    """The library lets go of the interpreter's lock while it packs: one packer for all crashed the process."""
    script = """
import random, threading
from services.store.packing import packed, unpacked
texts = [b"{" + random.Random(n).randbytes(3000).hex().encode() for n in range(20)]
equal = []
def work():
    equal.append(all(unpacked(packed(text)) == text for _ in range(50) for text in texts))
threads = [threading.Thread(target=work) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
assert equal == [True] * 4
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=180, check=False,
                          cwd=sources.ROOT)
    assert done.returncode == 0, done.stderr
