"""Rules §7.1 to §7.5: what must be played to a trick. One row is one sentence of the rules."""

import pytest

from engine.cards import cards_of
from engine.notation import codes, parse, parse_mask
from engine.tricks import NO_TRUMP, playable, trick_of
from tests.engine.deals import in_play
from tests.engine.words import ANA, BARA, CYRIL, play, trick

BELLS = 1


def may_play(hand, trick, trump):
    return " ".join(codes(cards_of(playable(parse_mask(hand), trick_of(trump, parse(trick))))))


@pytest.mark.parametrize(("trick", "hand", "legal"), [
    pytest.param("", "7h Kh As", "7h Kh As", id="the leader may play any card"),
    pytest.param("Jh", "7h 8h As", "7h 8h", id="§7.1: the suit must be followed"),
    pytest.param("Jh", "7h Qh As", "Qh", id="§7.2: and the card beaten if one can"),
    pytest.param("Jh", "7h Qh Kh Th", "Qh Kh Th", id="§7.2: with any higher card of the suit"),
    pytest.param("Kh", "Th Jh 7d", "Th", id="§7.2: the ten beats the king"),
    pytest.param("Ah", "Th 7h", "7h Th", id="§7.2: but not the ace"),
    pytest.param("9h Kh", "Qh Jh", "Qh Jh", id="§7.2: it is the best card of the trick that is to be beaten"),
    pytest.param("9h Kh", "Qh Th", "Th", id="§7.2: not the first"),
    pytest.param("Kh 9h", "Qh Jh", "Qh Jh", id="§7.2: nor the last"),
    pytest.param("Jh 7d", "7h Ah", "7h Ah", id="§7.2: once the trick is trumped any card of the suit will do"),
    pytest.param("Jd 9s", "7d Qd", "Qd", id="§7.2: a trump that was led is beaten all the same"),
    pytest.param("Jd Ad", "7d Td", "7d Td", id="§7.2: if one can"),
    pytest.param("Jh", "7d Ad As", "7d Ad", id="§7.3: a void hand must trump, with any trump"),
    pytest.param("Jh 9d", "7d Jd As", "Jd", id="§7.3: and overtrump if a trump lies there and it can"),
    pytest.param("Jh 9d", "7d 8d As", "7d 8d", id="§7.3: else play any trump"),
    pytest.param("Jh 9s", "7d Ad As", "7d Ad", id="§7.3: a card of a third suit calls for none but the duty to trump"),
    pytest.param("Jh", "7c As", "7c As", id="§7.4: void without trumps one plays anything"),
    pytest.param("Jd", "7c As", "7c As", id="§7.4: also when trumps were led"),
    pytest.param("Jh 9d", "7c As", "7c As", id="§7.4: also when the trick is trumped"),
])
def test_with_bells_as_trumps(trick, hand, legal):
    assert set(may_play(hand, trick, BELLS).split()) == set(legal.split())


@pytest.mark.parametrize(("trick", "hand", "legal"), [
    pytest.param("", "7h As", "7h As", id="the leader may play any card"),
    pytest.param("9h", "7h 8h Td", "7h 8h", id="the suit must be followed"),
    pytest.param("Js", "7s As", "As", id="overtaking stays compulsory"),
    pytest.param("Jh", "Th 9h", "9h Th", id="the ten does not beat the unter"),
    pytest.param("9h", "Th 8h", "Th", id="but it beats the nine"),
    pytest.param("Jh", "7d Ad As", "7d Ad As", id="there are no trumps: a void hand plays anything"),
    pytest.param("Jh Ad", "7h Kh", "Kh", id="a card of another suit frees nobody from beating"),
])
def test_without_trumps(trick, hand, legal):
    """§7.5, §1.2: betl and durch."""
    assert set(may_play(hand, trick, NO_TRUMP).split()) == set(legal.split())


def test_what_may_not_be_played_is_refused_and_the_sender_told_what_may():
    """§7.2, §7.3: Cyril holds both duties in one hand."""
    deal = in_play("hra", "9d Jh Qh Th Ah", "7h Kh Jd As", "8h", talon="8c 9c").when(play(BARA, "Jh")).then_asks(CYRIL)
    deal.then_may(play(CYRIL, "Kh"))
    deal.when(play(CYRIL, "7h")).then_refused("illegal_card", legal=parse("Kh"))
    deal.when(play(CYRIL, "Jd")).then_refused("illegal_card", legal=parse("Kh"))
    deal.when(play(CYRIL, "8h")).then_refused("card_not_held", cards=parse("8h"))
    deal.when(play(ANA, "8h")).then_refused("not_your_turn")


def test_a_card_is_played_once():
    """§7.1: it is no longer held."""
    deal = in_play("hra", "9d Jh Qh", "Kh Th", "Ah", talon="8c 9c").when(*trick(BARA, "Jh Kh Ah"))
    deal.when(play(ANA, "Ah")).then_refused("card_not_held")
