"""Deals played in memory, for benches of the write side: as entries to apply, and as commands to take in."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import msgspec
from redis import Redis

from engine.cards import CARDS
from engine.fairness.commitments import seed_of
from engine.shuffle import deck_from_key
from engine.table import SEATS
from engine.table.state import game_of
from schemas.moves import dump_move
from schemas.random_records import bot_move
from schemas.table import CLOCK, Draw
from services.intake import Submitted, fingerprint
from services.store import keys
from services.store.append import Entry, Position
from services.store.commands import Command
from services.store.leases import Lease
from services.store.outbox import place
from services.worker.handle import KEY_BYTES, Desk, handle
from services.worker.held import UNOPENED, Held

SEALED = "-" * 108
"""As long as a real sealed key; nobody audits these tables."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class Played(NamedTuple):
    """A table with one deal: the entries that open it and deal, and its moves, decided and as they were sent."""

    opening: list[Entry]
    moves: list[Entry]
    sent: list[Submitted]


class Chain:
    """The next entries of a partition, as its owner would write them. The deals are seeded by `chance`."""

    def __init__(self, redis: Redis, partition: str, lease: Lease, chance: Random) -> None:
        self._desk = Desk(redis, self._draw)
        self._partition = partition
        self._fence = lease.fence
        self._last = lease.cursor
        self._chance = chance

    def play(self, *, apply: bool) -> Played:
        """A fresh table at which one deal is played, every move any legal one; `apply`: its moves will be applied
        by the caller, else they will be sent, and the chain goes on after the opening."""
        table = f"t-{self._partition}-{self._chance.randbytes(6).hex()}"
        players = [f"u-{self._partition}-{self._chance.randbytes(8).hex()}" for _ in range(SEATS)]
        opening: list[Entry] = []
        held = self._step(opening, UNOPENED, Submitted(table, players[0], "Ana", "open", OPENED))
        for kind in ("sit", "ready"):
            for player in players:
                held = self._step(opening, held, Submitted(table, player, "Ana", kind, {"type": kind}))
        dealt = {"type": "deal", "version_seen": held.version}
        held = self._step(opening, held, Submitted(table, CLOCK, "", "deal", dealt))
        after_opening = self._last
        moves, sent = list[Entry](), list[Submitted]()
        game = game_of(held.table.session)
        while legal := game.legal(held.table.state):
            move, seat = self._chance.choice(legal), held.table.state.seat
            sent.append(Submitted(table, players[seat], "Ana", f"move-{len(sent)}", dump_move(move)))
            held = self._step(moves, held, sent[-1])
        if not apply:
            self._last = after_opening
        return Played(opening, moves, sent)

    def evening(self, deals: int) -> Iterator[list[Entry]]:
        """A fresh table at which the bots' policy plays so many deals for three players: its opening, then each deal.

        Every deal is committed to, as those of a worker are.
        """
        table, entries = f"t-{self._partition}-{self._chance.randbytes(6).hex()}", list[Entry]()
        players = [f"u-{self._partition}-{self._chance.randbytes(8).hex()}" for _ in range(SEATS)]
        held = self._step(entries, UNOPENED, Submitted(table, players[0], "Ana", "open", OPENED))
        for player in players:
            held = self._step(entries, held, Submitted(table, player, "Ana", "sit", {"type": "sit"}))
        self._desk = self._desk._replace(draw=self._fair_draw)
        choose, game = bot_move("voleny"), game_of(held.table.session)
        for deal in range(deals):
            for player in players:
                held = self._step(entries, held, Submitted(table, player, "Ana", f"ready-{deal}", {"type": "ready"}))
            dealt = {"type": "deal", "version_seen": held.version}
            held = self._step(entries, held, Submitted(table, CLOCK, "", f"deal-{deal}", dealt))
            while game.legal(held.table.state):
                move, key = choose(held.table.state, self._chance), f"move-{held.version}"
                player = players[game.to_act(held.table.state)[0]]
                sent = Submitted(table, player, "Ana", key, dump_move(move))
                held = self._step(entries, held, sent)
            yield entries
            entries = []

    def _fair_draw(self) -> Draw:
        key = self._chance.randbytes(KEY_BYTES)
        return Draw(self._chance.randrange(SEATS), deck_from_key(key), SEALED, seed_of(key))

    def _draw(self) -> Draw:
        return Draw(self._chance.randrange(SEATS), tuple(self._chance.sample(range(CARDS), CARDS)), SEALED)

    def _step(self, entries: list[Entry], held: Held, sent: Submitted) -> Held:
        """The table after a command that nobody refuses, its entry among `entries`."""
        milliseconds, number = place(self._last)
        id_, body = f"{milliseconds}-{number + 1}", _encode(sent.body)
        mark = fingerprint(sent, body)
        position = Position(sent.id, self._fence, self._last, id_, sent.actor, sent.key, mark)
        command = Command(id_, sent.id, sent.actor, sent.name, sent.key, mark, body, None)
        handled = handle(held, command, position, self._desk)
        assert isinstance(handled.write, Entry), f"refused: {handled.write.receipt!r}"
        assert handled.held is not None
        entries.append(handled.write)
        self._last = id_
        return handled.held


OPENED: dict[str, object] = {"type": "open", "game": "voleny", "rules": {}}


def kept_bytes(entry: Entry) -> bytes:
    """What an entry keeps in the store, in one piece."""
    shown = (entry.shown[0], *(seen for seen in entry.shown[1] if seen))
    about = (entry.about,) if entry.about_changed else ()
    return b"".join((entry.receipt, entry.events, *shown, entry.brief, *entry.private, *about, entry.snapshot))


def strangers_word(partition: str) -> Submitted:
    """A command that its owner answers although no table is there: the cursor passes it."""
    player = keys.new_player_id()
    return Submitted(f"u-{partition}-{player[5:]}", player, "Ana", player, {"type": "open_account"})
