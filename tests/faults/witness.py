"""Somebody outside who keeps what the system has told: heads of the log of finished deals, and proofs of deals."""

import http.client
import json
import threading
from collections.abc import Sequence
from random import Random
from typing import Any

from engine import merkle
from services.store import chain
from services.transparency.heads import Head
from tests.faults.fair import ToldProof
from tests.faults.flights import Couriers, Http
from tests.faults.logged import ToldHead

PAUSE_SECONDS = 1.0
NOT_NOW = (404, 429, 503)
"""No deal has ended yet, or whoever answers is away."""

Asker = tuple[str, str]
"""A table and the token of somebody who plays there."""


class Witness(threading.Thread):
    """Asks for a signed head, for the proof that the log has only grown since the one before, and for the proof of some
    finished deal; again and again until `over`."""

    def __init__(self, couriers: Couriers, askers: Sequence[Asker], chance: Random, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self.heads: list[ToldHead] = []
        self.proofs: list[ToldProof] = []
        self.failures: list[str] = []
        self._couriers, self._askers, self._chance, self._over = couriers, askers, chance, over
        self._calls = Http(couriers.nodes)

    def run(self) -> None:
        """Ask."""
        try:
            while not self._over.wait(PAUSE_SECONDS):
                self._turn()
        except Exception as error:
            self.failures.append(f"the witness has failed: {error!r}")
            raise
        finally:
            self._calls.close()

    def _turn(self) -> None:
        table, token = self._chance.choice(self._askers)
        text = self._get("/v1/log/head?now=true", token)
        if text is not None:
            self._head(json.loads(text), token)
        view = self._get(f"/v1/tables/{table}", token)
        if view is not None and (deal := json.loads(view)["deal"]) > 1:
            self._proof(table, self._chance.randint(1, deal - 1), token)

    def _head(self, told: dict[str, Any], token: str) -> None:
        head = Head(told["size"], told["root"], told["at"])
        if self.heads and self.heads[-1].head != head:
            first, second = sorted((self.heads[-1].head, head))
            text = self._get(f"/v1/log/consistency?first={first.size}&second={second.size}", token)
            if text is not None and not _has_grown(first, second, json.loads(text)["path"]):
                self.failures.append(f"{first} and {second} were told, and that one grew into the other is not proven")
        self.heads.append(ToldHead(head, told["signed"]))

    def _proof(self, table: str, deal: int, token: str) -> None:
        text = self._get(f"/v1/tables/{table}/deals/{deal}/proof", token)
        if text is not None and json.loads(text)["finished"]:
            self.proofs.append(ToldProof(table, deal, text))

    def _get(self, path: str, token: str) -> bytes | None:
        """The document at `path`; None: not now."""
        node = self._chance.randrange(len(self._couriers.nodes))
        try:
            status, _, text = self._calls.call(node, "GET", path, None, {"Authorization": f"Bearer {token}"})
        except (OSError, http.client.HTTPException):
            return None
        if status == 200:
            return text
        if status not in NOT_NOW:
            self.failures.append(f"{status} to GET of {path}: {text[:200]!r}")
        return None


def _has_grown(first: Head, second: Head, path: Sequence[str]) -> bool:
    nodes = [chain.digest(each) for each in path]
    roots = chain.digest(first.root), chain.digest(second.root)
    return merkle.verify_consistency(first.size, second.size, nodes, *roots)
