"""Deals that are told up to their last trick and played to the end, so that every settlement can be reached.

What happened is trusted (no rule lives in `evolve`), so the first nine tricks are given to whomever the row needs;
only the tenth is decided, and with it the result.
"""

from engine.games.voleny.commands import Flek
from engine.games.voleny.events import CardPlayed, TrickTaken
from engine.games.voleny.rules import PARTS, PROTIS
from engine.notation import CARD, CODES
from engine.tricks import NO_TRUMP, trick_of
from tests.engine import deals
from tests.engine.words import ANA, BARA, CYRIL, good, play
from tests.given import Told

SEATS = (BARA, CYRIL, ANA)
PLAIN = [CODES[card] for card in range(32) if CODES[card][0] in "789J"]


def settled(
    contract="hra",
    *,
    last="8d 8s 9s",
    leader=BARA,
    points=50,
    marriages="",
    levels=(),
    proti="",
    by=CYRIL,
    doublers=(CYRIL,),
    bara="Kd Qd",
    talon="",
    takers=None,
    **rules,
):
    """How a deal is settled in which Bára is declarer and trumps are the suit of her first card.

    `last` are the last cards of Bára, Cyril and Ana, of which `leader` leads; by then Bára has `points` of the 90,
    last trick included. `marriages` are those announced, in order: "d40 o20" is forty for the declarer, then twenty
    for an opponent. The parts were raised to their `levels` by the `doublers` (those of each turn, if they differ);
    `proti` was announced `by` one. In a betl or durch `takers` says who took the nine tricks.
    """
    trumps = "" if contract in ("betl", "durch") else bara[1]
    final = last.split()
    wishes = _wishes(final, bara.split(), talon.split(), trumps, seven_of=by if "sedma" in proti else BARA)
    deal = _bid(contract, wishes, rules)
    deal = _doubled(deal, dict(levels), proti.split(), by=by, doublers=doublers)
    tricks = _tricks(deal, final)
    if takers is None:
        takers = _takers(tricks, points, leader, trumps)
    leader = takers[-1]
    deal = deal.told(*_nine(tricks, takers, marriages.split()))
    result = deal.when(*(play(seat, CODES[tricks[-1][seat]]) for seat in _from(leader))).result()
    assert not trumps or result.points == (points, 90 - points), "the row asks for points that cannot be"
    return result


def _wishes(final, bara, talon, trumps, *, seven_of):
    """The hands: the defenders hold the aces and tens, and a marriage each, unless the row says otherwise."""
    hands = {BARA: [*bara, *({final[0]} - {*bara})], CYRIL: [final[1]], ANA: [final[2]]}
    used = {*bara, *final, *talon}
    if not trumps:
        return hands, talon or [card for card in PLAIN if card not in used][:2]

    def take(seat, cards):
        hands[seat] += [card for card in cards if card not in used]
        used.update(cards)

    take(seven_of, ["7" + trumps])
    talon = talon or [card for card in PLAIN if card not in used and card[1] != trumps][:2]
    used |= {*talon}
    first, second, third = (suit for suit in "hdcs" if suit != trumps)
    take(CYRIL, [f"A{trumps}", f"T{trumps}", f"A{first}", f"T{first}", f"K{first}", f"Q{first}"])
    take(ANA, [f"A{second}", f"T{second}", f"A{third}", f"T{third}", f"K{second}", f"Q{second}"])
    return hands, talon


def _bid(contract, wishes, rules) -> Told:
    hands, talon = wishes
    cards = [" ".join(hands[seat]) for seat in SEATS]
    if contract == "betl":
        return deals.betl(*cards, talon=" ".join(talon), **rules)
    if contract == "durch":
        return deals.durch(*cards, talon=" ".join(talon), **rules)
    return deals.announced(contract, *cards, talon=" ".join(talon), **rules)


def _doubled(deal, levels, protis, *, by, doublers) -> Told:
    """A part of the declarer's at level 2 was raised in the turns 0 and 1, a proti at level 2 in the turns 1 and 2."""
    turn, said = 0, True
    while said:
        raised = tuple(part for part in PARTS if levels.get(part, 0) > turn - (part in protis) >= 0)
        said = bool(raised or (protis and not turn))
        for seat in (BARA,) if turn % 2 else (CYRIL, ANA):
            own = raised if seat == BARA or seat in _in_turn(doublers, turn) else ()
            announces = tuple(part for part in PROTIS if part in protis) if seat == by and not turn else ()
            flek = Flek(seat=seat, raises=own, announces=announces)
            deal = deal.when(flek if own or announces else good(seat))
        turn += 1
    return deal


def _in_turn(doublers, turn):
    """Who raises in a turn of the defence: the same each time, or one tuple for each turn."""
    return doublers[turn // 2] if isinstance(doublers[0], tuple) else doublers


def _tricks(deal, final):
    """Ten cards of each seat in the order they are played: aces and tens in different tricks, the ninth without."""
    columns = {}
    for seat, ending in zip(SEATS, final, strict=True):
        rest = [card for card in deal.private(seat).hand if card != CARD[ending]]
        plain, tens = [c for c in rest if not _worth(c)], [c for c in rest if _worth(c)]
        before = 4 if seat == ANA else 0
        columns[seat] = [*plain[:before], *tens, *plain[before:], CARD[ending]]
    return [{seat: columns[seat][number] for seat in SEATS} for number in range(10)]


def _takers(tricks, points, leader, trumps):
    """Who took the nine tricks, so that the declarer ends with `points` and `leader` leads to the tenth."""
    order = _from(leader)
    top = trick_of("hdcs".index(trumps) if trumps else NO_TRUMP, tuple(tricks[-1][seat] for seat in order)).top
    missing = points - (10 + _points(tricks[-1])) * (order[top] == BARA) - _points(tricks[8]) * (leader == BARA)
    takers = []
    for trick in tricks[:8]:
        his = _points(trick) <= missing
        missing -= _points(trick) * his
        takers.append(BARA if his else CYRIL)
    return [*takers, leader]


def _nine(tricks, takers, marriages):
    """The events of nine tricks; the first marriage was announced in the first trick, and so on."""
    leader = BARA
    for number, taker in enumerate(takers):
        announced = marriages[number] if number < len(marriages) else ""
        announcer = {"d": BARA, "o": CYRIL}.get(announced[:1])
        for seat in _from(leader):
            points = int(announced[1:]) if seat == announcer else None
            yield CardPlayed(seat=seat, card=tricks[number][seat], marriage_points=points)
        yield TrickTaken(seat=taker)
        leader = taker


def _from(leader):
    return [(leader + place) % 3 for place in range(3)]


def _worth(card):
    return 10 * (card % 8 in (3, 7))


def _points(trick):
    return sum(map(_worth, trick.values()))
