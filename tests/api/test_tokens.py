"""Who a bearer token speaks for, which ones are refused, and how keys are rotated."""

import base64
import hashlib
import hmac
import json
import os
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from services import rings, tokens
from services.rings import NoSigner
from services.tokens import KeyRing, Principal, TokenRefused
from tests.cast import ANA

CLAIMS = {"iss": "marias", "sub": ANA.id, "name": "Ana", "role": "player", "iat": 1_700_000_000}


def pem(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def add_key(folder, kid, *, age_seconds=0.0, key=None):
    file = folder / f"{kid}.pem"
    file.write_bytes(pem(key or Ed25519PrivateKey.generate()))
    made = time.time() - age_seconds
    os.utime(file, (made, made))
    return file


def look_again(ring, monkeypatch):
    """Let the seconds pass after which a running process looks at its keys again."""
    monkeypatch.setattr(rings, "LOOK_SECONDS", -1.0)


@pytest.fixture
def ring(tmp_path):
    return KeyRing(tmp_path / "keys")


def ana(ring):
    return ring.issue(role="player", sub=ANA.id, name="Ana")


def signed(ring, claims, *, headers=None, algorithm="EdDSA"):
    key = ring._ring._keys["k1"]
    return jwt.encode(claims, key.private, algorithm=algorithm, headers={"kid": "k1"} | (headers or {}))


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_names_its_owner(ring):
    assert ring.verify(ana(ring)) == Principal(ANA.id, "Ana", "player")


def test_an_empty_folder_gets_one_key_that_only_its_owner_may_read(tmp_path):
    KeyRing(tmp_path / "keys")
    assert [file.name for file in (tmp_path / "keys").iterdir()] == ["k1.pem"]
    assert (tmp_path / "keys" / "k1.pem").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


def test_processes_that_start_together_trust_each_other(tmp_path):
    one, other = KeyRing(tmp_path / "keys"), KeyRing(tmp_path / "keys")
    assert other.verify(ana(one)).id == ANA.id


def test_a_new_key_signs_and_the_old_one_still_verifies(tmp_path, monkeypatch):
    add_key(tmp_path, "old", age_seconds=60)
    ring = KeyRing(tmp_path)
    before = ana(ring)
    add_key(tmp_path, "new")
    look_again(ring, monkeypatch)
    after = ana(ring)
    assert [jwt.get_unverified_header(token)["kid"] for token in (before, after)] == ["old", "new"]
    assert ring.verify(before) == ring.verify(after)
    assert [key["kid"] for key in ring.jwks()["keys"]] == ["new", "old"]


def test_a_deleted_key_takes_its_tokens_with_it(tmp_path, monkeypatch):
    old = add_key(tmp_path, "old", age_seconds=60)
    ring = KeyRing(tmp_path)
    token = ana(ring)
    assert ring.verify(token)
    add_key(tmp_path, "new")
    old.unlink()
    look_again(ring, monkeypatch)
    with pytest.raises(TokenRefused):
        ring.verify(token)


def test_a_half_copied_key_changes_nothing(tmp_path, monkeypatch):
    ring = KeyRing(tmp_path)
    token = ana(ring)
    (tmp_path / "new.pem").write_bytes(b"-----BEGIN PRIVATE KEY-----\nMC4CAQAw")
    look_again(ring, monkeypatch)
    assert ring.verify(token).id == ANA.id


def test_keys_of_other_kinds_in_the_folder_do_not_sign(tmp_path):
    add_key(tmp_path, "seal", key=X25519PrivateKey.generate())
    ring = KeyRing(tmp_path)
    assert [key["kid"] for key in ring.jwks()["keys"]] == ["k1"]
    assert ring.verify(ana(ring)).id == ANA.id


def test_the_published_key_verifies_a_token_elsewhere(ring):
    published = jwt.PyJWKSet.from_dict(ring.jwks())
    assert jwt.decode(ana(ring), published["k1"], algorithms=["EdDSA"])["sub"] == ANA.id


def test_the_published_key_holds_no_private_half(ring):
    assert set(ring.jwks()["keys"][0]) == {"kty", "crv", "x", "kid", "use", "alg"}


def test_a_token_with_an_end_ends(ring, monkeypatch):
    token = ring.issue(role="auditor", sub="auditor", name="Auditor", seconds=60)
    assert ring.verify(token).role == "auditor"
    later = time.time() + 61
    monkeypatch.setattr(tokens.time, "time", lambda: later)
    with pytest.raises(TokenRefused, match="expired"):
        ring.verify(token)


def test_a_role_that_does_not_exist_is_not_issued(ring):
    with pytest.raises(ValueError, match="role"):
        ring.issue(role="admin", sub="x", name="x")


def unsigned(ring):
    return f'{part({"alg": "none", "kid": "k1"})}.{part(CLAIMS)}.'


def signed_with_the_public_key_as_a_secret(ring):
    head = f'{part({"alg": "HS256", "kid": "k1"})}.{part(CLAIMS)}'
    secret = base64.urlsafe_b64decode(ring.jwks()["keys"][0]["x"] + "==")
    seal = base64.urlsafe_b64encode(hmac.new(secret, head.encode(), hashlib.sha256).digest())
    return f"{head}.{seal.rstrip(b'=').decode()}"


def of_another_service(ring):
    return jwt.encode(CLAIMS, Ed25519PrivateKey.generate(), algorithm="EdDSA", headers={"kid": "k1"})


def carrying_its_own_key(ring):
    stranger = Ed25519PrivateKey.generate()
    header = {"kid": "mine", "jwk": jwt.algorithms.OKPAlgorithm.to_jwk(stranger.public_key(), as_dict=True)}
    return jwt.encode(CLAIMS, stranger, algorithm="EdDSA", headers=header)


def changed(ring):
    head, _, seal = signed(ring, CLAIMS).split(".")
    return ".".join((head, part(CLAIMS | {"role": "auditor"}), seal))


def without_kid(ring):
    return jwt.encode(CLAIMS, ring._ring._keys["k1"].private, algorithm="EdDSA")


@pytest.mark.parametrize("forge", [
    pytest.param(unsigned, id="an unsigned token"),
    pytest.param(signed_with_the_public_key_as_a_secret, id="the public key used as a shared secret"),
    pytest.param(of_another_service, id="a token signed by a stranger"),
    pytest.param(carrying_its_own_key, id="a token that brings its own key"),
    pytest.param(changed, id="a token whose claims were changed"),
    pytest.param(without_kid, id="a token that names no key"),
    pytest.param(lambda ring: signed(ring, CLAIMS | {"iss": "elsewhere"}), id="another issuer's token"),
    pytest.param(lambda ring: signed(ring, CLAIMS | {"role": "admin"}), id="a role that does not exist"),
    pytest.param(lambda ring: signed(ring, CLAIMS | {"name": 5}), id="a name that is no text"),
    pytest.param(lambda ring: signed(ring, CLAIMS | {"exp": "soon"}), id="an end that is no number"),
    pytest.param(lambda ring: signed(ring, CLAIMS | {"iat": 32_000_000_000}), id="a token from the future"),
    pytest.param(lambda ring: signed(ring, {"iss": "marias", "sub": ANA.id}), id="claims that are missing"),
    pytest.param(lambda ring: ana(ring)[:-4], id="a token that was cut short"),
    pytest.param(lambda ring: "a." * 600, id="a token longer than any of ours"),
    pytest.param(lambda ring: "", id="an empty token"),
    pytest.param(lambda ring: "á.ř.ž", id="a token of letters that tokens do not have"),
    pytest.param(lambda ring: "\ud800.x.y", id="a token with half a surrogate pair"),
])
def test_refused(ring, forge):
    with pytest.raises(TokenRefused):
        ring.verify(forge(ring))


def test_a_token_of_a_node_whose_clock_was_an_hour_ahead_is_good_everywhere(ring):
    assert ring.verify(signed(ring, CLAIMS | {"iat": int(time.time()) + 3600})).id == ANA.id


STAFF = ["auditor", "operator"]


@pytest.mark.parametrize("role", STAFF)
def test_the_key_of_players_signs_nobody_else(ring, role):
    """What the API could make with the key that it holds, and what an earlier build made with it."""
    claims = {"iss": "marias", "sub": "x", "name": "x", "role": role, "iat": int(time.time())}
    with pytest.raises(TokenRefused, match="made anew"):
        ring.verify(signed(ring, claims))


def test_the_key_of_the_staff_signs_no_player(ring):
    ring.issue(role="auditor", sub="a", name="a")
    claims = {"iss": "marias", "sub": ANA.id, "name": "Ana", "role": "player", "iat": int(time.time())}
    kid, private = ring._staff.signer()
    with pytest.raises(TokenRefused, match="made anew"):
        ring.verify(jwt.encode(claims, private, algorithm="EdDSA", headers={"kid": kid}))


@pytest.mark.parametrize("role", STAFF)
def test_the_public_half_is_enough_to_know_the_staff_and_makes_nobody(tmp_path, role):
    token = KeyRing(tmp_path / "office").issue(role=role, sub="s-1", name="S")
    private = load_pem_private_key((tmp_path / "office" / "staff" / "k1.pem").read_bytes(), None)
    (tmp_path / "api" / "staff").mkdir(parents=True)
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "api" / "staff" / "k1.pem").write_bytes(public)
    at_the_api = KeyRing(tmp_path / "api")
    assert at_the_api.verify(token) == Principal("s-1", "S", role)
    assert at_the_api.verify(ana(at_the_api)).role == "player"
    with pytest.raises(NoSigner, match="public halves only"):
        at_the_api.issue(role=role, sub="s-2", name="S")


def test_the_first_key_of_the_staff_is_known_at_once_to_who_runs_already(tmp_path):
    running = KeyRing(tmp_path)
    with pytest.raises(TokenRefused):
        running.verify("a.b.c")
    time.sleep(rings.UNKNOWN_SECONDS)
    assert running.verify(KeyRing(tmp_path).issue(role="auditor", sub="a", name="a")).role == "auditor"
    assert [key["kid"] for key in running.jwks()["keys"]] == ["k1", "staff.k1"]


def test_a_staff_key_that_is_taken_out_takes_its_tokens_with_it(tmp_path, monkeypatch):
    ring = KeyRing(tmp_path)
    token = ring.issue(role="operator", sub="o", name="o")
    assert ring.verify(token).role == "operator"
    (tmp_path / "staff" / "k1.pem").unlink()
    look_again(ring, monkeypatch)
    with pytest.raises(TokenRefused):
        ring.verify(token)
