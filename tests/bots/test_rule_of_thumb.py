"""The rules of thumb: what a sensible beginner does with these cards. Seat 0 is the bot."""

import random

import pytest

from engine.bots import POLICIES
from engine.bots.alone import betl_danger, durch_is_sure
from engine.bots.bidding import BETL_DANGER_MAX, TAKE_OVER_DANGER_MAX
from engine.cards import SUITS
from engine.notation import CODES, parse

EMPTY = {
    "seat": 0, "dealer": 2, "declarer": 0, "trump": None, "contract": [], "levels": {}, "trick": [], "phase": "play",
}  # fmt: skip
AGAINST_ONE = {"declarer": 1, "dealer": 0}


def choose(hand, legal, **view):
    """The move that the bot chooses, of `legal`, with `hand`."""
    shown = EMPTY | {"hand": hand.split(), "legal": legal} | view
    return POLICIES["rule"](shown, legal, random.Random(0))


def played(hand, may="", trick="", **view):
    """The card it plays; `trick` are the cards on the table: `1: Kd Jd`, the first one played by seat 1."""
    leader, _, cards = trick.partition(":")
    on_table = [{"seat": (int(leader) + place) % 3, "card": card} for place, card in enumerate(cards.split())]
    legal = [{"type": "play", "card": card} for card in (may or hand).split()]
    return choose(hand, legal, trick=on_table, **view)["card"]


def trump_choices(hand):
    shown = [{"type": "choose_trump", "card": card} for card in hand.split()]
    return shown + [{"type": "choose_trump", "blind": place} for place in range(5)]


@pytest.mark.parametrize(
    ("hand", "card"),
    [
        pytest.param("7h 8h 9h Jh Ad Tc As", "7h", id="the longest suit, by its lowest card"),
        pytest.param("Ah Th Kh 7d 8d 9d Js", "Kh", id="or the one with the high cards"),
        pytest.param("Kh Qh 9h 7d 8d 9d Js", "9h", id="or the one with the marriage"),
        pytest.param("7h 8d 9c 7s Jd Jh Jc", "9c", id="a card that is seen, however weak"),
    ],
)
def test_trumps(hand, card):
    assert choose(hand, trump_choices(hand), phase="choose_trump") == {"type": "choose_trump", "card": card}


def discards(hand, kept=""):
    cards = [card for card in parse(hand) if CODES[card] != kept]
    return [
        {"type": "discard", "cards": [CODES[one], CODES[other]]}
        for place, one in enumerate(cards)
        for other in cards[place + 1 :]
    ]


@pytest.mark.parametrize(
    ("hand", "talon"),
    [
        pytest.param("7h Jh Kh Ah 9d Jd Ac Tc 9c Ks Qs As", "9d Jd", id="a suit without a future becomes a void"),
        pytest.param("7h 8h 9h Ah Ad Td 7c 8c Kc Ts 8s As", "7c 8c", id="aces and tens are kept"),
        pytest.param("7h 8h 9h Jh Qd Kd Ac Tc 7s Qs Ks 9s", "7s 9s", id="marriages are kept"),
    ],
)
def test_the_first_discard(hand, talon):
    chosen = choose(hand, discards(hand, hand[:2]), trump_card=hand[:2], phase="discard")
    assert chosen["cards"] == talon.split()


def test_a_betl_is_made_by_discarding_what_endangers_it():
    hand = "7h 8h 9h Th 7d 8d 9d Ac 7c 8c 7s Ks"
    assert choose(hand, discards(hand, "7h"), trump_card="7h", phase="discard")["cards"] == ["Ac", "Ks"]


def test_after_a_take_over_there_are_no_trumps_to_keep():
    hand = "7h 8h 9h Ah 7d 8d 9d Td 7c 8c 7s As"
    assert choose(hand, discards(hand), phase="discard")["cards"] == ["Ah", "As"]


COLOUR, BETL, DURCH = ({"type": "declare", "game": game} for game in ("colour", "betl", "durch"))


@pytest.mark.parametrize(
    ("hand", "legal", "game"),
    [
        pytest.param("7h 8h 9h Th 7d 8d 9d 7c 8c 7s", [COLOUR, BETL, DURCH], BETL, id="betl when all is low"),
        pytest.param("7h 8h 9h Th Ad 8d 9d Kc 8c 7s", [COLOUR, BETL, DURCH], COLOUR, id="else colour"),
        pytest.param("Ah Kh Qh Jh Ad Kd Qd Ac Kc As", [COLOUR, BETL, DURCH], DURCH, id="durch when it is sure"),
        pytest.param("7h 8h 9h Th Ad 8d 9d 7c 8c 7s", [BETL, DURCH], BETL, id="where colour is closed, betl"),
        pytest.param("Ah Kh Qh Jh Ad Kd Qd Ac Kc Ks", [BETL, DURCH], DURCH, id="or durch if it loses less"),
    ],
)
def test_the_game(hand, legal, game):
    assert choose(hand, legal, phase="declare") == game


