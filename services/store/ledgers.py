"""Whole accounts of players, posting by posting, with what the account then held."""

from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple

from redis import Redis

from services.store import accounts, projected
from services.store.accounts import Ledger, Posting

PAGE: Final = 500

Account = Literal["score", "chips"]


class Running(NamedTuple):
    """A posting, and the balance after it."""

    posting: Posting
    balance: int


def postings_of(redis: Redis, player: str, account: Account) -> Iterator[Running]:
    """The postings of an account in order, from the first, read page by page."""
    balance = 0
    for posting in _pages(lambda after: _page(redis, player, account, after)):
        balance += posting.chips
        yield Running(posting, balance)


def _page(redis: Redis, player: str, account: Account, after: str | None) -> Ledger:
    if account == "chips":
        return accounts.postings(redis, player, after, PAGE)
    return projected.score(redis, player, after, PAGE)


def _pages(page: Callable[[str | None], Ledger]) -> Iterator[Posting]:
    after = None
    while found := page(after).postings:
        yield from found
        if len(found) < PAGE:
            return
        after = found[-1].id
