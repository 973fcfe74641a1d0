"""Rules §8: what each part pays. A row is a deal as it ended, and what a defender pays the declarer for each part."""

import pytest

from engine.games.voleny.rules import Rates
from tests.engine.endings import settled
from tests.engine.words import ANA, BARA, CYRIL


def row(sentence, answer, /, **ended):
    return pytest.param(ended, answer, id=sentence)


def paid(ended):
    """The parts with what each defender pays for them, as "hra+1 sedma-2"; what is won pays to who announced it."""
    rows = settled(**ended).parts
    for part in rows:
        assert part.won == ((part.per_defender > 0) != part.part.endswith("proti"))
    return " ".join(f"{part.part}{part.per_defender:+d}" for part in rows)


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("hra is won with fifty against forty", "hra+1", points=50),
        row("and lost with forty against fifty", "hra-1", points=40),
        row("the declarer's marriages count for him", "hra+1", points=40, marriages="d20"),
        row("those of both defenders count against him", "hra-1", points=50, marriages="o20 d20 o20"),
        row("one flek doubles it", "hra+2", levels={"hra": 1}),
        row("whoever wins: re is four times", "hra-4", points=30, levels={"hra": 2}),
        row("tutti eight times", "hra+8", levels={"hra": 3}),
        row("boty sixteen times", "hra+16", levels={"hra": 4}),
        row("kalhoty thirty-two times", "hra+32", levels={"hra": 5}),
        row("kaiser sixty-four times", "hra+64", levels={"hra": 6}),
        row("hearts as trumps double it", "hra+2", bara="Kh Qh"),
        row("the flek doubles that again", "hra-4", bara="Kh Qh", points=10, levels={"hra": 1}),
        row("unless the table does not double hearts", "hra+1", bara="Kh Qh", hearts_double=False),
        row("the rate is the table's own", "hra+7", rates=Rates(hra=7)),
    ],
)
def test_hra(ended, answer):
    """§8.1, §5.2: whoever has more points, marriages included, wins hra."""
    assert paid(ended) == answer


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("at a hundred hra is worth twice", "tiche_sto+2", points=60, marriages="d40"),
        row("ninety is no hundred", "hra+1", points=50, marriages="d40"),
        row("each ten above is worth the same again", "tiche_sto+4", points=70, marriages="d40"),
        row("all marriages count, also those after the first", "tiche_sto+6", points=60, marriages="d40 d20"),
        row("190 is the most there is", "tiche_sto+20", points=90, marriages="d20 d20 d20 d40"),
        row("the defence makes it against him", "tiche_sto-2", points=10, marriages="o20"),
        row("with every ten of it", "tiche_sto-8", points=0, last="8s 9s Js", marriages="o20 o20"),
        row("the price is the raised one", "tiche_sto+8", points=70, marriages="d40", levels={"hra": 1}),
        row("hearts double it", "tiche_sto+4", bara="Kh Qh", points=60, marriages="d40"),
        row(
            "beside a sedma too",
            "tiche_sto+2 sedma+2",
            contract="hra sedma",
            last="7d 8s 9s",
            points=60,
            marriages="d40",
        ),
        row(
            "not when a defender announced a hundred",
            "hra+1 sto_proti+44",
            proti="sto_proti",
            points=60,
            marriages="d40",
        ),
        row("it costs by the table's rate of hra", "tiche_sto+12", points=70, marriages="d40", rates=Rates(hra=3)),
    ],
)
def test_silent_sto(ended, answer):
    """§8.2: a side with a hundred that nobody announced."""
    assert paid(ended) == answer


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("the seven takes the last trick", "hra+1 sedma+2", last="7d 8s 9s"),
        row("it is beaten in the last trick", "hra+1 sedma-2", last="7d Ad 9s"),
        row("it had to be played before", "hra+1 sedma-2", last="8d 8s 9s"),
        row("the last trick alone does not do", "hra-1 sedma-2", last="Jd 8s 9s", points=40),
        row("it may follow to the last trick", "hra+1 sedma+2", last="7d 8s 9s", leader=CYRIL),
        row("hra and sedma are won and lost apart", "hra-1 sedma+2", last="7d 8s 9s", points=30),
        row("each has its own level", "hra-1 sedma+16", last="7d 8s 9s", points=30, levels={"sedma": 3}),
        row("hearts double it", "hra+2 sedma-4", bara="Kh Qh", last="8h 8s 9s"),
        row("the rate is the table's own", "hra+1 sedma+5", last="7d 8s 9s", rates=Rates(sedma=5)),
    ],
)
def test_sedma(ended, answer):
    """§8.3, §5.3: the declarer takes the last trick with the trump seven."""
    assert paid({"contract": "hra sedma", **ended}) == answer


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("the declarer's seven takes the last trick", "hra+1 ticha_sedma+1", last="7d 8s 9s"),
        row("the declarer's seven is beaten", "hra+1 ticha_sedma-1", last="7d Ad 9s"),
        row("a defender's seven takes it", "hra+1 ticha_sedma-1", last="8s 7d 9s"),
        row("the declarer beats a defender's seven", "hra+1 ticha_sedma+1", last="8d 7d 9s"),
        row("a defender's seven is beaten even by his partner", "hra+1 ticha_sedma+1", last="8s 7d 8d"),
        row("nothing when the seven went before", "hra+1", last="8d 8s 9s"),
        row("nothing when it lies in the talon", "hra+1", talon="7d 8c"),
        row("no flek doubles it", "hra+8 ticha_sedma+1", last="7d 8s 9s", levels={"hra": 3}),
        row("hearts double it", "hra+2 ticha_sedma-2", bara="Kh Qh", last="7h Ah 9s"),
        row("it counts beside sto", "ticha_sedma-1 sto+4", contract="sto", last="7d Ad 9s", points=60, marriages="d40"),
        row(
            "it counts beside a hundred against",
            "hra-1 ticha_sedma+1 sto_proti-4",
            last="7d 8s 9s",
            points=10,
            marriages="o20",
            proti="sto_proti",
        ),
        row(
            "not when it was announced",
            "sedma+2 sto+4",
            contract="sto sedma",
            last="7d 8s 9s",
            points=60,
            marriages="d40",
        ),
        row("not when it was announced against", "hra+1 sedma_proti-2", proti="sedma_proti", last="8s 7d 9s"),
        row("it has a rate of its own", "hra+1 ticha_sedma+3", last="7d 8s 9s", rates=Rates(ticha_sedma=3)),
    ],
)
def test_silent_sedma(ended, answer):
    """§8.4: the trump seven in the last trick, announced by nobody."""
    assert paid(ended) == answer


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("a hundred with the trump marriage", "sto+4", points=60, marriages="d40"),
        row("a hundred with a plain one", "sto+4", points=80, marriages="d20"),
        row("one more for each ten above", "sto+8", points=70, marriages="d40"),
        row("further marriages count above the hundred", "sto+12", points=60, marriages="d40 d20"),
        row("190 is the most there is", "sto+40", points=90, marriages="d40 d20 d20 d20"),
        row("marriages of the defence take nothing from it", "sto+4", points=60, marriages="o20 d40 o20"),
        row("the level multiplies all of it", "sto+32", points=70, marriages="d40", levels={"sto": 2}),
        row("hearts double all of it", "sto+16", bara="Kh Qh", points=70, marriages="d40"),
        row("the rate is the table's own", "sto+22", points=70, marriages="d40", rates=Rates(sto=11)),
        row(
            "under `highest` the best marriage counts", "sto+12", points=60, marriages="d20 d40", sto_marriage="highest"
        ),
    ],
)
def test_sto_made(ended, answer):
    """§8.5, §5.4: card points and the first marriage reach a hundred."""
    assert paid({"contract": "sto", **ended}) == answer


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("ten are missing", "sto-4", points=50, marriages="d40"),
        row("ninety points without a marriage are ten short", "sto-4", points=90),
        row("a rate for each ten missing and no base", "sto-20", points=10, marriages="d40"),
        row("only the first marriage helps", "sto-8", points=60, marriages="d20 d40"),
        row("under `highest` the best one", "sto-4", points=50, marriages="d20 d40", sto_marriage="highest"),
        row("and a rate for each ten of the defence's marriages", "sto-20", points=50, marriages="d40 o20 o20"),
        row("forty of theirs cost four", "sto-20", bara="9d Kh Qh", points=70, marriages="o40 d20"),
        row("everything lost that can be", "sto-40", points=0, last="8s 9s Js", marriages="d40 o20 o20"),
        row("the level multiplies all of it", "sto-24", points=50, marriages="d40 o20", levels={"sto": 1}),
        row("hearts double all of it", "sto-8", bara="Kh Qh", points=50, marriages="d40"),
    ],
)
def test_sto_lost(ended, answer):
    """§8.6, §5.4: the hundred is missed."""
    assert paid({"contract": "sto", **ended}) == answer


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("made pays the rate of sedma to the defence", "hra+1 sedma_proti-2", last="8s 7d 9s"),
        row("beaten pays it to the declarer", "hra+1 sedma_proti+2", last="8d 7d 9s"),
        row("beaten by the partner too", "hra+1 sedma_proti+2", last="8s 7d 8d"),
        row("played before the last trick too", "hra+1 sedma_proti+2", last="8s 8d 9s"),
        row("the dealer may have announced it", "hra+1 sedma_proti-2", last="8s 9s 7d", by=ANA),
        row("it has its own level", "hra+1 sedma_proti-8", last="8s 7d 9s", levels={"sedma_proti": 2}),
        row("and hra its own", "hra+2 sedma_proti-4", last="8s 7d 9s", levels={"hra": 1, "sedma_proti": 1}),
        row("hearts double it", "hra+2 sedma_proti-4", bara="Kh Qh", last="8s 7h 9s"),
        row(
            "a hundred that nobody announced stays beside it",
            "tiche_sto+2 sedma_proti-2",
            last="8s 7d 9s",
            points=60,
            marriages="d40",
        ),
    ],
)
def test_sedma_proti(ended, answer):
    """§8.7, §5.6: he who announced it takes the last trick with the trump seven."""
    assert paid({"proti": "sedma_proti", **ended}) == answer


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("the defence makes a hundred", "hra-1 sto_proti-4", points=10, marriages="o20"),
        row("one more for each ten above", "hra-1 sto_proti-12", points=10, marriages="o20 o20"),
        row("a plain marriage needs eighty", "hra-1 sto_proti+4", points=20, marriages="o20"),
        row("a rate for each ten missing and none for the base", "hra-1 sto_proti+12", points=40, marriages="o20"),
        row("and for each ten of the declarer's marriages", "hra+1 sto_proti+28", points=40, marriages="d40 o20"),
        row("only the first marriage of the two defenders helps", "hra-1 sto_proti+4", points=20, marriages="o20 o40"),
        row("under `highest` the best", "hra-1 sto_proti-12", points=30, marriages="o20 o40", sto_marriage="highest"),
        row("it has its own level", "hra-1 sto_proti-16", points=10, marriages="o20", levels={"sto_proti": 2}),
        row("hearts double it", "hra-2 sto_proti-8", bara="Kh Qh", points=10, marriages="o20"),
        row(
            "both may be announced",
            "hra-1 sedma_proti-2 sto_proti-4",
            proti="sedma_proti sto_proti",
            last="8s 7d 9s",
            points=10,
            marriages="o20",
        ),
    ],
)
def test_sto_proti(ended, answer):
    """§8.7, §5.6: the formulas of sto with the sides exchanged."""
    assert paid({"proti": "sto_proti", **ended}) == answer


