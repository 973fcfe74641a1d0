"""Rules §7.10: what a player may see."""

import pytest

from engine.notation import parse
from tests.engine.deals import announced, in_play
from tests.engine.words import ANA, BARA, CYRIL, flek, good, play, trick


@pytest.fixture
def deal():
    """Two tricks, the first to Ana and the second to Cyril, and the seven of acorns on the table."""
    begun = in_play("hra", "9d 7h Js Kc Qc 8d", "8h Qs 7c", "9h 8s", talon="Jc 9c")
    return begun.when(*trick(BARA, "7h 8h 9h"), *trick(ANA, "8s Js Qs"), play(CYRIL, "7c"))


def test_his_own_hand(deal):
    hands = [set(deal.private(seat).hand) for seat in (ANA, BARA, CYRIL)]
    assert [len(hand) for hand in hands] == [8, 8, 7]
    assert set(parse("9d Kc Qc 8d")) <= hands[BARA]
    assert not hands[ANA] & hands[BARA] | hands[BARA] & hands[CYRIL] | hands[ANA] & hands[CYRIL]


def test_who_only_watches_sees_no_hand(deal):
    assert (deal.private(None).hand, deal.private(None).legal, deal.private(None).trump_card) == ((), (), None)


def test_the_current_trick_and_the_last(deal):
    """And none before."""
    eight, unter, ober, seven = parse("8s Js Qs 7c")
    assert deal.public().trick == ((CYRIL, seven),)
    assert deal.public().last_trick == (((ANA, eight), (BARA, unter), (CYRIL, ober)), CYRIL)


def test_trick_counts_and_points_so_far():
    """§1.3: aces and tens only; the last trick is not yet played."""
    deal = in_play("hra", "9d Jh", "Kh Th", "Ah 8h", talon="7h Qh")
    public = deal.when(*trick(BARA, "Jh Kh Ah")).public()
    assert (public.tricks_taken, public.points) == ((1, 0, 0), (0, 10))


def test_what_was_announced_and_all_levels():
    deal = announced("hra", "9d Ah", "7d Kc Qc", talon="8c 9c").when(flek(CYRIL, "hra sto_proti"), good(ANA))
    public = deal.public()
    assert (public.contract, public.protis) == (("hra",), (("sto_proti", CYRIL),))
    assert (public.levels, public.open, public.declarer) == ((("hra", 1), ("sto_proti", 0)), ("hra", "sto_proti"), BARA)


def test_his_moves_are_listed_to_the_seat_to_act_alone(deal):
    assert [bool(deal.private(seat).legal) for seat in (ANA, BARA, CYRIL)] == [True, False, False]


def test_nothing_else():
    """Two deals that differ in what Bára has not seen look the same to her."""
    one = in_play("hra", "9d Ah Kc", "7s Kd Th", "8s Qd Tc", talon="8c 9c")
    other = in_play("hra", "9d Ah Kc", "8s Qd Tc", "7s Kd Th", talon="8c 9c")
    assert one.private(CYRIL) != other.private(CYRIL)
    assert one.private(BARA) == other.private(BARA)
    assert one.public() == other.public()
