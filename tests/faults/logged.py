"""The log of finished deals against what has ended, and against every head that was told or kept outside the store."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from redis import Redis

from engine import merkle
from services.audit.log import Kept
from services.signing import BadSignature
from services.store import chain, deal_log
from services.transparency import heads
from services.transparency.heads import BadHeads, Head
from services.transparency.leaves import Told, read
from tests.faults.verdict import Verdict

PAGE = 1_000


class ToldHead(NamedTuple):
    """A head as a node has told it: `signed` is the statement."""

    head: Head
    signed: str


def check_log(
    redis: Redis, finished: Sequence[Told], kept: Kept, told: Sequence[ToldHead], verdict: Verdict
) -> None:
    """Each finished deal is in the log once and as it ended; no head says anything else."""
    leaves = _leaves(redis)
    verdict.leaves, verdict.heads = len(leaves), len(told)
    for what in (*_deals(leaves, finished), *_heads(leaves, kept, told)):
        verdict.add("deal log", what)


def _leaves(redis: Redis) -> list[bytes]:
    found: list[bytes] = []
    while page := deal_log.leaves(redis, len(found), PAGE):
        found += page
    return found


def _deals(leaves: Sequence[bytes], finished: Sequence[Told]) -> Iterator[str]:
    try:
        logged = Counter(map(read, leaves))
    except ValueError as error:
        yield f"a leaf cannot be read: {error}"
        return
    ended = Counter(finished)
    for deal, times in (logged - ended).items():
        yield f"{deal} is in the log {times} times more than it has ended"
    for deal in ended - logged:
        yield f"{deal} has ended, and is not in the log"


def _heads(leaves: Sequence[bytes], kept: Kept, told: Sequence[ToldHead]) -> Iterator[str]:
    """All roots that the log ever had, against the lines outside and what was told."""
    roots, peaks = [chain.text(merkle.root([]))], list[bytes]()
    for size, leaf in enumerate(leaves):
        _, peaks = merkle.grown(size, peaks, [merkle.leaf_hash(leaf)])
        roots.append(chain.text(merkle.fold(peaks)))
    outside = set[Head]()
    try:
        for line in heads.all_checked(kept.find, kept.outside.lines()):
            outside.add(line.head)
            if line.size >= len(roots) or roots[line.size] != line.root:
                yield f"{kept.outside.name}: the log of now has not grown from {line.head}"
    except (BadHeads, OSError) as error:
        yield f"{kept.outside.name}: {error}"
    for head, signed in told:
        try:
            if heads.read(kept.find, signed) != head:
                yield f"{head} was told, and something else was signed: {signed}"
        except BadSignature as error:
            yield f"{head} was told, not signed by us: {error}"
        if head.size >= len(roots) or roots[head.size] != head.root:
            yield f"the log of now contradicts {head}, which was told"
        elif head not in outside:
            yield f"{head} was told, and is not kept in {kept.outside.name}"
