"""Receipts: what became of a command, as callers are told it, and as a statement that they can keep.

A signed receipt names the player, his key, the table, and for an applied command the version and the hash of its
entry in the table's chain (`services/store/chain.py`). The hash depends on all that the table's past says up to then:
whoever holds the receipt can prove that a command was lost or that the past was written anew.
"""

import time
from typing import Any, NamedTuple, TypeAlias

from services.signing import RECEIPT, BadSignature, Find, Signer, opened

Stored: TypeAlias = dict[str, Any]
"""A receipt as the store keeps it: `s`tatus and, once decided, `v`ersion, `f`ingerprint, `h`ash, `c`ode, `d`etail."""


class Receipt(NamedTuple):
    """What a signed receipt says. `status` is queued, applied or refused; `at` is when it was signed, in seconds.

    `version` is the table's when it was decided, 0: it was not. `hash` is that of the entry of an applied command;
    `mark` its fingerprint, which a table's entries carry and nobody can guess a body from; `code` of a refusal.
    """

    table: str
    player: str
    key: str
    status: str
    at: int
    version: int = 0
    hash: str = ""
    mark: str = ""
    code: str = ""


def told(receipt: Stored) -> dict[str, Any]:
    """A stored receipt in the words of the contract."""
    match receipt["s"]:
        case "queued":
            return {"status": "queued"}
        case "applied":
            head = {"hash": receipt["h"]} if "h" in receipt else {}
            return {"status": "applied", "version": receipt["v"], **head}
        case _:
            detail = {"detail": receipt["d"]} if receipt.get("d") else {}
            return {"status": "refused", "code": receipt["c"], **detail}


def receipt_of(table: str, player: str, key: str, stored: Stored, at: int = 0) -> Receipt:
    """What a stored receipt says."""
    return Receipt(
        table, player, key, stored["s"], at,
        stored.get("v", 0), stored.get("h", ""), stored.get("f", ""), stored.get("c", ""),
    )


def statement(signer: Signer, table: str, player: str, key: str, stored: Stored) -> str:
    """A stored receipt, signed now."""
    return signed(signer, receipt_of(table, player, key, stored, int(time.time())))


def signed(signer: Signer, receipt: Receipt) -> str:
    """The receipt as a statement; what is empty is left out."""
    return signer.sign(RECEIPT, {name: value for name, value in receipt._asdict().items() if value})


def read(find: Find, statement: str) -> Receipt:
    """The receipt that was signed. Raises BadSignature."""
    said = opened(find, RECEIPT, statement)
    try:
        return Receipt(**{name: said[name] for name in Receipt._fields if name in said})
    except TypeError as error:
        raise BadSignature(f"It is signed, but no receipt: {error}") from error
