"""What the rules refuse, and the permanent list of the codes that say why."""

from typing import Final

CODES: Final = frozenset(
    {
        "bad_move",
        "not_your_turn",
        "wrong_phase",
        "deal_over",
        "card_not_held",
        "illegal_card",
        "seven_locked",
        "trump_card_in_talon",
        "marriage_word_required",
        "marriage_word_not_asked",
        "blind_not_allowed",
        "colour_closed",
        "game_too_low",
        "contract_not_allowed",
        "part_not_open",
        "level_maximum",
        "proti_not_allowed",
        "nothing_raised",
        "claim_not_certain",
        "bad_record",
        "result_mismatch",
        "malformed",
        "unauthenticated",
        "forbidden",
        "not_found",
        "version_mismatch",
        "idempotency_key_missing",
        "idempotency_key_reused",
        "rate_limited",
        "too_large",
        "unavailable",
        "table_full",
        "seat_taken",
        "not_seated",
        "already_seated",
        "deal_running",
        "insufficient_chips",
        "table_closed",
        "code_wrong",
        "events_gone",
        "transfer_id_reused",
        "already_ready",
        "turn_expired",
        "stale",
        "not_due",
        "table_exists",
        "bankroll_needs_cap",
        "buy_in_too_low",
    }
)


class RuleViolation(Exception):
    """The rules forbid this command in this state: expected, told to the sender, and nothing is recorded.

    `code` is public and permanent. `facts` are what the sender is allowed to be told.
    """

    def __init__(self, code: str, **facts: object) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts
