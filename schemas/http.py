"""The bodies and queries that the HTTP API takes; whatever they do not name is refused."""

import re
import unicodedata
from typing import Any, cast

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from schemas.bodies import StrictBoolean, all_different, join_code, rules_body, seat, whole
from schemas.errors import Malformed
from schemas.games import WIRE

NAME_CHARACTERS_MAX = 40
BOT_POLICIES = ("rule", "random")
STAKES = ("free", "bankroll")
DEALS_MAX = 10_000
BOTS_DEALS = 100
"""Where three bots play by themselves and nobody said for how long."""
TURN_SECONDS_MAX = 86_400
BUY_IN_MAX = 1_000_000_000_000
EVENTS_MAX = 500
PAGE_MAX = 100


class Name(fields.String):
    """A name as others will read it: trimmed, in Unicode's composed form, every character printable."""

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = unicodedata.normalize("NFC", super()._deserialize(value, attr, data, **kwargs).strip())
        if not text.isprintable():
            raise ValidationError("May hold printable characters only.")
        return text


class Digits(fields.Integer):
    """A whole number in a query, as plain decimal digits."""

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: Any) -> int:
        if not isinstance(value, str) or _DIGITS.fullmatch(value) is None:
            raise self.make_error("invalid", input=value)
        return int(value)


_DIGITS = re.compile(r"0|[1-9][0-9]{0,14}")


class PlayerBody(Schema):
    """A new guest."""

    name = Name(
        required=True, validate=validate.Length(1, NAME_CHARACTERS_MAX),
        metadata={"description": "What others at the table see.", "examples": ["Bára"]},
    )


class TableBody(Schema):
    """A new table; all but `game` may be left out."""

    game = fields.String(required=True, validate=validate.OneOf(list(WIRE)))
    rules = fields.Nested(
        rules_body(), load_default=dict,
        metadata={"description": "A preset and any overrides; the lobby shows what follows from them."},
    )
    deals = whole(
        1, DEALS_MAX, allow_none=True, load_default=None,
        metadata={"description": f"The length of the session; null: open end, with three bots {BOTS_DEALS}."},
    )
    bots = fields.List(
        seat(), load_default=list, validate=all_different,
        metadata={"description": "Seats that bots fill.", "uniqueItems": True},
    )
    bot_policy = fields.String(load_default="rule", validate=validate.OneOf(BOT_POLICIES))
    auto_ready = StrictBoolean(load_default=False)
    turn_seconds = whole(
        1, TURN_SECONDS_MAX, allow_none=True, load_default=None,
        metadata={"description": "Time for a turn; then the most modest move is played. null: no limit."},
    )
    private = StrictBoolean(load_default=False)
    stake = fields.String(load_default="free", validate=validate.OneOf(STAKES))
    buy_in = whole(
        1, BUY_IN_MAX, metadata={"description": "Under bankroll: the chips that sitting down brings to the table."}
    )

    @validates_schema(skip_on_field_errors=True)
    def _stake_fits(self, body: dict[str, Any], **_: object) -> None:
        """Under bankroll nobody may lose more than he brought."""
        rules = _rules(body)
        if body["stake"] == "free":
            return
        if rules["cap"] == 0:
            raise ValidationError("Must not be 0 under bankroll.", "rules.cap")
        if body.get("buy_in", 0) < 2 * rules["cap"]:
            raise ValidationError(f"Must be at least twice the cap, {2 * rules['cap']}.", "buy_in")


def _rules(body: dict[str, Any]) -> dict[str, Any]:
    wire = WIRE[body["game"]]
    try:
        return cast(dict[str, Any], wire.dump_rules(wire.load_rules(body["rules"])))
    except Malformed as error:
        raise ValidationError(error.message, ".".join(filter(None, ("rules", error.field)))) from None


class CodeQuery(Schema):
    """What a spectator of a private table adds."""

    code = join_code()


class EventsQuery(CodeQuery):
    """Which part of a feed."""

    after = Digits(metadata={"description": "The last version already known; left out: from the oldest kept."})
    limit = Digits(load_default=100, validate=validate.Range(1, EVENTS_MAX))


class LobbyQuery(Schema):
    """Which page of the lobby."""

    after = fields.String(validate=validate.Length(1, 64), metadata={"description": "`next` of the page before."})
    limit = Digits(load_default=50, validate=validate.Range(1, PAGE_MAX))


class BankQuery(CodeQuery):
    """Which deals of a table's bank."""

    after = Digits(load_default=0, metadata={"description": "The last deal already known."})
    limit = Digits(load_default=PAGE_MAX, validate=validate.Range(1, EVENTS_MAX))


class RecordQuery(CodeQuery):
    """With whose eyes a deal is read."""

    seat = fields.String(
        validate=validate.OneOf(("0", "1", "2", "spectator")),
        metadata={"description": "Left out: the caller's own seat in that deal, if any; for auditors everything."},
    )


class ReplayQuery(RecordQuery):
    """With whose eyes a deal is replayed, and in which language it is told."""

    lang = fields.String(load_default="en", validate=validate.OneOf(("en", "cs")))


class HeadQuery(Schema):
    """Which head of the log."""

    now = fields.String(
        load_default="", validate=validate.OneOf(("", "true")),
        metadata={"description": "`true`: sign one now, if deals were added since the last."},
    )


class InclusionQuery(Schema):
    """Which deal, and in a log of which size."""

    table = fields.String(required=True, metadata={"description": "The table."})
    deal = Digits(required=True, validate=validate.Range(1), metadata={"description": "From 1."})
    size = Digits(
        validate=validate.Range(1), metadata={"description": "That of a signed head; left out: of the last one."})


class ConsistencyQuery(Schema):
    """Between which sizes of the log."""

    first = Digits(required=True, validate=validate.Range(1), metadata={"description": "That of an earlier head."})
    second = Digits(
        validate=validate.Range(1), metadata={"description": "That of a later one; left out: of the last one."})


class LedgerQuery(Schema):
    """Which postings of a player."""

    account = fields.String(load_default="score", validate=validate.OneOf(("score", "chips")))
    after = fields.String(
        validate=validate.Length(1, 128), metadata={"description": "The id of the last posting already known."}
    )
    limit = Digits(load_default=PAGE_MAX, validate=validate.Range(1, EVENTS_MAX))
