"""The players of `marias demo`: each a client of his own, who gives numbers to the shuffle and thinks as bots do."""

import random
import secrets
from contextlib import suppress
from typing import Any

from engine.bots import POLICIES
from engine.fairness.commitments import commitment_to
from services.cli.caller import Caller, Refused, Unreachable

NONCE_BYTES = 32


class Player:
    """A guest called `name` at the server `url`, who chooses by one of POLICIES. Raises Refused and Unreachable."""

    def __init__(self, url: str, name: str, policy: str) -> None:
        self._caller = Caller(url)
        self._caller.token = self._caller.post("/v1/players", {"name": name})["token"]
        self._choose = POLICIES[policy]
        self._chance = random.Random()
        self._nonces: dict[str, str] = {}
        self._table = ""

    def open(self, options: dict[str, Any]) -> str:
        """A new table."""
        return str(self._caller.post("/v1/tables", options)["table"])

    def sit(self, table: str, seat: int) -> None:
        """Take a seat."""
        self._table = table
        self._caller.command(table, {"type": "sit", "seat": seat})

    def begin(self) -> None:
        """Be ready for the first deal; `auto_ready` does it for the others."""
        self._caller.command(self._table, {"type": "ready", "nonce_commitment": self._commit()})

    def go_on(self) -> None:
        """Do what the table waits for, if it still does."""
        view = self._caller.get(f"/v1/tables/{self._table}")
        fairness, seat = view.get("fairness", {}), view["seat"]
        if seat in fairness.get("awaiting", ()):
            nonce = self._nonces[fairness["commitments"][seat]]
            self._caller.command(
                self._table, {"type": "reveal", "nonce": nonce, "next_commitment": self._commit()}
            )
        elif view["legal"]:
            self._caller.command(self._table, self._choose(view, view["legal"], self._chance))

    def leave(self) -> None:
        """Stand up, if anybody still hears it."""
        with suppress(Refused, Unreachable):
            self._caller.command(self._table, {"type": "leave"}, wait_seconds=1)

    def proof(self, deal: int) -> Any:
        """The proof of a deal, as he is given it."""
        return self._caller.get(f"/v1/tables/{self._table}/deals/{deal}/proof")

    def _commit(self) -> str:
        nonce = secrets.token_bytes(NONCE_BYTES)
        commitment = commitment_to(nonce).hex()
        self._nonces[commitment] = nonce.hex()
        return commitment