LOST, TAKEN = [CYRIL] * 8 + [ANA], [BARA] * 9
NEVER_A_TRICK = {"contract": "betl", "bara": "Kd 9h", "last": "7d 8d 9d", "takers": LOST}
THE_TENTH_TRICK = {"contract": "betl", "bara": "Kd 9h", "last": "Jd 8d 9d", "takers": LOST}
TEN_TRICKS = {"contract": "durch", "bara": "Kd 9h", "last": "Jd 8d 9d", "takers": TAKEN}
ONE_LOST = {"contract": "durch", "bara": "Kd 9h", "last": "7d 8d 9d", "takers": TAKEN}


@pytest.mark.parametrize(
    ("ended", "answer"),
    [
        row("a betl is won without a trick", "betl+5", **NEVER_A_TRICK),
        row("and lost by the last of ten", "betl-5", **THE_TENTH_TRICK),
        row("a durch is won with ten tricks", "durch+10", **TEN_TRICKS),
        row("and lost by the last of ten", "durch-10", **ONE_LOST),
        row("the level multiplies a betl", "betl-20", levels={"betl": 2}, **THE_TENTH_TRICK),
        row("and a durch", "durch+40", levels={"durch": 2}, **TEN_TRICKS),
        row("hearts double nothing where there are no trumps", "betl+5", **{**NEVER_A_TRICK, "bara": "9h Kd"}),
        row("csm pays fifteen for a betl", "betl+15", rates=Rates(betl=15, durch=30), **NEVER_A_TRICK),
        row("and thirty for a durch", "durch-30", rates=Rates(betl=15, durch=30), **ONE_LOST),
    ],
)
def test_betl_and_durch(ended, answer):
    """§8.8, §5.5."""
    assert paid(ended) == answer


@pytest.mark.parametrize("ended", [NEVER_A_TRICK, TEN_TRICKS], ids=["betl", "durch"])
def test_without_trumps_neither_points_nor_marriages_count(ended):
    """§1.3, §1.4, §8.8."""
    result = settled(**ended)
    assert (result.points, result.marriages) == ((0, 0), ((), ()))


def test_rows_carry_the_levels_they_were_raised_to():
    """§8.2, §8.4: a silent sto has that of hra, a silent sedma none."""
    result = settled(last="7d 8s 9s", points=60, marriages="d40", levels={"hra": 2})
    assert [(part.part, part.level) for part in result.parts] == [("tiche_sto", 2), ("ticha_sedma", 0)]
    result = settled(proti="sedma_proti", last="8s 7d 9s", levels={"hra": 1, "sedma_proti": 3})
    assert [(part.part, part.level) for part in result.parts] == [("hra", 1), ("sedma_proti", 3)]
