"""Rules §4: which game is played and by whom. A row is what was said, and who may then say what."""

import pytest

from tests.engine.deals import asked, betl, durch, laid_away
from tests.engine.words import ANA, BARA, CYRIL, announce, declare, discard, flek, good, play, take_over

HANDS = "7h Ac Kc Jc 9c Qs Js 9s 8s 7s"


def said(deal, sentence):
    """`"Cyril good, Ana take over"`; who takes over lays away what he picked up."""
    seats = {"Ana": ANA, "Bára": BARA, "Cyril": CYRIL}
    for phrase in filter(None, sentence.split(", ")):
        name, _, word = phrase.partition(" ")
        deal = deal.when(*_commands(seats[name], word))
    return deal


def _commands(seat, word):
    match word:
        case "good":
            return [good(seat)]
        case "takes over":
            return [take_over(seat), discard(seat, "8d 9d")]
        case "betl" | "durch" | "colour":
            return [declare(seat, word)]
        case _:
            return [flek(seat, word.removeprefix("flek "))]


def test_the_forehand_asks_for_the_colour_or_announces():
    """§4.1."""
    laid_away().then_may(*(declare(BARA, game) for game in ("colour", "betl", "durch")))


@pytest.mark.parametrize("game", ["betl", "durch"])
def test_the_trump_card_returns_to_his_hand_and_trumps_are_void(game):
    """§4.1."""
    deal = laid_away("7h").when(declare(BARA, game))
    assert deal.private(BARA).trump_card is None
    assert 0 in deal.private(BARA).hand
    assert deal.public().trump is None


@pytest.mark.parametrize(("sentence", "asks", "words"), [
    pytest.param("", CYRIL, [good, take_over], id="the next seat answers first: good, or take over"),
    pytest.param("Cyril good", ANA, [good, take_over], id="then the dealer"),
])
def test_barva(sentence, asks, words):
    """§4.2."""
    said(asked(HANDS), sentence).then_asks(asks).then_may(*(word(asks) for word in words))


def test_both_approve_and_the_forehand_announces_his_contract():
    """§4.2, §5.1: without the trump seven and without a marriage it is hra."""
    said(asked("8h Ac Kc Jc 9c Qs Js 9s 8s 7s"), "Cyril good, Ana good").then_asks(BARA).then_may(announce(BARA, "hra"))


@pytest.mark.parametrize(("sentence", "asks", "games"), [
    pytest.param("Cyril takes over", CYRIL, "betl durch", id="from the colour to betl or durch"),
    pytest.param("Cyril good, Ana takes over", ANA, "betl durch", id="the dealer too"),
    pytest.param("Cyril takes over, Cyril betl, Ana takes over", ANA, "durch", id="after a betl only to durch"),
    pytest.param("Cyril takes over, Cyril betl, Ana good, Bára takes over", BARA, "durch",
                 id="the former forehand may take over later"),
    pytest.param("Cyril good, Ana takes over, Ana betl, Bára good, Cyril takes over", CYRIL, "durch",
                 id="and a player who had approved the colour"),
])
def test_what_may_be_announced_after_a_take_over(sentence, asks, games):
    """§4.3, §4.4."""
    deal = said(asked(HANDS), sentence).then_asks(asks).then_may(*(declare(asks, game) for game in games.split()))
    deal.when(declare(asks, "colour")).then_refused("game_too_low")
    if games == "durch":
        deal.when(declare(asks, "betl")).then_refused("game_too_low")


def test_a_take_over_picks_up_the_talon_and_binds():
    """§4.3: twelve cards, any two of which are laid away; there is no way back."""
    deal = asked(HANDS, cyril="Ad Td").when(take_over(CYRIL))
    assert len(deal.private(CYRIL).hand) == 12
    deal.then_asks(CYRIL)
    assert len(deal.game.legal(deal.state)) == 12 * 11 // 2
    deal.when(good(CYRIL)).then_refused("wrong_phase")
    deal.when(discard(CYRIL, "7h 8d")).then_refused("card_not_held", cards=(0,))
    deal.when(discard(CYRIL, "Ad Td")).then_may(declare(CYRIL, "betl"), declare(CYRIL, "durch"))


def test_the_second_is_not_asked_when_the_first_has_taken_over():
    """§4.2."""
    deal = asked(HANDS).when(take_over(CYRIL))
    deal.then_asks(CYRIL)
    deal.when(good(ANA)).then_refused("not_your_turn")


@pytest.mark.parametrize(("sentence", "asks"), [
    pytest.param("", CYRIL, id="the declarer's left first"),
    pytest.param("Cyril good", ANA, id="then the other"),
    pytest.param("Cyril flek betl", ANA, id="also when the first has raised"),
])
def test_each_answers_a_betl_in_one_word(sentence, asks):
    """§4.4: good, flek, or take over."""
    said(betl(HANDS), sentence).then_asks(asks).then_may(good(asks), flek(asks, "betl"), take_over(asks))


def test_the_answers_to_a_betl_are_the_first_turn_of_doubling():
    """§4.4: after a flek it is the declarer's turn, and nobody may take over any more."""
    deal = said(betl(HANDS), "Cyril good, Ana flek betl").then_asks(BARA).then_may(good(BARA), flek(BARA, "betl"))
    deal = deal.when(flek(BARA, "betl")).then_asks(CYRIL).then_may(good(CYRIL), flek(CYRIL, "betl"))
    deal.when(take_over(CYRIL)).then_refused("wrong_phase")


def test_without_a_flek_the_betl_is_played_at_once():
    """§4.4: no other turn follows."""
    assert said(betl(HANDS), "Cyril good, Ana good").then_asks(BARA).public().phase == "play"


def test_a_take_over_voids_the_flek_on_the_betl():
    """§4.4."""
    deal = said(betl(HANDS), "Cyril flek betl, Ana takes over, Ana durch")
    assert deal.public().levels == (("durch", 0),)
    deal.then_asks(BARA).then_may(good(BARA), flek(BARA, "durch"))


def test_a_durch_cannot_be_taken_over():
    """§4.5: doubling starts at once at the declarer's left."""
    deal = durch(HANDS).then_asks(CYRIL).then_may(good(CYRIL), flek(CYRIL, "durch"))
    deal.when(take_over(CYRIL)).then_refused("wrong_phase")


@pytest.mark.parametrize(("deal", "sentence", "declarer"), [
    pytest.param(betl, "Cyril good, Ana good", BARA, id="a betl by its declarer, here the forehand"),
    pytest.param(asked, "Cyril takes over, Cyril betl, Ana good, Bára good", CYRIL, id="who took over leads"),
    pytest.param(asked, "Cyril good, Ana takes over, Ana durch, Bára good, Cyril good", ANA, id="the dealer too"),
    pytest.param(betl, "Cyril good, Ana takes over, Ana durch, Bára good, Cyril good", ANA,
                 id="the last to announce is declarer"),
])
def test_who_is_declarer_and_leads(deal, sentence, declarer):
    """§4.6."""
    played = said(deal(HANDS), sentence).then_asks(declarer)
    assert (played.public().phase, played.public().declarer) == ("play", declarer)


def test_the_forehand_leads_to_a_trump_game():
    """§4.6: in it he is always the declarer."""
    deal = said(asked("8h Ac"), "Cyril good, Ana good").when(announce(BARA, "hra"), good(CYRIL), good(ANA))
    deal.then_asks(BARA).when(play(BARA, "Ac")).then_asks(CYRIL)
    assert deal.public().declarer == BARA
