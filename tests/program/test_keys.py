"""Files that should hold keys, and hold something else: named with the reason, by every command that needs them."""

import os

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.envelope import opener_of, sender_of
from services.key_pairs import read_private, read_public
from services.private_files import BYTES_MAX, BadFile
from services.rings import Ring
from services.serve.folder import read_running
from services.serve.users import BadUsers, read_file
from tests.weighed import GROWTH_MIB_MAX, is_refused, marias


def pem(key, password=None):
    lock = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)


GOOD = pem(Ed25519PrivateKey.generate())
BAD = {
    "nothing": b"", "PNG": b"\x89PNG\r\n\x1a\n", "ZIP": b"PK\x03\x04", "UTF-16": GOOD.decode().encode("utf-16"),
    "NUL": b"\0" * 100, "cut off": GOOD[:-20], "locked": pem(Ed25519PrivateKey.generate(), b"secret"),
    "a flipped letter": GOOD.replace(b"M", b"!", 1), "large": b"\n" * (BYTES_MAX + 1), "JSON": b"{}",
    "another kind": pem(generate_private_key(SECP256R1())),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_a_wrong_key_is_named(tmp_path, data):
    path = tmp_path / "k1.pem"
    path.write_bytes(data)
    for read in (Ring, read_private, read_public):
        with pytest.raises(BadFile) as refused:
            read(tmp_path if read is Ring else path)
        assert str(tmp_path) in str(refused.value)
        assert "secret" not in str(refused.value)


SHORT = {"too short": b"ab" * 31, "too long": b"ab" * 33, "no digits": b"xy" * 32, "two lines": b"ab" * 32 + b"\nab\n"}


@pytest.mark.parametrize("data", [*BAD.values(), *SHORT.values()], ids=[*BAD, *SHORT])
def test_a_wrong_key_of_marks_is_named(tmp_path, data):
    sender_of(tmp_path)
    (tmp_path / "commands.key").write_bytes(data)
    for read in (sender_of, opener_of):
        with pytest.raises(BadFile, match=r"commands\.key"):
            read(tmp_path)


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_other_files_of_the_data_folder_may_be_anything(tmp_path, data):
    for name in ("run.json", "users"):
        (tmp_path / name).write_bytes(data)
    assert read_running(tmp_path) is None
    with pytest.raises(BadUsers, match="users"):
        read_file(tmp_path / "users")


@pytest.mark.parametrize("told", [b"[" * 60_000, b'{"pid":' + b"9" * 4000 + b"}", b'{"pid": 1e999}', b"null", b"NaN"])
def test_a_strange_note_of_what_runs_is_none(tmp_path, told):
    (tmp_path / "run.json").write_bytes(told)
    assert read_running(tmp_path) is None


def make_pipe(path):
    os.mkfifo(path)


def make_loop(path):
    path.symlink_to(path.name)


def make_large(path):
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)


@pytest.mark.parametrize("make", [make_pipe, make_loop, make_large, os.mkdir])
def test_what_is_no_file_is_not_waited_for_nor_held(tmp_path, make):
    keys = tmp_path / "data" / "keys"
    keys.mkdir(parents=True)
    make(keys / "k1.pem")
    with pytest.raises(BadFile, match="k1"):
        Ring(keys)
    idle = marias(tmp_path, "token", "--help")
    ended = marias(tmp_path, "token", "--role", "auditor", "--data", str(tmp_path / "data"))
    assert is_refused(ended, f"marias: {keys}/k1.pem")
    assert ended.mib - idle.mib < GROWTH_MIB_MAX