GOOD, TAKE_OVER = {"type": "good"}, {"type": "take_over"}


@pytest.mark.parametrize(
    ("hand", "contract", "answer"),
    [
        pytest.param("Ah Kh Qs Js Ad 8d 7c Tc Kc 9s", [], GOOD, id="good, mostly"),
        pytest.param("7h 8h 9h Th 7d 8d 9d 7c 8c 7s", [], TAKE_OVER, id="a safe betl takes the colour over"),
        pytest.param("7h 8h 9h Th 7d 8d Qd 7c 8c Qs", [], GOOD, id="a fair one does not"),
        pytest.param("7h 8h 9h Th 7d 8d 9d 7c 8c 7s", ["betl"], GOOD, id="betl does not take betl over"),
        pytest.param("Ah Kh Qh Jh Ad Kd Qd Ac Kc As", ["betl"], TAKE_OVER, id="a sure durch does"),
    ],
)
def test_answers(hand, contract, answer):
    assert choose(hand, [GOOD, TAKE_OVER], phase="answer", contract=contract, **AGAINST_ONE) == answer


def announcements(*contracts):
    return [{"type": "announce", "contract": contract.split()} for contract in contracts]


ALL = announcements("hra", "hra sedma", "sto", "sto sedma")


@pytest.mark.parametrize(
    ("hand", "legal", "contract"),
    [
        pytest.param("8h Jh Kh Ad Td 9c Jc 7s 8s 9s", announcements("hra"), "hra", id="hra is always there"),
        pytest.param("7h 9h Jh Ad Td 9c Jc 7s 8s 9s", ALL[:2], "hra", id="a seven among few trumps will not be last"),
        pytest.param("7h 8h 9h Jh Ah Ad 9c Jc 7s 9s", ALL[:2], "hra sedma", id="among five it may be"),
        pytest.param("9h Qh Kh Ah Th Ad Td 9c 7s 8s", ALL[::2], "sto", id="sto with forty and the aces and tens"),
        pytest.param("9h Qh Kh Jh 8h 9d 7d 9c 7s 8s", ALL[::2], "hra", id="not with forty alone"),
        pytest.param("7h Qh Kh Ah Th Ad Td 9c 7s 8s", ALL, "sto sedma", id="and both"),
    ],
)
def test_contracts(hand, legal, contract):
    assert choose(hand, legal, trump="h", phase="announce")["contract"] == contract.split()


def fleks(*raises):
    return [GOOD, *({"type": "flek", "raise": parts.split(), "announce": []} for parts in raises)]


@pytest.mark.parametrize(
    ("hand", "view", "raised"),
    [
        pytest.param("7h 8c 9c Jc Qd 9d 8s 9s Js Jd", AGAINST_ONE, None, id="good, with a hand that wins nothing"),
        pytest.param("Ah Kh Qh 9h Ad Td 9c 8s 9s As", AGAINST_ONE, "hra", id="flek with trumps and aces"),
        pytest.param("Ah Kh Qh 9h Ad Td 9c 8s 9s As", AGAINST_ONE | {"said": ["hra"]}, None, id="not a second time"),
        pytest.param("Ah Kh Qh 9h Ad Td 9c 8s 9s As", AGAINST_ONE | {"levels": {"hra": 2}}, None, id="nor beyond re"),
        pytest.param("Ah Jh 9h Ad 9d 8d 9c 8s 9s As", {"levels": {"hra": 1}}, None, id="re needs more than that"),
        pytest.param("Ah Th Kh Qh 9h 8h Ad As Ts Ac", {"levels": {"hra": 1}}, "hra", id="a game that cannot fail"),
    ],
)
def test_doubling(hand, view, raised):
    chosen = choose(hand, fleks("hra"), **{"phase": "doubling", "trump": "h", "levels": {"hra": 0}, **view})
    assert chosen.get("raise") == (None if raised is None else [raised])


def test_four_trumps_double_a_sedma_but_not_the_game():
    view = {"phase": "doubling", "trump": "h", "levels": {"hra": 0, "sedma": 0}, **AGAINST_ONE}
    chosen = choose("8h 9h Jh Qh 9d 8d 9c 8s 9s Js", fleks("hra", "sedma", "hra sedma"), **view)
    assert chosen["raise"] == ["sedma"]


HEARTS = {"trump": "h", "contract": ["hra"]}
DEFENDS = HEARTS | {"declarer": 1}


@pytest.mark.parametrize(
    ("hand", "view", "card"),
    [
        pytest.param("Ah Jh 9h 8d 7c", HEARTS, "Ah", id="the declarer draws trumps with the ace"),
        pytest.param("Jh 9h 8h Ad 7c 8c", HEARTS, "Ad", id="without it he leads an ace"),
        pytest.param("Ah 9h Ad Kd 7c As", DEFENDS, "As", id="a defender leads the ace of his shortest suit"),
        pytest.param("Td Kd 9d Ts Qs Jh", DEFENDS, "9d", id="without aces something cheap, never a ten"),
    ],
)
def test_leads(hand, view, card):
    assert played(hand, **view) == card


