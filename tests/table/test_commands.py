"""Bodies of table commands: who may send what, and what is refused before any rule is asked."""

import pytest

from engine.errors import RuleViolation
from engine.games.voleny.commands import ChooseTrump
from engine.games.voleny.rules import HOSPODA, Rates, Rules
from engine.table import INITIAL, Expire, Leave, Move, OpenTable, Ready, Sit, StartDeal
from schemas.errors import Malformed
from schemas.table import Draw, Sender, load_command
from tests.cast import ANA, BARA, DANA
from tests.table.house import DECK, NOON, after, dealt, full, leave, opened

ANA_LEFT = after(dealt(), leave(ANA))
OPEN = {"type": "open", "game": "voleny"}
ALL_OPTIONS = OPEN | {
    "rules": {"preset": "csm", "cap": 9},
    "deals": 9,
    "bots": [1, 2],
    "bot_policy": "random",
    "auto_ready": True,
    "turn_seconds": 30,
    "private": True,
    "code": "krk",
    "stake": "bankroll",
    "buy_in": 18,
}
BLIND = {"type": "choose_trump", "blind": 3}


def load(table, actor, body):
    sender = Sender(actor=actor, name="Ana", now=NOON, version=7, transfer="t-1")
    return load_command(table, sender, body, lambda: Draw(first_dealer=1, deck=DECK, sealed_key="sealed"))


@pytest.mark.parametrize(
    ("body", "command"),
    [
        pytest.param(
            OPEN,
            OpenTable(now=NOON, creator=ANA.id, game="voleny", rules=HOSPODA),
            id="opening with the defaults of the contract",
        ),
        pytest.param(
            ALL_OPTIONS,
            OpenTable(
                now=NOON,
                creator=ANA.id,
                game="voleny",
                rules=Rules(cap=9, rates=Rates(betl=15, durch=30)),
                deals=9,
                bots=(1, 2),
                bot_policy="random",
                auto_ready=True,
                turn_seconds=30,
                private=True,
                code="krk",
                stake="bankroll",
                buy_in=18,
            ),
            id="opening with all options",
        ),
        pytest.param(
            {"type": "sit", "seat": 2, "code": "x"},
            Sit(now=NOON, player=ANA.id, name=ANA.name, seat=2, code="x", transfer="t-1"),
            id="sitting down, under the name of the login",
        ),
        pytest.param(
            {"type": "sit"}, Sit(now=NOON, player=ANA.id, name=ANA.name, transfer="t-1"), id="sitting down anywhere"
        ),
        pytest.param({"type": "ready"}, Ready(now=NOON, player=ANA.id), id="being ready"),
        pytest.param({"type": "leave"}, Leave(now=NOON, player=ANA.id), id="leaving"),
    ],
)
def test_what_players_ask_of_a_table(body, command):
    assert load(opened(), ANA.id, body) == command


@pytest.mark.parametrize(
    ("body", "command"),
    [
        pytest.param(
            {"type": "deal", "version_seen": 6},
            StartDeal(
                now=NOON, version_seen=6, version=7, first_dealer=1, deck=DECK, sealed_key="sealed", transfer="t-1"
            ),
            id="a deal, with the deck that was drawn",
        ),
        pytest.param(
            {"type": "expire", "version_seen": 6}, Expire(now=NOON, version_seen=6, version=7), id="the end of a turn"
        ),
    ],
)
def test_what_the_clock_asks_of_a_table(body, command):
    assert load(full(), "clock", body) == command


def test_nothing_is_drawn_for_other_commands():
    sender = Sender(actor=ANA.id, name="Ana", now=NOON, version=7, transfer="t-1")
    assert load_command(opened(), sender, {"type": "ready"}, pytest.fail)


@pytest.mark.parametrize(
    ("table", "actor"),
    [
        pytest.param(dealt(), ANA.id, id="of the player who sits there"),
        pytest.param(ANA_LEFT, "bot:0", id="of the bot that plays for who left"),
    ],
)
def test_a_move_is_of_the_seat_of_its_sender(table, actor):
    assert load(table, actor, BLIND) == Move(now=NOON, seat=0, move=ChooseTrump(seat=0, blind=3))


@pytest.mark.parametrize(
    ("table", "actor", "body", "code"),
    [
        pytest.param(dealt(), DANA.id, BLIND, "not_seated", id="a spectator has no moves"),
        pytest.param(ANA_LEFT, ANA.id, BLIND, "not_seated", id="nor has who left"),
        pytest.param(dealt(), "bot:0", BLIND, "not_seated", id="a bot does not play for who is there"),
        pytest.param(INITIAL, ANA.id, BLIND, "not_found", id="there are no moves without a table"),
        pytest.param(full(), BARA.id, {"type": "deal", "version_seen": 7}, "forbidden", id="players do not deal"),
        pytest.param(dealt(), BARA.id, {"type": "expire", "version_seen": 7}, "forbidden", id="nor end a turn"),
        pytest.param(opened(), "clock", {"type": "sit"}, "forbidden", id="the clock has no seat"),
        pytest.param(ANA_LEFT, "bot:0", {"type": "leave"}, "forbidden", id="a bot does not leave"),
    ],
)
def test_what_is_not_the_senders_to_ask(table, actor, body, code):
    with pytest.raises(RuleViolation) as refusal:
        load(table, actor, body)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "dance"},
        {"type": ["sit"]},
        {"type": "choose_trump", "blind": "3"},
        {"type": "choose_trump", "blind": 3, "seat": 0},
        {"type": "sit", "seat": 3},
        {"type": "sit", "seat": True},
        {"type": "sit", "seat": 1.0},
        {"type": "sit", "player": BARA.id},
        {"type": "sit", "transfer": "mine"},
        {"type": "ready", "seat": 0},
        {"type": "open", "game": "whist"},
        {"type": "open"},
        OPEN | {"bots": [3]},
        OPEN | {"bots": 1},
        OPEN | {"rules": {"preset": "vegas"}},
        OPEN | {"rules": {"cap": "9"}},
        OPEN | {"deals": "9"},
        OPEN | {"auto_ready": 1},
        OPEN | {"stake": "gold"},
        OPEN | {"bot_policy": "clairvoyant"},
    ],
    ids=str,
)
def test_malformed(body):
    with pytest.raises(Malformed):
        load(dealt(), ANA.id, body)
