"""Checking the proof of a deal, `marias-proof/1`, as the holder of a seat, a spectator or an auditor has it.

Nothing in a proof is believed, and `deploy/verify_deal.py` does the same without this program. The first thing that is
wrong is named by its place, as in `rounds[0].tokens[2]`.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from engine.fairness import commitments
from engine.fairness.commitments import CARDS, SALT, SEATS
from engine.fairness.shape import Unfair, at, card_at, flag_at, hex_at, list_at, number_at, text_at, this_number_at
from engine.games.voleny.rules import PACKETS
from engine.notation import CODES
from engine.shuffle import deck_from_key

FORMAT: Final = "marias-proof/1"
AUDITOR: Final = "auditor"
HAND: Final = 10
COMMON: Final = (
    "table", "deal", "dealer", "root", "leaves", "server_commitment", "commitments", "server_nonce", "nonces",
    "finished", "rounds", "opened",
)  # fmt: skip
"""What all proofs of a deal have in common, whoever holds them."""


class Round(NamedTuple):
    """What was committed to after a discard by `seat`."""

    number: int
    seat: int
    tokens: tuple[tuple[str, ...], ...]
    talon: str


class _Deal(NamedTuple):
    """What was read of a proof so far; `opened` are how, the seat and the card, `dealt` the card of each place,
    `hands` the round, the seat and the card, `talons` the cards by round."""

    proof: object
    name: str
    dealer: int
    rounds: Sequence[Round]
    opened: Sequence[tuple[str, int, int]]
    dealt: Mapping[int, int]
    hands: AbstractSet[tuple[int, int, int]] = frozenset()
    talons: Mapping[int, set[int]] = {}


class Checked(NamedTuple):
    """A proof that is right. `dealt` are the cards that its holder was dealt, by place of the deal."""

    table: str
    deal: int
    seat: object
    dealt: Mapping[int, int]
    given: tuple[bool, ...]
    """By seat: does the nonce come from the player?"""
    played: int
    finished: bool
    present: bool
    """Was the holder there all the time? Else what he held was not checked."""


def check(proof: object, key: bytes | None = None) -> Checked:
    """What a proof shows. `key` is the opened deal key, for auditors. Raises Unfair at the first fault."""
    if at(proof, "format") != FORMAT:
        raise Unfair("format", f"is not {FORMAT}")
    table, deal = text_at(proof, "table"), number_at(proof, "deal", 1, 10**9)
    dealer, seat = number_at(proof, "dealer", 0, SEATS - 1), at(proof, "seat")
    if seat not in (None, 0, 1, 2, AUDITOR) or isinstance(seat, bool | float):
        raise Unfair("seat", "is no seat, null or auditor")
    finished, present = flag_at(proof, "finished"), flag_at(proof, "present")
    places, given = _permutation(proof)
    start = _Deal(proof, f"{table}/{deal}", dealer, (), (), {})
    start = start._replace(rounds=_rounds(start))
    found = start._replace(opened=_opened(start), dealt=_dealt(start, places))
    found = found._replace(hands=_hands(found), talons=_talons(found))
    if seat != AUDITOR:
        _no_others(found, seat)
    if isinstance(seat, int) and present:  # Who was away for a time does not know all of it.
        _seat(found, seat, found.dealt)
    if seat == AUDITOR:
        for each in range(SEATS):
            own = PACKETS[(each - dealer - 1) % SEATS]
            _seat(found, each, {place: card for place, card in found.dealt.items() if place in own})
        _sealed(found, key)
    played = sum(by == "play" for by, _, _ in found.opened)
    return Checked(table, deal, seat, found.dealt, given, played, finished, present)


def check_together(proofs: Sequence[object]) -> list[Checked]:
    """Several proofs of one deal: each alone, that they agree, and that no card lies twice. Raises Unfair; the field
    begins with the number of the proof, from 1."""
    found: list[Checked] = []
    seen: dict[int, int] = {}
    for number, proof in enumerate(proofs, 1):
        try:
            found.append(checked := check(proof))
        except Unfair as fault:
            raise Unfair(f"{number}: {fault.field}", fault.why) from None
        for field in COMMON:
            if at(proof, field) != at(proofs[0], field):
                raise Unfair(f"{number}: {field}", "is not the same as in the first proof")
        for place, card in checked.dealt.items():
            if seen.get(place, card) != card or card in {seen[each] for each in seen if each != place}:
                raise Unfair(f"{number}: dealt", f"{CODES[card]} was dealt twice")
            seen[place] = card
    return found


def covers_the_deck(checked: Iterable[Checked]) -> bool:
    """Do these proofs of one deal together open all 32 leaves?"""
    return {place for each in checked for place in each.dealt} == set(range(CARDS))


def _permutation(proof: object) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    leaves = [hex_at(proof, f"leaves[{place}]") for place in range(len(list_at(proof, "leaves", CARDS)))]
    root, server = hex_at(proof, "root"), hex_at(proof, "server_nonce")
    if commitments.root_of(leaves) != root:
        raise Unfair("root", "is not that of the leaves")
    if commitments.commitment_to(server) != hex_at(proof, "server_commitment"):
        raise Unfair("server_nonce", "is not what the server had committed to")
    list_at(proof, "commitments", SEATS)
    list_at(proof, "nonces", SEATS)
    nonces = []
    for seat in range(SEATS):
        nonce, commitment = (
            None if at(proof, f"{name}[{seat}]") is None else hex_at(proof, f"{name}[{seat}]")
            for name in ("nonces", "commitments")
        )
        if nonce is not None and commitments.commitment_to(nonce) != commitment:
            raise Unfair(f"nonces[{seat}]", "is not what the seat had committed to")
        nonces.append(nonce)
    return commitments.permutation(root, server, nonces), tuple(nonce is not None for nonce in nonces)


def _rounds(deal: _Deal) -> list[Round]:
    proof, name, dealer = deal.proof, deal.name, deal.dealer
    rounds = []
    for index in range(len(list_at(proof, "rounds"))):
        place, number = f"rounds[{index}]", index + 1
        this_number_at(proof, f"{place}.round", number)
        seat = number_at(proof, f"{place}.seat", 0, SEATS - 1)
        if number == 1 and seat != (dealer + 1) % SEATS:
            raise Unfair(f"{place}.seat", "is not the forehand, who discards first")
        list_at(proof, f"{place}.tokens", SEATS)
        tokens = []
        for each in range(SEATS):
            where = f"{place}.tokens[{each}]"
            hand = [hex_at(proof, f"{where}[{number}]") for number in range(len(list_at(proof, where, HAND)))]
            if sorted(set(hand)) != hand:
                raise Unfair(where, "is not in the order of its bytes")
            tokens.append(tuple(hand))
        talon = hex_at(proof, f"{place}.talon")
        found = commitments.round_commitment(name, number, tokens, talon)
        if found != hex_at(proof, f"{place}.commitment"):
            raise Unfair(f"{place}.commitment", "is not that of the tokens and the talon")
        rounds.append(Round(number, seat, tuple(tuple(each.hex() for each in hand) for hand in tokens), talon.hex()))
    return rounds


def _opened(deal: _Deal) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    proof = deal.proof
    for index in range(len(list_at(proof, "opened"))):
        place = f"opened[{index}]"
        by = at(proof, f"{place}.by")
        if by not in ("play", "turn"):
            raise Unfair(f"{place}.by", "is neither play nor turn")
        seat, card = _token(deal, place, len(deal.rounds))
        if any(how == by and known == card for how, _, known in found):
            raise Unfair(f"{place}.card", f"{CODES[card]} was opened before")
        found.append((str(by), seat, card))
    return found


def _token(deal: _Deal, place: str, number: int) -> tuple[int, int]:
    """The seat and the card of what opens a token of round `number`."""
    proof, name, rounds = deal.proof, deal.name, deal.rounds
    if not rounds:
        raise Unfair(f"{place}.round", "is before the first discard")
    this_number_at(proof, f"{place}.round", number)
    seat, card = number_at(proof, f"{place}.seat", 0, SEATS - 1), card_at(proof, f"{place}.card")
    token = commitments.token(name, number, seat, card, hex_at(proof, f"{place}.salt", SALT))
    if token.hex() not in rounds[number - 1].tokens[seat]:
        raise Unfair(f"{place}.salt", f"opens no token of {CODES[card]} in the hand of seat {seat}")
    return seat, card


def _dealt(deal: _Deal, places: Sequence[int]) -> dict[int, int]:
    proof, name = deal.proof, deal.name
    found: dict[int, int] = {}
    for index in range(len(list_at(proof, "dealt"))):
        where = f"dealt[{index}]"
        place, card = number_at(proof, f"{where}.place", 0, CARDS - 1), card_at(proof, f"{where}.card")
        if place in found or card in found.values():
            raise Unfair(where, "tells a place or a card again")
        leaf = commitments.leaf(name, places[place], card, hex_at(proof, f"{where}.salt", SALT))
        if leaf != hex_at(proof, f"leaves[{places[place]}]"):
            raise Unfair(f"{where}.salt", f"does not open leaf {places[place]} as {CODES[card]}")
        found[place] = card
    return found


def _no_others(deal: _Deal, seat: object) -> None:
    """A spectator, and whoever holds a seat, knows nothing of others."""
    own = PACKETS[(seat - deal.dealer - 1) % SEATS] if isinstance(seat, int) else ()
    if not set(deal.dealt) <= set(own):
        raise Unfair("dealt", "opens cards that its holder may not know")
    if any(who != seat for _, who, _ in deal.hands):
        raise Unfair("hands", "opens cards that its holder may not know")


def _seat(deal: _Deal, seat: int, dealt: Mapping[int, int]) -> None:
    """What one seat holds from the deal to the last card, and that others play nothing of it."""
    own, rounds = PACKETS[(seat - deal.dealer - 1) % SEATS], deal.rounds
    few = not rounds and sorted(dealt) == sorted(own[:7])  # The forehand has seven at first.
    if sorted(dealt) != sorted(own) and not few:
        raise Unfair("dealt", f"is not what seat {seat} was dealt")
    hold, away = set(dealt.values()), set[int]()
    for number, discarder, _, _ in rounds:
        away = set()
        if discarder == seat:
            taken, away = deal.talons.get(number - 1, set()), deal.talons.get(number, set())
            if not away or (number > 1 and not taken) or not away <= hold | taken or hold & taken:
                raise Unfair("talons", f"cannot be what seat {seat} laid away and picked up in round {number}")
            hold = (hold | taken) - away
        if {card for told, who, card in deal.hands if (told, who) == (number, seat)} != hold or len(hold) != HAND:
            raise Unfair("hands", f"of round {number} are not what seat {seat} holds")
    for index, (_, who, card) in enumerate(deal.opened):
        if (card in hold) != (who == seat) or card in away:
            raise Unfair(f"opened[{index}].card", f"{CODES[card]} was not in the hand of seat {who}")


def _talons(deal: _Deal) -> dict[int, set[int]]:
    proof, name, rounds = deal.proof, deal.name, deal.rounds
    found: dict[int, set[int]] = {}
    for index in range(len(list_at(proof, "talons"))):
        where = f"talons[{index}]"
        number = number_at(proof, f"{where}.round", 1, len(rounds))
        list_at(proof, f"{where}.cards", 2)
        cards = {card_at(proof, f"{where}.cards[{each}]") for each in range(2)}
        if len(cards) < 2:
            raise Unfair(f"{where}.cards", "are not two")
        talon = commitments.talon(name, number, tuple(cards), hex_at(proof, f"{where}.salt", SALT))
        if talon.hex() != rounds[number - 1].talon:
            raise Unfair(f"{where}.salt", f"does not open the talon of round {number}")
        found[number] = cards
    return found


def _hands(deal: _Deal) -> frozenset[tuple[int, int, int]]:
    """The cards whose tokens the proof opens: the round, the seat and the card of each."""
    found = []
    for index in range(len(list_at(deal.proof, "hands"))):
        where = f"hands[{index}]"
        number = number_at(deal.proof, f"{where}.round", 1, len(deal.rounds))
        found.append((number, *_token(deal, where, number)))
    return frozenset(found)


def _sealed(deal: _Deal, key: bytes | None) -> None:
    """What only the auditor can see: that all comes from one seed, and that from the deal key."""
    proof = deal.proof
    seed = hex_at(proof, "seed")
    order = [card_at(proof, f"order[{place}]") for place in range(len(list_at(proof, "order", CARDS)))]
    if sorted(order) != list(range(CARDS)):
        raise Unfair("order", "is not a whole deck")
    if commitments.root_of(commitments.leaves(deal.name, seed, order)) != hex_at(proof, "root"):
        raise Unfair("root", "is not over the order and the seed")
    if commitments.server_nonce(seed) != hex_at(proof, "server_nonce"):
        raise Unfair("server_nonce", "does not come from the seed")
    if key is not None and commitments.seed_of(key) != seed:
        raise Unfair("seed", "does not come from the deal key")
    if key is not None and deck_from_key(key) != tuple(order):
        raise Unfair("order", "does not come from the deal key")
    keys = [commitments.seat_key(seed, seat) for seat in range(SEATS)]
    for index in range(len(list_at(proof, "hands"))):
        where = f"hands[{index}]"
        number = number_at(proof, f"{where}.round", 1, len(deal.rounds))
        salts = commitments.round_salts(keys[number_at(proof, f"{where}.seat", 0, SEATS - 1)], number)
        if salts[card_at(proof, f"{where}.card")] != hex_at(proof, f"{where}.salt", SALT):
            raise Unfair(f"{where}.salt", "does not come from the seed")
