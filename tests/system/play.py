"""Playing a table over HTTP with moves picked at random from `legal`."""

import random
import time
from collections.abc import Callable
from threading import Thread

from tests.system.client import Client, Refused

HARMLESS = {"already_ready", "table_closed", "deal_running"}


def play_seat(
    client: Client, table: str, rng: random.Random, until: Callable[[], bool], failures: list[str]
) -> None:
    """Be ready for and play every deal until the table is over or `until` says so."""
    seen = -1
    while not until():
        view = client.view(table)
        if view["phase"] == "over":
            return
        if view["version"] == seen:
            time.sleep(0.005)
            continue
        try:
            if view["phase"] == "lobby" and not view["ready"][view["seat"]]:
                client.command(table, {"type": "ready"})
            elif view["legal"]:
                client.command(table, rng.choice(view["legal"]))
            else:
                seen = view["version"]
        except Refused as refusal:
            if refusal.code not in HARMLESS:
                failures.append(f"seat {view['seat']} at version {view['version']}: {refusal}")
                return


def play_all(clients: list[Client], table: str, until: Callable[[], bool], seed: int = 1) -> list[str]:
    """Every client plays its seat in a thread of its own; what went wrong, one line each."""
    failures: list[str] = []

    def play(seat: int) -> None:
        try:
            play_seat(clients[seat], table, random.Random(10 * seed + seat), until, failures)
        except Exception as error:
            failures.append(f"seat {seat}: {error!r}")

    threads = [Thread(target=play, args=(seat,)) for seat in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def play_session(clients: list[Client], table: str, *, seconds: float = 900) -> list[str]:
    """Play until the table is over."""
    end = time.monotonic() + seconds
    failures = play_all(clients, table, lambda: time.monotonic() > end)
    if time.monotonic() > end:
        failures.append(f"not over after {seconds} s")
    return failures
