"""A deal record from a Mariášek file: the cards as they were, and moves that lead to what the file tells.

What the file does not tell is chosen, always alike: the forehand keeps his lowest trump as the trump card, nobody
takes over, raises come at the first occasion, and every marriage is announced (that program announces by itself).
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from engine.cards import ALL_CARDS, TENS_AND_ACES, cards_of, mask_of
from engine.errors import RuleViolation
from engine.games import GAMES
from engine.games.voleny.commands import (
    ChooseTrump,
    Deal,
    Discard,
    Flek,
    Good,
    Move,
    PlayCard,
    announces,
    declares,
    play,
)
from engine.games.voleny.rules import PARTS, PRESETS, PROTIS, SEATS, Kind, Part, bits_of
from engine.games.voleny.state import NOBODY, Contract, Doubling, Over, Playing, State
from engine.notation import CODES
from schemas.games.voleny_events import dump_result
from schemas.moves import dump_move
from schemas.recording import new_record, recorded
from schemas.records import Json
from services.exchange.hra import Hra, Refused

PRESET: Final = "mariasek"
HAND: Final = 10
_GAME: Final = GAMES["voleny"]
_CONTRACTS: Final[dict[frozenset[str], tuple[Kind, tuple[Part, ...]]]] = {
    frozenset(): ("colour", ("hra",)),
    frozenset({"Hra"}): ("colour", ("hra",)),
    frozenset({"Sedma"}): ("colour", ("hra", "sedma")),
    frozenset({"Hra", "Sedma"}): ("colour", ("hra", "sedma")),
    frozenset({"Kilo"}): ("colour", ("sto",)),
    frozenset({"Kilo", "Sedma"}): ("colour", ("sto", "sedma")),
    frozenset({"Betl"}): ("betl", ()),
    frozenset({"Durch"}): ("durch", ()),
}
_PART: Final[dict[str, Part]] = {
    "Hra": "hra", "Sedma": "sedma", "Kilo": "sto", "Betl": "betl", "Durch": "durch",
    "SedmaProti": "sedma_proti", "KiloProti": "sto_proti",
}


class Imported(NamedTuple):
    """A record made of a file: `accepted` with its result, `partial` when the deal is not at its end.

    `notes` say what was not told and had to be chosen, or could not be taken over.
    """

    status: Literal["accepted", "partial"]
    record: Json
    notes: tuple[str, ...]


class _Plan(NamedTuple):
    """What the moves before the first trick must lead to."""

    seat: int
    game: Kind
    contract: tuple[Part, ...]
    trump_card: int
    talon: tuple[int, ...]
    levels: tuple[int, ...]
    protis: tuple[bool, ...]


def import_hra(hra: Hra) -> Imported:
    """The record of a file. Raises Refused, with the place of the first thing that cannot have been so."""
    if not hra.tricks and not hra.talon and len(hra.hands[hra.chooser]) == HAND + 2:
        return _undecided(hra)
    plan, notes = _plan(hra)
    deck = _deck(plan.seat, _held(hra, plan))
    record = new_record("voleny", {"preset": PRESET}, (plan.seat - 1) % SEATS, deck)
    moves: list[Move] = []
    state = _dealt(hra.chooser, deck)
    state = _follow(state, _opening(plan), moves, "before the first trick")
    if hra.tricks or any(plan.levels) or any(plan.protis):
        state = _doubled(state, plan, moves)
        state = _played(state, hra, moves, notes)
    record["moves"] = [recorded(move.seat, move) for move in moves]
    if not isinstance(state, Over):
        notes += _other_moment(state, hra)
        return Imported("partial", record, tuple(notes))
    record["result"] = dump_result(state.result)
    _check_result(state, hra, plan, notes)
    return Imported("accepted", record, tuple(notes))


def _undecided(hra: Hra) -> Imported:
    """The cards before a choice of trumps: the first seven of twelve are the first packet."""
    seats = [(hra.chooser + step) % SEATS for step in range(SEATS)]
    _expect([len(hra.hands[seat]) for seat in seats] == [HAND + 2, HAND, HAND], "wrong_cards", "", "The forehand "
            "holds twelve cards, the others ten each.")
    record = new_record("voleny", {"preset": PRESET}, (hra.chooser - 1) % SEATS, _deck(hra.chooser, hra.hands))
    chosen = f"; {' '.join(hra.kinds)} was chosen, and no talon yet" if hra.kinds else ""
    return Imported("partial", record, (f"the cards alone{chosen}",))


def _plan(hra: Hra) -> tuple[_Plan, list[str]]:
    notes: list[str] = []
    kinds = frozenset(hra.kinds)
    for side in ("Kilo", "Sedma"):
        _expect(not {side, f"{side}Proti"} <= kinds, "contract_contradicts", "Hra",
                f"Typ has {side} together with {side}Proti; nobody announces against what the declarer announced.")
    protis = {f"{side}Proti" for side in ("Kilo", "Sedma")}
    if kinds - protis not in _CONTRACTS:
        raise Refused("contract_contradicts", "Hra", f"Typ={' '.join(hra.kinds)!r} is no contract.")
    game, contract = _CONTRACTS[kinds - protis]
    _expect((hra.trump is None) == (game != "colour"), "contract_contradicts", "Hra",
            "Trumf belongs to a game with trumps, and to no other.")
    if not hra.kinds:
        notes.append("Typ is not told: hra was assumed")
    talon = hra.talon or _missing(hra)
    if not hra.talon:
        notes.append(f"the talon is not told: {' '.join(CODES[card] for card in talon)} are the cards that are left")
    if game == "colour" and (high := mask_of(talon) & TENS_AND_ACES):
        raise Refused("ace_or_ten_in_talon", "Talon", f"{CODES[cards_of(high)[0]]} in the talon of a trump game.")
    own = _own(hra, hra.chooser)
    kept = [card for card in cards_of(mask_of(own)) if hra.trump is None or card // 8 == hra.trump]
    _expect(bool(kept), "wrong_cards", f"Hrac{hra.chooser + 1}", "He chose a suit of which he has no card.")
    notes.append(f"the trump card is not told: {CODES[kept[0]]} was chosen" if hra.trump is not None else
                 "the forehand and his trump card are not told: the declarer was assumed to be forehand")
    if hra.raises:
        notes.append("who joined a raise is not read: nobody was assumed to")
    counts = {_PART[kind]: count for kind, count in hra.raises.items()}
    return _Plan(
        hra.chooser, game, contract, kept[0], tuple(sorted(talon)), tuple(counts.get(part, 0) for part in PARTS),
        tuple(any(_PART[kind] == proti for kind in kinds) for proti in PROTIS),
    ), notes


def _own(hra: Hra, seat: int) -> tuple[int, ...]:
    """The ten cards that a seat went into play with."""
    own = (*hra.hands[seat], *(trick.cards[seat] for trick in hra.tricks))
    _expect(len(own) == HAND, "wrong_cards", f"Hrac{seat + 1}",
            f"{len(own)} cards in hand and played; he went into play with {HAND}.")
    return own


def _missing(hra: Hra) -> tuple[int, ...]:
    everywhere = mask_of(card for seat in range(SEATS) for card in _own(hra, seat))
    return cards_of(ALL_CARDS & ~everywhere)


def _held(hra: Hra, plan: _Plan) -> tuple[tuple[int, ...], ...]:
    """The cards as dealt; the trump card comes first, so that it lies in the first packet."""
    hands = [_own(hra, seat) for seat in range(SEATS)]
    own = tuple(card for card in hands[plan.seat] if card != plan.trump_card)
    hands[plan.seat] = (plan.trump_card, *own, *plan.talon)
    return tuple(hands)


def _deck(forehand: int, hands: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """The cards in dealing order: 7 5 5, then 5 5 5 (§2.2)."""
    first, second, third = (hands[(forehand + step) % SEATS] for step in range(SEATS))
    return (*first[:7], *second[:5], *third[:5], *first[7:], *second[5:], *third[5:])


def _dealt(forehand: int, deck: tuple[int, ...]) -> State:
    deal = Deal(rules=PRESETS[PRESET], dealer=(forehand - 1) % SEATS, deck=deck)
    return _GAME.fold(_GAME.decide(_GAME.initial, deal))


def _opening(plan: _Plan) -> Iterator[Move]:
    """Trumps, talon, game; what the others answer and what is announced depends on the phase."""
    yield ChooseTrump(seat=plan.seat, card=plan.trump_card)
    yield Discard(seat=plan.seat, cards=plan.talon)
    yield declares(plan.seat, plan.game)
    if plan.game == "colour":
        yield from (Good(seat=(plan.seat + step) % SEATS) for step in (1, 2))
        yield announces(plan.seat, plan.contract)


def _follow(state: State, wanted: Iterator[Move], moves: list[Move], place: str) -> State:
    for move in wanted:
        state = _step(state, move, place)
        moves.append(move)
    return state


def _step(state: State, move: Move, place: str) -> State:
    try:
        return _GAME.fold(_GAME.decide(state, move), state)
    except RuleViolation as refusal:
        words = " ".join(f"{name} {value}" for name, value in dump_move(move).items() if name != "type")
        raise Refused(refusal.code, place, f"The rules refuse {dump_move(move)['type']} {words}.".replace(" .", ".")) \
            from None


def _doubled(state: State, plan: _Plan, moves: list[Move]) -> State:
    """Up to the first trick, with just the raises and proti that the file tells."""
    assert isinstance(state, Doubling)
    path = _words(state, plan)
    if path is None:
        raise Refused("doubling_impossible", "Fleky", "No order of raises leads to these levels.")
    return _follow(state, iter(path), moves, "Fleky")


def _words(state: State, plan: _Plan) -> list[Move] | None:
    """The words to the beginning of play at the levels of the plan, raises first; None: there are none."""
    if not isinstance(state, Doubling):
        done = isinstance(state, Playing | Over) and _levels(state) == (plan.levels, plan.protis)
        return [] if done else None
    words = [move for move in _GAME.legal(state) if isinstance(move, Good | Flek)]
    for move in sorted(words, key=lambda word: _eagerness(state, word)):
        after = _GAME.fold(_GAME.decide(state, move), state)
        levels, protis = _levels(after)
        if any(map(int.__gt__, levels, plan.levels)) or any(map(bool.__gt__, protis, plan.protis)):
            continue
        rest = _words(after, plan)
        if rest is not None:
            return [move, *rest]
    return None


def _eagerness(state: Doubling, move: Good | Flek) -> tuple[int, int]:
    """Sorts what raises and announces most before the rest, and joining the partner's raise last."""
    if isinstance(move, Good):
        return 0, 0
    joined = (bits_of(move.raises) & state.said).bit_count()
    return joined - len(move.raises) - len(move.announces), joined


