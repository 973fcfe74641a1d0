"""The answers about deals and chips, described: replays, versions, the bank of a table, ledgers."""

from marshmallow import fields, validate

from schemas.answers import TABLE_ID, Answer, FeedItem, Seated, at_field, by_seat, described, version_field


class MomentAnswer(Answer):
    """The table at one version, as one saw it then."""

    version = version_field()
    at = at_field()
    deal = fields.Integer(required=True)
    actor = fields.String(required=True, metadata=described("Who acted: a player, `bot:<seat>`, `clock`."))
    took_ms = fields.Integer(required=True, allow_none=True, metadata=described(
        "How long the seat that moved had been waited for; null where none did."))
    used_ms = by_seat(fields.Integer(), "How long each seat has been waited for in this deal so far.")
    events = fields.List(fields.Dict(), required=True, metadata=described("As the feed told them; each has a `type`."))
    view = fields.Dict(required=True, metadata=described(
        "As `GET /v1/tables/{table}` answered then; for an auditor with `seats_see`, what each seat saw besides."))
    text = fields.List(fields.String(), required=True, metadata=described("Sentences about what happened."))


class ReplayAnswer(Answer):
    """A deal, moment by moment, as one saw it then."""

    table = fields.String(required=True, metadata={"pattern": TABLE_ID})
    deal = fields.Integer(required=True)
    seat = fields.Raw(required=True, metadata=described(
        "Whose eyes: those of a seat, null for a spectator, `auditor` for one who sees everything."))
    language = fields.String(required=True, validate=validate.OneOf(("en", "cs")))
    finished = fields.Boolean(required=True, metadata=described("Has the deal ended? Else the last moment is now."))
    moments = fields.List(fields.Nested(MomentAnswer), required=True)


class VersionAnswer(FeedItem):
    """What one version of a table did, however long ago."""

    table = fields.String(required=True, metadata={"pattern": TABLE_ID})
    actor = fields.String(required=True, metadata=described("Who acted: a player, `bot:<seat>`, `clock`."))


class Links(Answer):
    """Addresses that lead from chips to what moved them; what there is none of is absent."""

    table = fields.String(metadata=described("The table that the chips came from or went to."))
    record = fields.String(metadata=described("The record of the deal."))
    replay = fields.String(metadata=described("Its replay."))
    event = fields.String(metadata=described("The version of the table that moved the chips."))


class DealPayments(Answer):
    """What a deal paid, and where that is written."""

    deal = fields.Integer(required=True)
    payments = by_seat(fields.Integer(), "Chips by seat; they sum to zero.")
    version = fields.Integer(required=True, allow_none=True, metadata=described(
        "The version at which it ended; null where an earlier build did not note it."))
    at = fields.String(required=True, allow_none=True, metadata=described("When that was.", format="date-time"))
    links = fields.Nested(Links, required=True)


class ChipsPoint(DealPayments):
    """What lay at the seats after a deal, and who sat there."""

    balances = fields.List(fields.Integer(), required=True, allow_none=True, metadata=described(
        "Chips by seat after the deal; null where an earlier build did not note them."))
    seats = fields.List(fields.Nested(Seated), required=True, allow_none=True, metadata=described(
        "Who held the seats in the deal."))


class ChipsAnswer(Answer):
    """A table's chips, deal by deal."""

    deals = fields.List(fields.Nested(ChipsPoint), required=True)
    next = fields.Integer(required=True, allow_none=True, metadata=described("`after` of the next page."))


class BankAnswer(Answer):
    """The standing of a table, and the deals that made it."""

    balances = by_seat(fields.Integer(), "Chips by seat.")
    deals = fields.List(fields.Nested(DealPayments), required=True)
    next = fields.Integer(required=True, allow_none=True, metadata=described("`after` of the next page."))


class Posting(Answer):
    """One line of an account, and the event it comes from."""

    id = fields.String(required=True)
    chips = fields.Integer(required=True)
    table = fields.String(required=True, allow_none=True)
    deal = fields.Integer(required=True, allow_none=True)
    version = fields.Integer(required=True, allow_none=True)
    at = at_field()
    links = fields.Nested(Links, required=True)


class LedgerAnswer(Answer):
    """An account of a player."""

    balance = fields.Integer(required=True)
    postings = fields.List(fields.Nested(Posting), required=True)
    next = fields.String(required=True, allow_none=True, metadata=described("`after` of the next page."))
