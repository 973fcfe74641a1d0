"""Deals of the tests that are committed to: fixed deal keys, nonces of the cast, and moves to the end."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.fairness import commitments
from engine.games.voleny import VOLENY
from engine.shuffle import deck_from_key
from engine.table import Ready, Reveal, StartDeal, Step, Table, step
from engine.table.events import Event
from tests.cast import SEATED, Player
from tests.table.house import NOON, after, deal, full, play, ready

TABLE = "t-1f-0a1b2c3d4e5f"
KEY = commitments.sha256(b"the deal key of the tests").digest()

Choose = Callable[[Table], object]


def nonce_of(player: Player, number: int = 0) -> bytes:
    """A nonce of `player`, another for each number."""
    return commitments.sha256(f"{player.name} {number}".encode()).digest()


def ready_with(player: Player, nonce: bytes, *, now: int = NOON) -> Ready:
    return Ready(now=now, player=player.id, nonce_commitment=commitments.commitment_to(nonce).hex())


def reveal(player: Player, nonce: bytes, following: bytes | None = None, *, now: int = NOON) -> Reveal:
    said = commitments.commitment_to(following).hex() if following else ""
    return Reveal(now=now, player=player.id, nonce=nonce.hex(), next_commitment=said)


def fair_deal(key: bytes = KEY, *, now: int = NOON, table: str = TABLE) -> StartDeal:
    """What the clock sends, with a deal key as the worker draws one."""
    order, seed = deck_from_key(key), commitments.seed_of(key)
    return replace(deal(now=now, deck=order), seed=seed, table=table, sealed_key="sealed")


def committed(*players: Player, key: bytes = KEY, **options: object) -> Table:
    """All are ready, `players` with a nonce each, and the clock has asked for the deal."""
    table = full(**options)
    for player in SEATED:
        said = ready_with(player, nonce_of(player)) if player in players else ready(player)
        table = after(table, said)
    return after(table, fair_deal(key))


def revealed(table: Table, *players: Player) -> Table:
    """The same after these players have revealed."""
    return after(table, *(reveal(player, nonce_of(player)) for player in players))


def modest(table: Table) -> object:
    return VOLENY.modest(table.state)


def taking_over(table: Table) -> object:
    """Takes over whenever he may, and announces the least."""
    takes = [move for move in VOLENY.legal(table.state) if type(move).__name__ == "TakeOver"]
    return takes[0] if takes else VOLENY.modest(table.state)


def told(table: Table, commands: Sequence[object] = (), choose: Choose = modest) -> tuple[Table, list[Event]]:
    """The table after `commands` and then the moves that `choose` makes to the end of the deal, and all events."""
    events: list[Event] = []

    def run(command: object) -> None:
        nonlocal table
        made: Step = step(table, command)
        table = made.table
        events.extend(made.events)

    for command in commands:
        run(command)
    while table.session.stage == "deal":
        run(play(choose(table)))
    return table, events


def whole(*players: Player, key: bytes = KEY, choose: Choose = modest) -> list[Event]:
    """All events of one deal, from its commitment to its end; `players` gave nonces."""
    table = full()
    for player in SEATED:
        table = after(table, ready_with(player, nonce_of(player)) if player in players else ready(player))
    return told(table, [fair_deal(key), *(reveal(each, nonce_of(each)) for each in players)], choose)[1]