def _levels(state: State) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """The level of each part, and which proti were announced."""
    ended = state.ended if isinstance(state, Over) else state
    fixed = ended.contract if isinstance(ended, Playing) else ended
    assert isinstance(fixed, Doubling | Contract)
    return fixed.levels, tuple(seat != NOBODY for seat in fixed.protis)


def _played(state: State, hra: Hra, moves: list[Move], notes: list[str]) -> State:
    for number, trick in enumerate(hra.tricks, 1):
        if isinstance(state, Over):
            notes.append(f"the deal was decided before Stych {number}: {len(hra.tricks) - number + 1} left out")
            return state
        leader = state.seat
        _expect(trick.leader == leader, "wrong_leader", f"Stych {number}",
                f"Hrac{trick.leader + 1} leads; it is Hrac{leader + 1}'s to lead.")
        for step in range(SEATS):
            if isinstance(state, Over):
                break
            seat = (leader + step) % SEATS
            state = _follow(state, iter((_card(state, seat, trick.cards[seat]),)), moves,
                            f"Stych {number}, Hrac{seat + 1}")
    return state


def _card(state: State, seat: int, card: int) -> PlayCard:
    """The card, with the word where the rules ask for one: a marriage is announced."""
    announced = play(seat, card, True)
    return announced if announced in _GAME.legal(state) else play(seat, card)


