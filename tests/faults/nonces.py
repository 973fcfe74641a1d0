"""The nonces of one player: drawn afresh for each deal, committed to, and revealed when they are awaited."""

from collections.abc import Mapping
from random import Random
from typing import Any

from engine.fairness.commitments import commitment_to


class Nonces:
    """Keeps each nonce by its commitment until the table asks for it."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._kept: dict[str, str] = {}
        self._last = "00" * 32

    def commit(self) -> str:
        """The commitment to a new nonce."""
        nonce = self._chance.randbytes(32)
        commitment = commitment_to(nonce).hex()
        self._kept[commitment] = nonce.hex()
        return commitment

    def reveal(self, view: Mapping[str, Any]) -> dict[str, Any] | None:
        """What to say when `view` waits for the nonce of its seat, else None. It commits to the one after, too."""
        fairness, seat = view.get("fairness", {}), view["seat"]
        if seat is None or seat not in fairness.get("awaiting", ()):
            return None
        self._last = self._kept[fairness["commitments"][seat]]
        return {"type": "reveal", "nonce": self._last, "next_commitment": self.commit()}

    def again(self) -> dict[str, Any]:
        """The last one once more, under another key: it is not awaited any longer."""
        return {"type": "reveal", "nonce": self._last}
