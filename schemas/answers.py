"""The answers of the HTTP API, described for those who write clients; a few are also written by these schemas."""

from typing import Any

from marshmallow import INCLUDE, Schema, fields, validate

from engine.notation import CODES
from schemas.bodies import rules_body
from schemas.problems import KINDS

PHASES = ("lobby", "choose_trump", "discard", "declare", "answer", "announce", "doubling", "play", "over")
TABLE_ID = r"^t-[0-9a-f]{2}-[0-9a-f]{12}$"
HASH = "^[A-Za-z0-9_-]{43}$"
"""32 bytes in base64url."""


def described(text: str, **more: Any) -> dict[str, Any]:
    """The metadata of a field: what it says, and further words of JSON Schema."""
    return {"description": text, **more}


def version_field() -> fields.Integer:
    """The version of a table."""
    return fields.Integer(required=True, metadata=described("How many commands the table has applied.", minimum=1))


def at_field() -> fields.String:
    """When something happened."""
    return fields.String(required=True, metadata=described("RFC 3339, UTC, to the millisecond.", format="date-time"))


def seat_field(**more: Any) -> fields.Integer:
    """The number of a seat."""
    return fields.Integer(validate=validate.OneOf((0, 1, 2)), **more)


def card_field(**more: Any) -> fields.String:
    """A card by its code."""
    return fields.String(validate=validate.OneOf(CODES), **more)


def _hash() -> fields.String:
    return fields.String(metadata=described(
        "When applied: the hash of its entry, which depends on all that happened at the table up to it.",
        pattern=HASH))


def _signed(when: str) -> fields.String:
    return fields.String(metadata=described(f"{when} the same as a compact JWS, to be kept."))


def by_seat(each: fields.Field[Any], text: str) -> fields.List[Any]:
    """One of `each` for each seat."""
    return fields.List(each, required=True, metadata=described(text, minItems=3, maxItems=3))


class Answer(Schema):
    """What clients read: members may be added, none is taken away."""

    class Meta:
        """Clients are told to expect more members."""

        unknown = INCLUDE


class ProblemAnswer(Answer):
    """A refusal (RFC 9457). Programs read `code`, which never changes its meaning; people read the rest."""

    type = fields.String(required=True, metadata=described("Where the code is explained."))
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    code = fields.String(required=True, metadata=described("Permanent.", examples=sorted(KINDS)[:3]))
    detail = fields.String(required=True)
    remedy = fields.String(required=True, metadata=described("What to do about it, in one sentence."))
    errors = fields.Dict(
        keys=fields.String(), values=fields.List(fields.String()),
        metadata=described("What is wrong with each field, such as `bots.0`."),
    )
    facts = fields.Dict(metadata=described("What the rules let the sender know, such as the legal cards."))
    signed = _signed("Of a refused command, with `Prefer: receipt=signed`,")
    oldest = fields.Integer(metadata=described("With `events_gone`: the first version that the feed still holds."))


class PlayerAnswer(Answer):
    """A new guest and the token that speaks for it."""

    player = fields.String(required=True)
    token = fields.String(required=True, metadata=described("Keep it: it cannot be had again."))


class TableAnswer(Answer):
    """A new table."""

    table = fields.String(required=True, metadata={"pattern": TABLE_ID})
    code = fields.String(metadata=described("The join code, if the table is private."))


class QueuedAnswer(Answer):
    """The command was taken in and will be decided; ask for its receipt."""

    status = fields.String(required=True, validate=validate.Equal("queued"))
    receipt = fields.String(required=True, metadata=described("Where the receipt will be."))
    signed = _signed("With `Prefer: receipt=signed`,")


class AppliedAnswer(Answer):
    """The command was applied and is in the table's history."""

    status = fields.String(required=True, validate=validate.Equal("applied"))
    version = version_field()
    hash = _hash()
    signed = _signed("With `Prefer: receipt=signed`,")


class ReceiptAnswer(Answer):
    """What became of a command."""

    status = fields.String(required=True, validate=validate.OneOf(("queued", "applied", "refused")))
    version = fields.Integer(metadata=described("When applied: the version it made."))
    hash = _hash()
    code = fields.String(metadata=described("When refused: why."))
    detail = fields.Dict(metadata=described("When refused: what the rules let the sender know."))
    signed = fields.String(required=True, metadata=described("The same as a compact JWS, to be kept."))


class PlayedCard(Answer):
    """A card on the table."""

    seat = seat_field(required=True)
    card = card_field(required=True)


class LastTrick(Answer):
    """The trick before the current one (§7.10)."""

    cards = fields.List(fields.Nested(PlayedCard), required=True)
    winner = seat_field(required=True)


class Seated(Answer):
    """Who holds a seat: a player, or a bot by its policy."""

    player = fields.String()
    name = fields.String()
    away = fields.Boolean(metadata=described("He left in the deal; a bot plays his cards until it has ended."))
    bot = fields.String()


class Standing(Answer):
    """A line of the final standing."""

    place = fields.Integer(required=True)
    seat = seat_field(required=True)
    player = fields.String(allow_none=True)
    name = fields.String(allow_none=True)
    chips = fields.Integer(required=True)