def _check_result(state: Over, hra: Hra, plan: _Plan, notes: list[str]) -> None:
    """The points of the file are ours; so is the money, unless the table paid other rates, which it does not tell."""
    for seat in range(SEATS):
        side = seat != plan.seat
        ours = state.result.points[side] + sum(state.result.marriages[side])
        _expect(hra.points[seat] in (None, ours), "points_differ", f"Zuctovani, Hrac{seat + 1}",
                f"Body={hra.points[seat]}; by the rules {ours}.")
    paid = state.result.payments
    if any(ours not in (None, theirs) for ours, theirs in zip(hra.money, paid, strict=True)):
        notes.append(f"Zisk is {hra.money}, by the rates of the preset {PRESET} {paid}")


def _other_moment(state: State, hra: Hra) -> Iterator[str]:
    """What a file of an unfinished deal says about its moment, where the tricks say otherwise."""
    if not isinstance(state, Playing):
        return
    if hra.leader not in (None, state.seat):
        yield f"Zacina is Hrac{hra.leader + 1}; by the tricks it is Hrac{state.seat + 1}'s to lead"
    for seat in range(SEATS):
        ours = points_so_far(state, seat)
        if hra.points[seat] not in (None, ours):
            yield f"Body of Hrac{seat + 1} is {hra.points[seat]}; by the tricks so far {ours}"


def points_so_far(state: Playing, seat: int) -> int:
    """Tens and aces in the tricks that the seat took, and its marriages."""
    cards = mask_of(card for taker, trick in state.taken if taker == seat for card in trick)
    return 10 * (cards & TENS_AND_ACES).bit_count() + sum(points for who, points in state.marriages if who == seat)


def _expect(holds: bool, code: str, place: str, message: str) -> None:
    if not holds:
        raise Refused(code, place, message)
