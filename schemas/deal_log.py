"""Answers about the log of finished deals."""

from typing import Any

from marshmallow import fields

from schemas.answers import HASH, TABLE_ID, Answer, described


def _hash(text: str) -> fields.String:
    return fields.String(required=True, metadata=described(text, pattern=HASH))


def _path() -> fields.List[Any]:
    return fields.List(fields.String(metadata={"pattern": HASH}), required=True, metadata=described(
        "The proof (RFC 9162 §2.1.3 and §2.1.4), the lowest node first, each in base64url."))


class HeadAnswer(Answer):
    """The last signed head of the log."""

    size = fields.Integer(required=True, metadata=described("How many finished deals it covers."))
    root = _hash("The root over their leaves, in base64url.")
    at = fields.Integer(required=True, metadata=described("When it was signed, seconds since the epoch."))
    signed = fields.String(required=True, metadata=described("The same as a compact JWS, typ marias-tree-head+jws."))


class LeafAnswer(Answer):
    """What the log says of a deal; hashed as JSON with these members in alphabetical order and without spaces."""

    table = fields.String(required=True, metadata={"pattern": TABLE_ID})
    deal = fields.Integer(required=True)
    first = fields.Integer(required=True, metadata=described("The first of its versions."))
    last = fields.Integer(required=True, metadata=described("The version at which it ended."))
    head = _hash("The hash of that version's entry, as receipts tell it.")


class InclusionAnswer(Answer):
    """The proof that a deal is in the log."""

    index = fields.Integer(required=True, metadata=described("Where it stands, from 0."))
    size = fields.Integer(required=True)
    leaf = fields.Nested(LeafAnswer, required=True)
    path = _path()


class ConsistencyAnswer(Answer):
    """The proof that the log only grew."""

    first = fields.Integer(required=True)
    second = fields.Integer(required=True)
    path = _path()
