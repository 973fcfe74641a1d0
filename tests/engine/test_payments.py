"""Rules §8: from the parts to the chips, by seat. Ana (0) and Cyril (2) defend, Bára (1) is the declarer."""

import pytest

from engine.games.voleny.rules import Rates
from tests.engine.endings import settled
from tests.engine.test_settlement import NEVER_A_TRICK, ONE_LOST, TEN_TRICKS, row
from tests.engine.words import BARA, CYRIL

SEVEN = {"contract": "hra sedma", "last": "7d 8s 9s"}


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("each defender pays the declarer", (-1, 2, -1)),
        row("or the declarer each defender", (1, -2, 1), points=40),
        row("parts add up", (-3, 6, -3), **SEVEN),
        row("a lost part is taken from a won one", (-1, 2, -1), points=40, **SEVEN),
        row("and may outweigh it", (2, -4, 2), points=40, levels={"hra": 2}, **SEVEN),
        row("a proti pays the other way", (1, -2, 1), proti="sedma_proti", last="8s 7d 9s"),
        row("who raised makes no difference", (-2, 4, -2), levels={"hra": 1}, doublers=(CYRIL,)),
    ],
)
def test_parts_add_up(ended, answer):
    """§8.9, §8.11: the declarer settles with each defender, and all is zero together."""
    result = settled(**ended)
    assert (result.payments, result.capped, result.played) == (answer, False, True)


@pytest.mark.parametrize(
    ("ended", "payments", "capped"),
    [
        pytest.param({"levels": {"durch": 5}, **TEN_TRICKS}, (-320, 640, -320), False, id="320 are below the cap"),
        pytest.param({"levels": {"durch": 6}, **TEN_TRICKS}, (-500, 1000, -500), True, id="640 are capped to 500"),
        pytest.param({"levels": {"durch": 6}, **ONE_LOST}, (500, -1000, 500), True, id="so are 640 the other way"),
        pytest.param({"levels": {"durch": 6}, "cap": 0, **ONE_LOST}, (640, -1280, 640), False, id="no cap, no limit"),
        pytest.param(
            {"levels": {"betl": 1}, "cap": 9, **NEVER_A_TRICK}, (-9, 18, -9), True, id="a table has its own cap"
        ),
        pytest.param(
            {"levels": {"betl": 1}, "cap": 10, **NEVER_A_TRICK},
            (-10, 20, -10),
            False,
            id="what just reaches the cap is not changed",
        ),
        pytest.param(
            {"points": 40, "rates": Rates(hra=900, sedma=700), **SEVEN},
            (200, -400, 200),
            False,
            id="the sum of the parts is capped, not each part",
        ),
    ],
)
def test_cap(ended, payments, capped):
    """§8.9: each defender's own net is clamped; the declarer gets or pays the sum."""
    result = settled(**ended)
    assert (result.payments, result.capped) == (payments, capped)


def test_the_parts_of_a_result_are_told_before_the_cap():
    """§8.9."""
    assert settled(levels={"durch": 6}, **TEN_TRICKS).parts[0].per_defender == 640


def test_raising_is_not_forbidden_by_the_cap():
    """§8.9: with a cap of one chip hra is raised to the last level."""
    result = settled(levels={"hra": 6}, cap=1)
    assert (result.parts[0].level, result.payments) == (6, (-1, 2, -1))


@pytest.mark.parametrize("points", range(10, 100, 10))
@pytest.mark.parametrize("marriages", ["", "d40", "o40 d20", "d20 d20 o20 o20"])
@pytest.mark.parametrize("contract", ["hra", "sto", "sto sedma"])
def test_chips_are_whole_and_none_is_lost(contract, marriages, points):
    """§8.11: payments are whole chips and sum to zero, whatever happened."""
    payments = settled(contract, points=points, marriages=marriages, levels={contract.split()[0]: 1}).payments
    assert sum(payments) == 0
    assert all(type(chips) is int for chips in payments)
    assert payments[BARA] == -2 * payments[CYRIL]
