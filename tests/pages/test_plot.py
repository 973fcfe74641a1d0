"""The plot of chips: round numbers on its axes, every deal inside the picture, and balances that add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.pages.bank import Paid, standings_of
from services.pages.plot import DOTS_MAX, POINTS_MAX, SIZES, Standing, plot, thinned, ticks


@pytest.mark.parametrize(("lowest", "highest", "marks"), [
    (0, 10, [0, 2, 4, 6, 8, 10]), (-30, 17, [-30, -20, -10, 0, 10, 20]), (0, 0, [0, 1]), (0, 1, [0, 1]),
    (-7, 0, [-8, -6, -4, -2, 0]), (0, 1234, [0, 500, 1000, 1500]),
])
def test_an_axis_has_round_numbers(lowest, highest, marks):
    assert ticks(lowest, highest) == marks


@given(st.integers(-10**12, 10**12), st.integers(0, 10**12))
def test_an_axis_holds_what_is_shown_with_a_few_marks(lowest, span):
    marks = ticks(lowest, lowest + span)
    assert marks[0] <= lowest
    assert lowest + span <= marks[-1]
    assert 2 <= len(marks) <= 7


payments = st.tuples(st.integers(-500, 500), st.integers(-500, 500)).map(lambda two: (*two, -sum(two)))


@given(st.lists(payments, min_size=1, max_size=400), st.sampled_from(list(SIZES)))
def test_every_point_is_inside_the_picture(paid, kind):
    deals = [Paid(number, each) for number, each in enumerate(paid, 1)]
    balances = tuple(sum(column) for column in zip(*paid, strict=True))
    standings = standings_of(balances, deals)
    assert standings[0] == Standing(0, (0, 0, 0), (0, 0, 0))
    assert standings[-1].balances == balances
    drawn = plot(standings, kind)
    for seat in range(3):
        points = [tuple(map(float, point.split(","))) for point in drawn.lines[seat].split(" ")]
        assert len(points) == min(len(standings), POINTS_MAX)
        assert all(drawn.left <= x <= drawn.right and 0 <= y <= drawn.bottom for x, y in points)
        assert points == sorted(points, key=lambda point: point[0])
        assert 1 <= len(drawn.dots[seat]) <= DOTS_MAX[kind]
        assert drawn.dots[seat][-1].standing.deal == len(paid)


def test_balances_that_the_books_note_count_more_than_what_is_added():
    """Chips are brought to a table and taken from it between its deals."""
    deals = [Paid(4, (5, -5, 0), balances=(105, 95, 100)), Paid(5, (1, 1, -2), balances=(1106, 96, 98))]
    standings = standings_of((1106, 96, 98), deals)
    assert [each.balances for each in standings] == [(100, 100, 100), (105, 95, 100), (1106, 96, 98)]
    assert [each.deal for each in standings] == [3, 4, 5]


@given(st.integers(2, 900), st.integers(2, 60))
def test_what_is_left_out_is_never_the_end(count, count_max):
    standings = [Standing(number, (), ()) for number in range(count)]
    left = thinned(standings, count_max)
    assert (left[0], left[-1]) == (standings[0], standings[-1])
    assert len(left) == min(count, count_max)
    assert len({each.deal for each in left}) == len(left)
