"""Bodies of commands: the strict loader and the described schemas take the same ones, in one canonical form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notation import CODES
from schemas.bodies import command_bodies
from schemas.errors import Malformed
from schemas.moves import MOVES
from schemas.table_commands import canonical_command

PARTS = ["hra", "sedma", "sto", "betl", "durch", "sedma_proti", "sto_proti"]
CARDS = st.sampled_from([*CODES, "10h", "ah", "??", ""])
HASH = "0123456789abcdef" * 4
SCALARS = st.sampled_from([None, True, False, -1, 0, 1, 2, 3, 4, 5, 2**63, 0.0, 1.0, 2.5, float("inf"), "", "0", "1"])
WORDS = st.sampled_from([*PARTS, "colour", "ABC", "x" * 33, HASH, HASH.upper(), HASH + "\n"])
VALUES = CARDS | SCALARS | WORDS | st.lists(CARDS | WORDS | SCALARS, max_size=3) | st.just({})
NAMES = st.sampled_from([
    "card", "blind", "cards", "game", "contract", "raise", "announce", "marriage", "seat", "code", "x", "nonce",
    "nonce_commitment", "next_commitment",
])
TYPES = st.sampled_from([*command_bodies(), "deal", "expire", "open", "open_account", "", None, 5, ["good"]])
BODIES = st.builds(
    lambda kind, fields: {"type": kind} | fields, TYPES, st.dictionaries(NAMES, VALUES, max_size=2)
)
WELL_FORMED = [
    {"type": "choose_trump", "card": "Ah"},
    {"type": "choose_trump", "blind": 4},
    {"type": "discard", "cards": ["7d", "8d"]},
    {"type": "declare", "game": "colour"},
    {"type": "good"},
    {"type": "take_over"},
    {"type": "announce", "contract": ["hra", "sedma"]},
    {"type": "flek", "raise": ["hra"], "announce": []},
    {"type": "play", "card": "Kc", "marriage": False},
    {"type": "play", "card": "Kc"},
    {"type": "claim"},
    {"type": "sit"},
    {"type": "sit", "seat": 2, "code": "abc"},
    {"type": "ready"},
    {"type": "ready", "nonce_commitment": HASH},
    {"type": "reveal", "nonce": HASH},
    {"type": "reveal", "nonce": HASH, "next_commitment": HASH},
    {"type": "leave"},
]


def is_taken(body):
    try:
        canonical_command(body)
    except Malformed:
        return False
    return True


def fits_the_schema(body):
    kind = body.get("type") if isinstance(body, dict) else None
    schema = command_bodies().get(kind) if isinstance(kind, str) else None
    return schema is not None and not schema().validate(body)


@given(BODIES)
def test_both_take_the_same(body):
    assert is_taken(body) == fits_the_schema(body)


@pytest.mark.parametrize("body", WELL_FORMED, ids=str)
def test_well_formed(body):
    assert is_taken(body)
    assert fits_the_schema(body)
    assert canonical_command(canonical_command(body)) == canonical_command(body)


def test_every_move_of_the_game_is_among_the_well_formed():
    assert set(MOVES) < {body["type"] for body in WELL_FORMED} == set(command_bodies())


@pytest.mark.parametrize(("one", "other"), [
    pytest.param({"type": "discard", "cards": ["8d", "7d"]}, {"cards": ["7d", "8d"], "type": "discard"},
                 id="cards of a discard in any order"),
    pytest.param({"type": "flek", "raise": ["sedma", "hra"]},
                 {"type": "flek", "raise": ["hra", "sedma"], "announce": []},
                 id="parts of a flek in any order, a missing list is empty"),
    pytest.param({"type": "flek"}, {"type": "flek", "raise": [], "announce": []},
                 id="a flek that raises nothing is for the rules to refuse"),
    pytest.param({"type": "announce", "contract": ["sedma", "sto"]}, {"type": "announce", "contract": ["sto", "sedma"]},
                 id="a contract in any order"),
])
def test_the_same_command(one, other):
    assert canonical_command(one) == canonical_command(other)


@pytest.mark.parametrize(("body", "field"), [
    pytest.param([], "", id="a list"),
    pytest.param("good", "", id="a word"),
    pytest.param(None, "", id="null"),
    pytest.param({}, "type", id="no type"),
    pytest.param({"type": 5}, "type", id="a type that is no text"),
    pytest.param({"type": "deal", "version_seen": 1}, "type", id="a command of the clock"),
    pytest.param({"type": "open", "game": "voleny"}, "type", id="an opening"),
    pytest.param({"type": "good", "seat": 1}, "seat", id="a move that names its seat"),
    pytest.param({"type": "play", "card": "Ah", "seat": 0}, "seat", id="a card that names its seat"),
    pytest.param({"type": "play", "card": "1h"}, "card", id="no such card"),
    pytest.param({"type": "play", "card": 31}, "card", id="a card as a number"),
    pytest.param({"type": "play"}, "card", id="a card that is missing"),
    pytest.param({"type": "play", "card": "Kh", "marriage": "yes"}, "marriage", id="a word that is no boolean"),
    pytest.param({"type": "play", "card": "Kh", "marriage": 1}, "marriage", id="1 for true"),
    pytest.param({"type": "play", "card": "Kh", "marriage": None}, "marriage", id="null for no word"),
    pytest.param({"type": "choose_trump", "blind": True}, "blind", id="true for an index"),
    pytest.param({"type": "choose_trump", "blind": 1.0}, "blind", id="a fraction for an index"),
    pytest.param({"type": "choose_trump", "blind": "1"}, "blind", id="text for an index"),
    pytest.param({"type": "choose_trump", "blind": 5}, "blind", id="an index beyond the five"),
    pytest.param({"type": "choose_trump", "card": "Ah", "blind": 1}, "card", id="a card and an index"),
    pytest.param({"type": "choose_trump"}, "card", id="neither card nor index"),
    pytest.param({"type": "discard", "cards": ["7h"]}, "cards", id="a discard of one"),
    pytest.param({"type": "discard", "cards": ["7h", "7h"]}, "cards", id="a discard of the same card twice"),
    pytest.param({"type": "discard", "cards": ["7h", ["8h"]]}, "cards", id="a list for a card"),
    pytest.param({"type": "flek", "raise": ["hra", "hra"]}, "raise", id="a part raised twice"),
    pytest.param({"type": "flek", "announce": ["sedma"]}, "announce", id="an announcement that is no proti"),
    pytest.param({"type": "announce", "contract": ["betl"]}, "contract", id="betl as a contract"),
    pytest.param({"type": "sit", "seat": 3}, "seat", id="a fourth seat"),
    pytest.param({"type": "sit", "seat": True}, "seat", id="true for a seat"),
    pytest.param({"type": "sit", "seat": 1.0}, "seat", id="a fraction for a seat"),
    pytest.param({"type": "sit", "seat": None}, "seat", id="null for a seat"),
    pytest.param({"type": "sit", "code": ""}, "code", id="an empty code"),
    pytest.param({"type": "sit", "transfer": "x"}, "transfer", id="a transfer of one's own"),
    pytest.param({"type": "ready", "nonce_commitment": HASH[1:]}, "nonce_commitment", id="a hash that is too short"),
    pytest.param({"type": "ready", "nonce_commitment": HASH.upper()}, "nonce_commitment", id="capital letters"),
    pytest.param({"type": "reveal"}, "nonce", id="a nonce that is missing"),
    pytest.param({"type": "reveal", "nonce": 5}, "nonce", id="a nonce that is a number"),
    pytest.param({"type": "reveal", "nonce": HASH, "seat": 1}, "seat", id="a nonce that names its seat"),
    pytest.param({"type": "ready", "now": True}, "now", id="a field that does not exist"),
])
def test_malformed(body, field):
    with pytest.raises(Malformed) as refused:
        canonical_command(body)
    assert refused.value.field == field
