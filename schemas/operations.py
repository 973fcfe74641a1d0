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
    """The keys that verify tokens, then those that verify receipts and heads (RFC 7517); of each the signing one first.
    """

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


class ServerAnswer(Answer):
    """A master of the store."""

    version = fields.String(required=True)
    aof = fields.Boolean(required=True, metadata=described("Does it keep an append-only file?"))
    fsync = fields.String(required=True, metadata=described("When that is forced to the disk; empty: not told."))
    last_write_ok = fields.Boolean(required=True)
    memory = fields.Integer(required=True, metadata=described("Bytes."))
    memory_max = fields.Integer(required=True, metadata=described("Bytes; 0: no limit."))
    policy = fields.String(required=True, metadata=described("What it does when it is full."))
    replicas = fields.Integer(required=True)


class LagAnswer(Answer):
    """How old the oldest entry of the log is that a reader has not handled."""

    projections = fields.Float(required=True, allow_none=True)
    bots = fields.Float(required=True, allow_none=True)
    settlement = fields.Float(required=True, allow_none=True)


class PartitionAnswer(Answer):
    """How one partition fares; null is what this process may not know."""

    partition = fields.String(required=True)
    owned = fields.Boolean(required=True, metadata=described("Does a living worker hold it?"))
    owner = fields.String(required=True, metadata=described("Its name; empty: nobody."))
    waiting = fields.Integer(required=True, metadata=described("Commands that are not decided yet."))
    oldest_seconds = fields.Float(required=True, metadata=described("How long the oldest of them waits."))
    dead = fields.Integer(required=True, allow_none=True, metadata=described("Commands that were given up."))
    tables = fields.Integer(required=True, allow_none=True)
    frozen = fields.Integer(
        required=True, allow_none=True, metadata=described("Tables whose projections are stopped by an error."))
    stuck = fields.Integer(required=True, allow_none=True, metadata=described("Payments that could not be posted."))
    lag_seconds = fields.Nested(LagAnswer, required=True)


class JobsAnswer(Answer):
    """One queue of jobs."""

    queue = fields.String(required=True)
    waiting = fields.Integer(required=True)
    oldest_seconds = fields.Float(required=True)
    failed = fields.Integer(required=True)


class DealLogAnswer(Answer):
    """The log of finished deals."""

    size = fields.Integer(required=True)
    signed = fields.Integer(required=True, metadata=described("How many of them the last signed head covers."))
    signed_seconds_ago = fields.Float(required=True, allow_none=True)
    stuck = fields.Integer(required=True, metadata=described("Tables whose finished deals cannot be logged."))
    wrong = fields.String(required=True, metadata=described("Why no other head is signed; empty: nothing is wrong."))


class AuditAnswer(Answer):
    """How the last nightly audit ended."""

    night = fields.String(required=True, metadata=described("The date on which it began."))
    ended_seconds_ago = fields.Float(required=True)
    tables = fields.Integer(required=True)
    deals = fields.Integer(required=True, metadata=described("So many were decided again."))
    entries = fields.Integer(required=True)
    faults = fields.Integer(required=True)
    first_fault = fields.String(required=True, metadata=described("Its place, never what lies there; empty: none."))
    not_read = fields.Integer(required=True, metadata=described("Tables of which not everything could be read."))
    not_checked = fields.List(fields.String(), required=True, metadata=described("What it did not check, in words."))


class OperationsAnswer(Answer):
    """How the service fares."""

    healthy = fields.Boolean(required=True)
    troubles = fields.List(fields.String(), required=True, metadata=described("Why it is not, in words."))
    warnings = fields.List(fields.String(), required=True)
    servers = fields.List(fields.Nested(ServerAnswer), required=True)
    workers = fields.List(fields.String(), required=True)
    partitions = fields.List(fields.Nested(PartitionAnswer), required=True)
    jobs = fields.List(fields.Nested(JobsAnswer), required=True, allow_none=True)
    table_bytes = fields.Integer(required=True, allow_none=True, metadata=described("Mean memory of a table."))
    deal_log = fields.Nested(DealLogAnswer, required=True)
    audit = fields.Nested(AuditAnswer, required=True, allow_none=True, metadata=described("Null: there was none yet."))


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
