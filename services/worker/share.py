"""Who should handle which partition: all workers compute the same from the roll, and little moves when it changes."""

import hashlib
from collections.abc import Sequence


def share(workers: Sequence[str], partitions: Sequence[str]) -> dict[str, str]:
    """Partition -> worker, no worker having more than its even part, rounded up.

    Each partition goes to the worker that ranks highest for it and still has room (rendezvous hashing).
    """
    if not workers:
        return {}
    room = dict.fromkeys(workers, -(-len(partitions) // len(workers)))
    shared = {}
    for partition in partitions:
        ranked = sorted(workers, key=lambda worker: _rank(worker, partition), reverse=True)
        shared[partition] = next(worker for worker in ranked if room[worker])
        room[shared[partition]] -= 1
    return shared


def _rank(worker: str, partition: str) -> bytes:
    return hashlib.blake2b(f"{worker}/{partition}".encode(), digest_size=8).digest()