class Fairness(Answer):
    """What the coming or running deal was committed to; once its cards are dealt, `deal` and `root` only."""

    deal = fields.Integer(required=True)
    root = fields.String(required=True, metadata=described("Over the leaves of the server's order of the cards."))
    server_commitment = fields.String()
    commitments = fields.List(
        fields.String(allow_none=True), metadata=described("To the players' nonces; null where there is none."))
    awaiting = fields.List(seat_field(), metadata=described("The seats whose `reveal` the deal waits for."))


class ViewAnswer(Answer):
    """A table as the caller may see it now; what a seat may not know is absent."""

    version = version_field()
    seat = seat_field(required=True, allow_none=True, metadata=described("The caller's; null for a spectator."))
    phase = fields.String(required=True, validate=validate.OneOf(PHASES))
    deal = fields.Integer(required=True, metadata=described("The number of the deal, from 1; 0 before the first."))
    deals = fields.Integer(required=True, allow_none=True, metadata=described("After how many the session ends."))
    dealer = seat_field(required=True, allow_none=True)
    forehand = seat_field(allow_none=True)
    to_act = fields.List(seat_field(), required=True, metadata=described("The seats that the game waits for."))
    hand = fields.List(card_field(), required=True)
    trump_card = card_field(metadata=described("The forehand's own, until it is turned."))
    legal = fields.List(fields.Dict(), required=True, metadata=described("Whole moves, ready to send; empty when it is"
                                                                     " not the caller's turn."))
    declarer = seat_field(allow_none=True)
    declared = fields.String(metadata=described("The game that stands: colour, betl or durch."))
    trump = fields.String(required=True, allow_none=True, metadata=described("The suit, once it is turned."))
    contract = fields.List(fields.String(), required=True, metadata=described("What the declarer announced."))
    proti = fields.Dict(
        keys=fields.String(), values=seat_field(), metadata=described("Each proti and who announced it."))
    levels = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata=described("How often each was doubled."))
    open = fields.List(fields.String(), metadata=described("The parts that may be raised in this turn."))
    said = fields.List(fields.String(), metadata=described("What the speaking side has raised in this turn."))
    trick = fields.List(fields.Nested(PlayedCard), required=True)
    last_trick = fields.Nested(LastTrick, required=True, allow_none=True)
    tricks_taken = by_seat(fields.Integer(), "Tricks by seat.")
    points = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    marriages = fields.Dict(keys=fields.String(), values=fields.List(fields.Integer()))
    result = fields.Dict(metadata=described("What the last deal came to, once it has ended."))
    bank = by_seat(fields.Integer(), "The table's own standing at this version.")
    deadline = fields.String(
        required=True, allow_none=True, metadata=described("Until when who is to act has time.", format="date-time"))
    game = fields.String(required=True)
    rules = fields.Nested(rules_body(), required=True)
    stake = fields.String(required=True)
    buy_in = fields.Integer(metadata=described("Under bankroll: what sitting down brings."))
    auto_ready = fields.Boolean(required=True)
    turn_seconds = fields.Integer(required=True, allow_none=True)
    seats = by_seat(fields.Nested(Seated, allow_none=True), "Who sits where.")
    ready = by_seat(fields.Boolean(), "Who is ready for the next deal.")
    fairness = fields.Nested(Fairness, metadata=described("While a deal is coming or running."))
    standing = fields.List(fields.Nested(Standing), metadata=described("Final, once the session is over; best first."))


class FeedItem(Answer):
    """What one version did, as far as the caller may know it."""

    version = version_field()
    at = at_field()
    events = fields.List(fields.Dict(), required=True, metadata=described("Each has a `type`."))


class EventsAnswer(Answer):
    """A part of a table's feed."""

    version = version_field()
    events = fields.List(fields.Nested(FeedItem), required=True)
    more = fields.Boolean(required=True, metadata=described("Ask again after the last version of this answer."))


class LobbyTable(Answer):
    """A table that may be joined or watched."""

    table = fields.String(required=True, metadata={"pattern": TABLE_ID})
    game = fields.String(required=True)
    rules = fields.Nested(rules_body(), required=True, metadata=described("The full rules."))
    deals = fields.Integer(required=True, allow_none=True)
    seats = by_seat(fields.Nested(Seated, allow_none=True), "Who sits where.")
    stake = fields.String(required=True)
    buy_in = fields.Integer()
    turn_seconds = fields.Integer(required=True, allow_none=True)
    auto_ready = fields.Boolean(required=True)


class LobbyAnswer(Answer):
    """A page of public tables that are not finished."""

    tables = fields.List(fields.Nested(LobbyTable), required=True)
    next = fields.String(required=True, allow_none=True, metadata=described("`after` of the next page."))


class RecordAnswer(Answer):
    """A deal as a document; cards that the caller may not know are `??`."""

    format = fields.String(required=True, validate=validate.Equal("marias-deal/1"))
    game = fields.String(required=True)
    rules = fields.Nested(rules_body(), required=True)
    dealer = seat_field(required=True)
    deck = fields.List(
        fields.String(validate=validate.OneOf((*CODES, "??"))), required=True,
        metadata=described("In dealing order.", minItems=32, maxItems=32))
    moves = fields.List(fields.Dict(), required=True)
    result = fields.Dict()
