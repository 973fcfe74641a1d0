"""What is told of how a deal was committed to, described for those who write clients."""

from typing import Any

from marshmallow import fields, validate

from engine.fairness.check import FORMAT
from schemas.answers import TABLE_ID, Answer, by_seat, card_field, described, seat_field
from schemas.table_commands import HASH


def _hash(text: str = "", **more: Any) -> fields.String:
    return fields.String(metadata=described(text or "Hexadecimal digits.", pattern=f"^{HASH.pattern}$"), **more)


def _salt() -> fields.String:
    return fields.String(required=True, metadata={"pattern": "^[0-9a-f]{32}$"})


class OpenedLeaf(Answer):
    """A card that the holder of the proof was dealt, and what opens its leaf."""

    place = fields.Integer(required=True, metadata=described("In dealing order, from 0."))
    card = card_field(required=True)
    salt = _salt()


class OpenedToken(Answer):
    """A card of a hand, and what opens its token."""

    round = fields.Integer(required=True)
    seat = seat_field(required=True)
    card = card_field(required=True)
    salt = _salt()
    by = fields.String(validate=validate.OneOf(("play", "turn")), metadata=described("Of `opened`: how it came out."))


class OpenedTalon(Answer):
    """A talon that the holder laid away or picked up."""

    round = fields.Integer(required=True)
    cards = fields.List(card_field(), required=True)
    salt = _salt()


class CommittedHands(Answer):
    """What was committed to after a discard."""

    round = fields.Integer(required=True)
    seat = seat_field(required=True, metadata=described("Who laid the talon away."))
    commitment = _hash("One for all of the round; it is in the feed.", required=True)
    tokens = by_seat(fields.List(_hash()), "Of the ten cards of each seat, in the order of their bytes.")
    talon = _hash(required=True)


class ProofAnswer(Answer):
    """The proof of a deal (`engine/FAIRNESS.md` has its bytes); for auditors with `seed`, `order` and `sealed_key`."""

    format = fields.String(required=True, validate=validate.Equal(FORMAT))
    table = fields.String(required=True, metadata={"pattern": TABLE_ID})
    deal = fields.Integer(required=True)
    seat = fields.Raw(required=True, metadata=described("Whose proof it is: a seat, null for a spectator, `auditor`."))
    dealer = seat_field(required=True)
    finished = fields.Boolean(required=True)
    present = fields.Boolean(required=True, metadata=described("Was its holder there all the time?"))
    root = _hash(required=True)
    leaves = fields.List(_hash(), required=True)
    server_commitment = _hash(required=True)
    commitments = by_seat(fields.String(allow_none=True), "To the players' nonces; null where there is none.")
    server_nonce = _hash(required=True)
    nonces = by_seat(fields.String(allow_none=True), "Null where the server's stands in.")
    dealt = fields.List(fields.Nested(OpenedLeaf), required=True)
    rounds = fields.List(fields.Nested(CommittedHands), required=True)
    hands = fields.List(fields.Nested(OpenedToken), required=True)
    talons = fields.List(fields.Nested(OpenedTalon), required=True)
    opened = fields.List(fields.Nested(OpenedToken), required=True)
    seed = _hash("Of auditors only.")
    order = fields.List(card_field(), metadata=described("Of auditors only: the cards as the leaves hold them."))
    sealed_key = fields.String(metadata=described("Of auditors only: the deal key, sealed to them."))
