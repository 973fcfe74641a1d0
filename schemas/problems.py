"""Every code that an answer may carry, with its status, its title and what to do about it (RFC 9457)."""

from collections.abc import Mapping
from typing import NamedTuple

MEDIA_TYPE = "application/problem+json"


class Kind(NamedTuple):
    """One permanent code: the HTTP status it comes with, a title for people and a remedy in one sentence."""

    status: int
    title: str
    remedy: str


HTTP_KINDS: dict[str, Kind] = {
    "bad_request": Kind(
        400, "The request is not proper HTTP", "Send the request again in the form the documentation shows."),
    "idempotency_key_missing": Kind(
        400, "The command has no idempotency key",
        "Send a header Idempotency-Key with a fresh value of your own, 1 to 64 of A-Z a-z 0-9 _ -."),
    "unauthenticated": Kind(
        401, "The caller is not known",
        "Send the header 'Authorization: Bearer <token>' with the token that POST /v1/players gave you."),
    "forbidden": Kind(403, "The caller's role may not do this", "Use a token of a role that may."),
    "not_found": Kind(404, "There is no such thing", "Check the address; ids are never guessed or reused."),
    "method_not_allowed": Kind(405, "The address does not take this method", "Use one that the header Allow names."),
    "deal_too_long": Kind(
        409, "Too much happened before the deal", "Ask an operator for `marias replay`, which has no such limit."),
    "events_gone": Kind(
        410, "The feed does not reach back that far",
        "Read the view of the table, then follow the events from its version, or start at `oldest`."),
    "version_mismatch": Kind(
        412, "The table has moved on", "Read the table again and decide whether you still want this."),
    "uri_too_long": Kind(414, "The address is too long", "Send a shorter one; none of ours needs 16 KiB."),
    "too_large": Kind(413, "The body is too large", "Send at most 16 KiB."),
    "unsupported_media_type": Kind(415, "The body is not JSON", "Send JSON with 'Content-Type: application/json'."),
    "malformed": Kind(422, "The request has the wrong form", "Correct the fields that `errors` names, send it again."),
    "idempotency_key_reused": Kind(
        422, "The idempotency key was used for another command", "Send a new command with a new key."),
    "rate_limited": Kind(
        429, "Too much at once", "Wait for the seconds of Retry-After, then send the same request again."),
    "internal": Kind(500, "The service failed", "Tell the operator the value of the header X-Request-Id."),
    "unavailable": Kind(
        503, "The service cannot answer now",
        "Wait for the seconds of Retry-After, then send the same request with the same key again."),
}

TABLE_KINDS: dict[str, Kind] = {
    "code_wrong": Kind(403, "The table is private and the code is wrong", "Ask a player at the table for its code."),
    "table_full": Kind(409, "All seats are taken", "Look for another table in the lobby."),
    "seat_taken": Kind(409, "Somebody sits there", "Sit without naming a seat to take the lowest free one."),
    "already_seated": Kind(409, "You already sit at this table", "Leave your seat before you take another."),
    "not_seated": Kind(409, "You do not sit at this table", "Sit down first."),
    "already_ready": Kind(409, "You are ready already", "Wait until all seats are."),
    "bankroll_needs_cap": Kind(409, "Playing for chips needs a cap", "Open the table with a rule `cap` above 0."),
    "buy_in_too_low": Kind(409, "The buy-in does not cover the most a seat can lose", "Bring twice the cap or more."),
    "reveal_not_awaited": Kind(
        409, "No nonce of yours is awaited", "Reveal when `fairness.awaiting` of the view names your seat."),
    "commitment_mismatch": Kind(
        409, "This is not the nonce that you committed to",
        "Send the nonce whose commitment your `ready` bore; without it the server's stands in."),
    "deal_running": Kind(409, "A deal is being played", "Wait until the deal has ended."),
    "table_closed": Kind(409, "The session is over", "Open a new table or look for one in the lobby."),
    "stale": Kind(409, "The table has moved on", "Read the table again."),
    "not_due": Kind(409, "The time for this has not come", "Wait for the deadline."),
    "table_exists": Kind(409, "The table exists already", "Open another one."),
    "transfer_id_reused": Kind(409, "The transfer was made with other chips", "Tell the operator."),
    "insufficient_chips": Kind(
        409, "The account does not hold enough chips", "Look for a table with a smaller buy-in, or play for free."),
}

