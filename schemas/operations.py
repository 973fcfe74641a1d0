"""Answers about the system itself: health, keys, kinds of refusals, partitions, dead letters."""

from marshmallow import fields, validate

from schemas.answers import Answer, described


class LiveAnswer(Answer):
    """The process answers."""

    status = fields.String(required=True, validate=validate.Equal("live"))


class ReadyAnswer(Answer):
    """Commands are taken in and decided."""

    status = fields.String(required=True, validate=validate.Equal("ready"))
    partitions = fields.Integer(required=True)


class Key(Answer):
    """A public key (RFC 8037)."""

    kty = fields.String(required=True)
    crv = fields.String(required=True)
    x = fields.String(required=True)
    kid = fields.String(required=True)
    use = fields.String(required=True)
    alg = fields.String(required=True)


class KeysAnswer(Answer):
    """The keys that verify tokens (RFC 7517), the signing one first."""

    keys = fields.List(fields.Nested(Key), required=True)


class KindAnswer(Answer):
    """What a code means."""

    code = fields.String(required=True)
    status = fields.Integer(required=True)
    title = fields.String(required=True)
    remedy = fields.String(required=True)


class KindsAnswer(Answer):
    """All codes."""

    problems = fields.List(fields.Nested(KindAnswer), required=True)


class PartitionAnswer(Answer):
    """How one partition fares."""

    partition = fields.String(required=True)
    owned = fields.Boolean(required=True, metadata=described("Does a living worker hold it?"))
    waiting = fields.Integer(required=True, metadata=described("Commands that are not decided yet."))
    dead = fields.Integer(required=True, metadata=described("Commands that were given up."))
    tables = fields.Integer(required=True)


class OperationsAnswer(Answer):
    """How the service fares."""

    workers = fields.List(fields.String(), required=True)
    partitions = fields.List(fields.Nested(PartitionAnswer), required=True)


class DeadLetter(Answer):
    """A command that was given up; its body is not told, as it may name cards."""

    id = fields.String(required=True, metadata=described("As `marias dead` takes it: partition and place."))
    at = fields.Integer(required=True, metadata=described("When it was given up, ms since the epoch."))
    table = fields.String(required=True)
    sender = fields.String(required=True)
    key = fields.String(required=True)
    type = fields.String(required=True)
    error = fields.String(required=True, metadata=described("The last line of the traceback, without cards."))


class DeadLettersAnswer(Answer):
    """Commands that were given up."""

    dead_letters = fields.List(fields.Nested(DeadLetter), required=True)
