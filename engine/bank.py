"""The chip bank: accounts and the transfers between them, in whole chips, each chip taken from somewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from engine.errors import RuleViolation


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Move `chips` from the account `debit` to `credit`; asked twice by one `id`, it is done once."""

    id: str
    debit: str
    credit: str
    chips: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """Take back the transfer `id`, as what it paid for did not happen. Unknown, or taken back: nothing."""

    id: str


Command = Transfer | Refund


@dataclass(frozen=True, slots=True, kw_only=True)
class Transferred:
    """`chips` went from `debit` to `credit`."""

    id: str
    debit: str
    credit: str
    chips: int


class Bank(NamedTuple):
    """Balances by account and transfers by id, as far as a decision needs them; what is not named is 0."""

    balances: Mapping[str, int]
    seen: Mapping[str, Transferred]


def is_limited(account: str) -> bool:
    """May this account not go below zero?

    The house lends without end, and a table answers for its own chips: they lie in the table's history.
    """
    return not account.endswith("-house") and not account.startswith("table:")


def refund_of(transfer: str) -> str:
    """The id of the transfer that takes `transfer` back."""
    return f"{transfer}/refund"


def decide(bank: Bank, command: Command) -> tuple[Transferred, ...]:
    """What `command` moves; nothing when it was done before.

    Raises RuleViolation `transfer_id_reused`, `transfer_refunded`, `chips_not_positive`, `accounts_equal`,
    `insufficient_chips`, in this order of precedence.
    """
    match command:
        case Transfer():
            return _transfer(bank, command)
        case Refund():
            return _refund(bank, command)
        case _:
            assert_never(command)


def _transfer(bank: Bank, command: Transfer) -> tuple[Transferred, ...]:
    asked = Transferred(id=command.id, debit=command.debit, credit=command.credit, chips=command.chips)
    earlier = bank.seen.get(command.id)
    if earlier is not None and earlier != asked:
        raise RuleViolation("transfer_id_reused", id=command.id)
    if earlier is not None and refund_of(command.id) in bank.seen:
        raise RuleViolation("transfer_refunded", id=command.id)
    if earlier is not None:
        return ()
    if command.chips <= 0:
        raise RuleViolation("chips_not_positive", chips=command.chips)
    if command.debit == command.credit:
        raise RuleViolation("accounts_equal")
    _refuse_overdraft(bank, command.debit, command.chips)
    return (asked,)


def _refund(bank: Bank, command: Refund) -> tuple[Transferred, ...]:
    first = bank.seen.get(command.id)
    if first is None or refund_of(command.id) in bank.seen:
        return ()
    _refuse_overdraft(bank, first.credit, first.chips)
    return (Transferred(id=refund_of(first.id), debit=first.credit, credit=first.debit, chips=first.chips),)


def _refuse_overdraft(bank: Bank, account: str, chips: int) -> None:
    balance = bank.balances.get(account, 0)
    if is_limited(account) and balance < chips:
        raise RuleViolation("insufficient_chips", balance=balance, chips=chips)


def evolve(bank: Bank, event: Transferred) -> Bank:
    """The bank after `event`: one account has less, another as much more."""
    balances = dict(bank.balances)
    balances[event.debit] = balances.get(event.debit, 0) - event.chips
    balances[event.credit] = balances.get(event.credit, 0) + event.chips
    return Bank(balances, {**bank.seen, event.id: event})
