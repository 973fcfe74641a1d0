"""All chips of an installation: accounts, the house and tables are zero together, whatever died between two of them."""

from collections.abc import Sequence

from redis import Redis

from engine.bank import is_limited
from services.store import accounts, keys, outbox
from services.store.topology import masters
from services.store.wire import ask, fields_of
from tests.faults.verdict import Verdict


def check_chips(redis: Redis, partitions: Sequence[str], at_tables: int, verdict: Verdict) -> None:
    """Each account is the sum of its postings, each transfer posted once; with `at_tables` all are zero together."""
    total = at_tables
    verdict.chips = at_tables
    found = (each for master in masters(redis) for each in master.scan_iter("m:{p*}:acct:*", count=1000))
    for name in sorted(each.decode() for each in found):
        account = name.rpartition(":")[2]
        verdict.accounts += 1
        total += _check_account(redis, account, verdict)
    under_way = [each for partition in partitions for each in accounts.under_way(redis, partition)]
    for buy_in in under_way:
        verdict.add("chips", f"{buy_in.transfer} of {buy_in.player} is still under way")
    for partition in partitions:
        for field in outbox.stuck(redis, partition):
            verdict.add("chips", f"{field} could not be posted")
    if total != 0 and not under_way:
        verdict.add("chips", f"all accounts and tables together hold {total:+d} chips; it should be 0")


def _check_account(redis: Redis, account: str, verdict: Verdict) -> int:
    """The balance of an account, by its postings."""
    balance, seen = 0, set[str]()
    version, stored = ask(redis, "HMGET", keys.account(account), "v", "b")
    entries = ask(redis, "XRANGE", keys.postings(account), "-", "+")
    for place, (id_, flat) in enumerate(entries, start=1):
        posting = {name.decode(): value.decode() for name, value in fields_of(flat).items()}
        chips = int(posting["chips"])
        balance += chips if posting["credit"] == account else -chips
        if id_ != b"%d-0" % place:
            verdict.add("chips", f"{account}: posting {id_.decode()} stands at place {place}")
        if posting["id"] in seen:
            verdict.add("chips", f"{account}: {posting['id']} was posted twice")
        if balance < 0 and is_limited(account):
            verdict.add("chips", f"{account}: {balance} chips after posting {place}")
        seen.add(posting["id"])
    if (int(version or 0), int(stored or 0)) != (len(entries), balance):
        verdict.add("chips", f"{account}: {stored!r} at version {version!r}; its {len(entries)} postings say {balance}")
    if not account.endswith("-house"):
        verdict.chips += max(0, balance)
    return balance
