"""What holds at every table, whoever comes, goes, plays or sleeps: seeded random sessions, checked at every version."""

import json
import random

import msgspec
import pytest

from engine.errors import CODES, RuleViolation
from engine.games.voleny import VOLENY
from engine.games.voleny.rules import Rules
from engine.shuffle import deck_from_key
from engine.table import INITIAL, Expire, Leave, Move, OpenTable, Ready, Sit, StartDeal, at_rest, due, fold, step
from engine.table.events import ChipsBrought, ChipsReturned
from engine.table.view import private_deal
from schemas.games.voleny import dump_private, dump_public
from schemas.table import dump_events, dump_table, load_events, load_table, shown_events, view_fragments, who
from tests.cast import CAST
from tests.table.house import NOON

COMMANDS = 240
OPTIONS = (
    {},
    {"bots": (1,), "deals": 2},
    {"turn_seconds": 5, "auto_ready": True},
    {"private": True, "code": "krk", "deals": 1, "bots": (0, 2), "bot_policy": "random"},
    {"stake": "bankroll", "buy_in": 30, "rules": Rules(cap=8), "deals": 3},
    {"stake": "bankroll", "buy_in": 20, "rules": Rules(cap=10), "bots": (0,), "turn_seconds": 3, "auto_ready": True},
)


class Session:
    """A table, the bytes of its history, and a hand that plays with it at random."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.now = NOON
        self.table = INITIAL
        self.history = []
        self.chips = 0
        self.refusals = set()
        options = {"rules": Rules()} | OPTIONS[seed % len(OPTIONS)]
        self.send(OpenTable(now=NOON, creator=CAST[3].id, game="voleny", **options))

    def send(self, command):
        before = self.table
        try:
            events, after = step(before, command)
        except RuleViolation as refusal:
            self.refusals.add(refusal.code)
            return
        assert events, "an applied command has happened"
        assert after == fold(before, events)
        self.history.append(dump_events(events))
        self.chips += sum(event.chips for event in events if isinstance(event, ChipsBrought))
        self.chips -= sum(event.chips for event in events if isinstance(event, ChipsReturned))
        self.table = after

    def anything(self):
        """A command that somebody might send now: mostly a sensible one."""
        self.now += self.dice.choice((0, 20, 900, 4000))
        player = self.dice.choice(CAST)
        roll = self.dice.random()
        if roll < 0.72:
            return self._next(player)
        if roll < 0.8:
            code = self.dice.choice(("krk", "krk", "hop"))
            seat = self.dice.choice((None, None, 0, 1, 2))
            return Sit(
                now=self.now, player=player.id, name=player.name, seat=seat, code=code, transfer=f"t{len(self.history)}"
            )
        if roll < 0.9:
            return Ready(now=self.now, player=player.id)
        if roll < 0.93:
            return Leave(now=self.now, player=player.id)
        return self._clock(self.dice.choice((0, 0, 1)))

    def _next(self, player):
        """What the table waits for: a legal move, a deal, or somebody to be ready."""
        if moves := VOLENY.legal(self.table.state):
            move = self.dice.choice((*moves, VOLENY.modest(self.table.state)))
            return Move(now=self.now, seat=move.seat, move=move)
        return self._clock(0) if due(self.table) else Ready(now=self.now, player=player.id)

    def _clock(self, late):
        """The internal command that is due, sometimes for a version that has passed."""
        waits = due(self.table)
        if waits is not None and waits.kind == "expire":
            self.now = max(self.now, waits.at - self.dice.choice((0, 0, 1)))
            return Expire(now=self.now, version_seen=0, version=late)
        return StartDeal(
            now=self.now,
            version_seen=0,
            version=late,
            first_dealer=self.dice.randrange(3),
            deck=deck_from_key(self.dice.randbytes(16)),
            sealed_key="sealed-key",
            transfer=f"house{len(self.history)}",
        )


def check(session):
    table = session.table
    assert session.refusals <= CODES
    held, bank, score = table.session.seats, table.session.bank, table.session.score
    players = [occupant.player for occupant in held if occupant and occupant.player]
    assert len(set(players)) == len(players)
    assert sum(score) == 0
    assert sum(bank) == session.chips
    if table.session.opened.stake == "bankroll":
        assert min(bank) >= 0, "nobody loses more than lies before him"
    if table.session.stage == "deal":
        assert None not in held
        assert VOLENY.to_act(table.state)
    elif table.session.stage == "lobby":
        assert not any(occupant and occupant.away for occupant in held)
    if at_rest(table):
        assert load_table(dump_table(table)) == table


def plainly(table, fragments):
    """How the view begins, put together without what makes it quick; the private parts are compared here."""
    stage = table.session.stage
    for seat, private in enumerate(fragments.private):
        known = {"trump_card": None} | dump_private(VOLENY.private(private_deal(table), seat))
        assert {"trump_card": None} | json.loads(b"{%b}" % private) == json.loads(msgspec.json.encode(known))
    members = dump_public(VOLENY.public(table.state))
    if stage != "deal":
        members["phase"] = stage
    members["declared"] = members.pop("game")
    for name in ("declared", "proti", "open", "said", "result"):
        if not members[name]:
            del members[name]
    told = members | {"deal": table.session.deal, "bank": table.session.bank}
    version = json.loads(b"{%b}" % fragments.brief)["version"]
    return b'"version":%d,%b,"deadline":' % (version, msgspec.json.encode(told)[1:-1])


def check_views(session):
    table = session.table
    fragments = view_fragments(table, len(session.history))
    acting = VOLENY.to_act(table.state) if table.session.stage == "deal" else ()
    assert fragments.brief.startswith(plainly(table, fragments))
    for seat, private in enumerate(fragments.private):
        view = json.loads(b"{%b,%b}" % (fragments.public, private))
        assert view["version"] == len(session.history)
        assert bool(view["legal"]) == (seat in acting)
        assert view["to_act"] == list(acting)
    assert who(table).count("|") == 2
    shown = shown_events(load_events(session.history[-1]))
    for told in (shown.public, *filter(None, shown.by_seat), fragments.public):
        assert b"sealed" not in told
        assert b"krk" not in told
        assert b"transfer" not in told


@pytest.mark.parametrize("seed", range(12))
def test_random_sessions(seed):
    session = Session(seed)
    for _ in range(COMMANDS):
        session.send(session.anything())
        check(session)
        check_views(session)
    replayed = INITIAL
    for entry in session.history:
        replayed = fold(replayed, load_events(entry))
    assert replayed == session.table


def test_random_sessions_come_everywhere():
    """Without this the test above could pass by never getting anywhere."""
    sessions = [Session(seed) for seed in range(12)]
    for session in sessions:
        for _ in range(COMMANDS):
            session.send(session.anything())
    written = b"".join(entry for session in sessions for entry in session.history)
    for kind in (
        "sat_down", "seat_left", "seat_freed", "chips_brought", "chips_returned", "deal_started", "deal_ended",
        "deadline_set", "turn_expired", "round_extended", "table_finished", "became_ready",
    ):  # fmt: skip
        assert b'"%b"' % kind.encode() in written, kind
    refused = set().union(*(session.refusals for session in sessions))
    assert refused >= {"stale", "not_due", "turn_expired", "table_full", "already_ready", "deal_running", "code_wrong"}