RULE_KINDS: dict[str, Kind] = {
    "bad_move": Kind(422, "The move has the wrong form", "Send one of the moves that `legal` lists."),
    "not_your_turn": Kind(409, "It is another seat's turn", "Wait until `to_act` names your seat."),
    "wrong_phase": Kind(409, "This is not the time for this move", "Send one of the moves that `legal` lists."),
    "deal_over": Kind(409, "The deal is over", "Send `ready` for the next deal."),
    "card_not_held": Kind(409, "You do not hold this card", "Choose a card of your hand."),
    "illegal_card": Kind(409, "This card may not be played now", "Choose one of the cards that `legal` lists (§7)."),
    "seven_locked": Kind(
        409, "The trump seven is promised to the last trick", "Play another card as long as one is legal (§7.6)."),
    "trump_card_in_talon": Kind(409, "The trump card may not be discarded", "Discard two other cards (§3.3)."),
    "marriage_word_required": Kind(
        409, "The marriage must be announced or kept silent", "Send `marriage` true or false with the card (§7.8)."),
    "marriage_word_not_asked": Kind(
        409, "Nobody asked about a marriage", "Send the card without `marriage` (§7.8)."),
    "blind_not_allowed": Kind(409, "Trumps are not chosen blind here", "Choose one of your seven cards (§3.1)."),
    "colour_closed": Kind(
        409, "The discard has closed the colour game", "Declare betl or durch (§3.4)."),
    "game_too_low": Kind(409, "The game must be higher than the one on the table", "Declare a higher game (§4.3)."),
    "contract_not_allowed": Kind(
        409, "Your cards do not allow this contract", "Announce one of the contracts that `legal` lists (§5.1)."),
    "part_not_open": Kind(409, "This part cannot be raised now", "Raise parts that were open in this turn (§6.2)."),
    "level_maximum": Kind(409, "This part is at its highest level", "Say good, or raise another part (§6.2)."),
    "proti_not_allowed": Kind(
        409, "You cannot announce this against the declarer", "Send one of the moves that `legal` lists (§5.6)."),
    "nothing_raised": Kind(409, "The flek raises nothing", "Name at least one part, or say good (§6.2)."),
    "turn_expired": Kind(409, "Your time for this turn is over", "Look at the move that was made for you."),
    "claim_not_certain": Kind(409, "The rest is not certain to be yours", "Play the next card (§9.1)."),
}

RECORD_KINDS: dict[str, Kind] = {
    "bad_record": Kind(422, "The deal record has the wrong form", "Correct what `detail` names."),
    "result_mismatch": Kind(409, "The result of the record is not what the rules make of it", "Leave `result` out."),
}

KINDS: dict[str, Kind] = HTTP_KINDS | TABLE_KINDS | RULE_KINDS | RECORD_KINDS
# A code that is newer than this table is still somebody's refused command.
UNLISTED = Kind(409, "The command was refused", "Read the table again and send one of the moves that `legal` lists.")


def kind(code: str) -> Kind:
    """What belongs to `code`; a code that is not listed here counts as a refused command."""
    return KINDS.get(code, UNLISTED)


def problem(
    code: str,
    detail: str | None = None,
    *,
    errors: Mapping[str, list[str]] | None = None,
    facts: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """The problem document of `code`. `errors` names fields as `bots.0`; `facts` are further members of its own."""
    status, title, remedy = kind(code)
    document: dict[str, object] = {
        "type": f"/v1/problems/{code}", "title": title, "status": status, "code": code,
        "detail": detail or f"{title}.", "remedy": remedy,
    }
    if errors:
        document["errors"] = dict(errors)
    return document | dict(facts or {})