@pytest.mark.parametrize(
    ("hand", "may", "trick", "view", "card"),
    [
        pytest.param("Td 9d 7c", "Td 9d", "1: 8d Ad", DEFENDS, "Td", id="a ten is fed to a partner's ace"),
        pytest.param("Td 9d 7c", "Td 9d", "1: Ad 8d", DEFENDS, "9d", id="not to the declarer's"),
        pytest.param("Td Ad 7c", "Td Ad", "1: 8d Kd", HEARTS, "Td", id="a trick is taken with the ten if that will do"),
        pytest.param("7h Ah 8c", "7h Ah", "1: Kd Jd", HEARTS, "7h", id="and trumped cheaply"),
        pytest.param("Ts 9s 8c Kc", "Ts 9s 8c Kc", "1: Kd Jd", HEARTS, "8c", id="what cannot win is cheap"),
    ],
)
def test_following(hand, may, trick, view, card):
    assert played(hand, may, trick, **view) == card


def test_marriages_are_announced_where_a_word_is_asked_for():
    legal = [{"type": "play", "card": "Kd", "marriage": word} for word in (False, True)]
    assert choose("Kd Qd", legal, **HEARTS) == legal[1]


BETL_ALONE = {"contract": ["betl"]}
BETL_AGAINST = {"contract": ["betl"], "declarer": 1}


@pytest.mark.parametrize(
    ("hand", "may", "trick", "view", "card"),
    [
        pytest.param("7h 8h Jd 7c", "", "", BETL_ALONE, "Jd", id="alone in betl one leads what is in danger"),
        pytest.param("7h Jd Kc", "7h Jd Kc", "2: 9s", BETL_ALONE, "Kc", id="and throws it away when void"),
        pytest.param("9d Kd 7c", "9d Kd", "2: 8d", BETL_ALONE, "9d", id="beating as low as possible"),
        pytest.param("7d 9d 7c", "7d 9d", "2: Td", BETL_ALONE, "9d", id="staying under as high as possible"),
        pytest.param("7d Kd Ac", "", "", BETL_AGAINST, "7d", id="against him one leads low"),
        pytest.param("7d Kd Ac", "7d Kd", "1: 9d Ad", BETL_AGAINST, "Kd", id="and keeps the low cards"),
    ],
)
def test_betl(hand, may, trick, view, card):
    assert played(hand, may, trick, **view) == card


@pytest.mark.parametrize(
    ("hand", "may", "trick", "view", "card"),
    [
        pytest.param("Ah Kh Ad", "", "", {"contract": ["durch"]}, "Ah", id="alone in durch from the top"),
        pytest.param("9h Kc", "9h Kc", "1: As", {"contract": ["durch"], "declarer": 1}, "9h", id="keep the high"),
    ],
)
def test_durch(hand, may, trick, view, card):
    assert played(hand, may, trick, **view) == card


@pytest.mark.parametrize(
    ("hand", "sure"),
    [
        ("Ah Kh Qh Jh Ad Kd Qd Ac Kc As", True),
        ("Ah Kh Qh Jh Th 9h 8h 7h Ad As", True),
        ("Ah Kh Qh Jh 7h Ad Kd Ac Kc As", True),
        ("Ah Kh Qh 7h Ad Kd Qd Ac Kc As", False),
        ("Ah Kh Qh Jh Ad Kd Qd Ac Kc Ks", False),
    ],
)
def test_a_durch_that_nobody_can_stop(hand, sure):
    assert durch_is_sure(tuple(sorted(parse(hand)))) is sure


@pytest.mark.parametrize(
    ("safer", "riskier"),
    [
        pytest.param("7h 8h 7d 8d 9d 7c 8c 9c 7s 8s", "7h 8h 7d 8d 9d 7c 8c 9c 7s Js", id="a hole is a danger"),
        pytest.param("7h 8h 7d 8d 9d 7c 8c 9c Ts Js", "7h 8h 7d 8d 9d 7c 8c 9c Ks As", id="the higher the worse"),
        pytest.param("7h 8h 7d 8d 9d 7c 8c 9c 7s Ks", "7h 8h 7d 8d Kd 7c 8c 9c 7s Ks", id="two are worse than one"),
    ],
)
def test_dangers_of_betl(safer, riskier):
    assert betl_danger(parse(safer)) < betl_danger(parse(riskier))


def test_a_perfect_betl_has_no_danger_and_others_may_be_judged_by_it():
    assert betl_danger(parse("7h 8h 9h 7d 8d 9d 7c 8c 9c 7s")) == 0
    assert 0 < BETL_DANGER_MAX < TAKE_OVER_DANGER_MAX
    assert len(SUITS) == 4
