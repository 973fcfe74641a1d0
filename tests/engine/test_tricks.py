"""Rules §7.7 and §7.9: who takes a trick, who leads the next, and when a deal ends."""

import pytest

from engine.games.voleny.events import CardPlayed, TrickTaken
from engine.notation import CARD, parse
from engine.tricks import NO_TRUMP, trick_of
from tests.engine.deals import in_play
from tests.engine.endings import settled
from tests.engine.words import ANA, BARA, CYRIL, play, trick

BELLS = 1


@pytest.mark.parametrize(("cards", "trump", "taken_by"), [
    pytest.param("7h 9h Jh", BELLS, "Jh", id="the highest card of the suit led"),
    pytest.param("7h 9h 8h", BELLS, "9h", id="wherever it lies"),
    pytest.param("7h As Ac", BELLS, "7h", id="a card of another suit never"),
    pytest.param("Kh Th 9h", BELLS, "Th", id="the ten beats the king"),
    pytest.param("Ah 7d Th", BELLS, "7d", id="the lowest trump beats the ace"),
    pytest.param("Ah 7d 8d", BELLS, "8d", id="the highest trump"),
    pytest.param("7d 9d Ah", BELLS, "9d", id="also when trumps were led"),
    pytest.param("Kh Th 9h", NO_TRUMP, "Kh", id="without trumps the king beats the ten"),
    pytest.param("7h Ad As", NO_TRUMP, "7h", id="and no suit beats another"),
])
def test_who_takes_the_trick(cards, trump, taken_by):
    """§7.7."""
    played = parse(cards)
    assert played[trick_of(trump, played).top] == CARD[taken_by]


def test_who_takes_the_trick_leads_the_next():
    """§7.7: the last card of a trick settles it."""
    deal = in_play("hra", "9d Jh Qh", "Kh Th", "Ah", talon="8c 9c").when(*trick(BARA, "Jh Kh Ah"))
    deal.then(CardPlayed(seat=ANA, card=CARD["Ah"]), TrickTaken(seat=ANA)).then_asks(ANA)
    assert deal.public().tricks_taken == (1, 0, 0)


def test_a_betl_ends_at_the_declarers_first_trick():
    """§7.9, §5.5."""
    deal = in_play("betl", "9d Ac Kc Jc Qc", "Tc", "8c", talon="7h 8h").when(*trick(BARA, "Ac Tc")).then_asks(ANA)
    result = deal.when(play(ANA, "8c")).then_asks().result()
    assert (result.parts[0].won, result.played, result.payments) == (False, True, (5, -10, 5))


def test_a_betl_goes_on_while_others_take():
    """§7.9."""
    deal = in_play("betl", "9d 7c", "Qc", "8c", talon="Kc Ac")
    deal.when(*trick(BARA, "7c Qc 8c")).then_asks(CYRIL)


def test_a_durch_ends_at_the_first_lost_trick():
    """§7.9, §5.5."""
    deal = in_play("durch", "9d 7c", "Qc", "8c", talon="Kc Ac").when(*trick(BARA, "7c Qc 8c"))
    result = deal.then_asks().result()
    assert (result.parts[0].won, result.played, result.payments) == (False, True, (10, -20, 10))


def test_a_durch_goes_on_while_the_declarer_takes():
    """§7.9."""
    deal = in_play("durch", "9d Ac", "Qc", "8c", talon="7h 8h")
    deal.when(*trick(BARA, "Ac Qc 8c")).then_asks(BARA)


def test_a_trump_game_is_played_to_the_end():
    """§7.9, §5.2: however sure its end is."""
    ace_high = "Ah Th Kh Qh Jh 9h 8h Ac Tc Kc"
    deal = in_play("hra", ace_high, talon="8c 9c")
    tricks = 0
    while not deal.game.result(deal.state):
        deal = deal.when(deal.game.legal(deal.state)[0])
        tricks += any(isinstance(event, TrickTaken) for event in deal.events)
    assert tricks == 10


def test_after_the_deal_nothing_may_be_done():
    """§7.9."""
    deal = in_play("durch", "9d 7c", "Qc", "8c", talon="Kc Ac").when(*trick(BARA, "7c Qc 8c"))
    deal.then_may()
    for seat in (ANA, BARA, CYRIL):
        deal.when(play(seat, "9d")).then_refused("deal_over")


def test_the_last_trick_settles_the_deal():
    """§7.9, §7.7."""
    assert settled(last="8s 9s Ts", points=10).played
