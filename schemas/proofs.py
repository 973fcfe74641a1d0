"""The proof of a deal, `marias-proof/1`, from its events: as a seat, a spectator or an auditor may hold it.

What is checked in it, and how, is in `engine/fairness/check.py`.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from engine.cards import cards_of
from engine.fairness import commitments
from engine.fairness.check import AUDITOR, FORMAT
from engine.fairness.commitments import TALON
from engine.games.voleny import VOLENY
from engine.games.voleny.events import CardPlayed, Dealt, Discarded, HandCompleted, TakenOver, TrumpTurned
from engine.games.voleny.rules import PACKETS
from engine.games.voleny.state import Declaring
from engine.notation import CODES
from engine.table import SEATS
from engine.table.events import (
    CardOpened,
    DealCommitted,
    DealEnded,
    Event,
    HandsCommitted,
    NoncesJoined,
    OfTable,
    SatDown,
    SeatLeft,
)
from engine.table.openings import salts_of_round, sealed

Json = dict[str, object]
Holder = int | None | Literal["auditor"]
"""Who holds the proof: whoever played a seat, a spectator (None), an auditor."""
_FIRST: Final = 7


def proof_of(events: Iterable[Event], holder: Holder) -> Json | None:
    """The proof of the one deal that `events` tell of, from its commitment on, up to now if it is still running; what
    they tell of the time before it does not count.

    Who was away for a time knows what he was told while he was there, and `present` is false. None for a deal that has
    not been dealt yet, or was dealt without any commitment.
    """
    told = _Told(holder)
    for event in events:
        told.turn(event)
    return told.document()


class _Told:
    """What the holder has been told so far."""

    def __init__(self, holder: Holder) -> None:
        self._holder = holder
        self._is_there = self._was_always_there = True
        self._commit: DealCommitted | None = None
        self._joined: NoncesJoined | None = None
        self._state = VOLENY.initial
        self._deck: tuple[int, ...] = ()
        self._dealt: list[Json] = []
        self._rounds: list[Json] = []
        self._hands: list[Json] = []
        self._talons: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._opened: list[Json] = []
        self._finished = False
        self._salts: tuple[tuple[bytes, ...], ...] = ()

    def turn(self, event: Event) -> None:
        """Take one event in."""
        if not isinstance(event, OfTable):
            if self._joined is not None and not self._finished:
                self._state = VOLENY.evolve(self._state, event)
                self._game(event)
            return
        match event:
            case DealCommitted():
                self._commit = event
                self._is_there = self._was_always_there = True  # Whoever left before was another holder of the seat.
            case NoncesJoined():
                self._joined = event
            case SeatLeft(seat=seat) if seat == self._holder:
                self._is_there = self._was_always_there = False
            case SatDown(seat=seat) if seat == self._holder:
                self._is_there = True
            case HandsCommitted():
                self._committed(event)
            case CardOpened():
                self._opened[-1]["salt"] = event.salt  # What was told counts, whatever should have been.
            case DealEnded():
                self._finished = True
            case _:
                pass

    def document(self) -> Json | None:
        """The proof."""
        commit, joined = self._commit, self._joined
        if commit is None or joined is None or not self._deck:
            return None
        table, _, _ = commit.name.rpartition("/")
        leaves = commitments.leaves(commit.name, self._seed, commit.order)
        proof: Json = {
            "format": FORMAT,
            "table": table,
            "deal": commit.deal,
            "seat": self._holder,
            "dealer": commit.dealer,
            "finished": self._finished,
            "present": self._was_always_there,
            "root": commit.root,
            "server_commitment": commit.server_commitment,
            "commitments": [each or None for each in commit.commitments],
            "server_nonce": joined.server_nonce,
            "nonces": [each or None for each in joined.nonces],
            "leaves": list(commit.leaves) or [leaf.hex() for leaf in leaves],
            "dealt": self._dealt,
            "rounds": self._rounds,
            "hands": self._hands,
            "talons": [self._talon(number, *laid) for number, laid in sorted(self._talons.items())],
            "opened": self._opened,
        }
        if self._holder == AUDITOR:
            proof |= {
                "seed": commit.seed,
                "order": [CODES[card] for card in commit.order],
                "sealed_key": commit.sealed_key,
            }
        return proof

    @property
    def _seed(self) -> bytes:
        assert self._commit is not None, "nothing was committed to"
        return bytes.fromhex(self._commit.seed)

    def _knows(self, seat: int) -> bool:
        return self._holder == AUDITOR or (self._holder == seat and self._is_there)

    def _game(self, event: Event) -> None:
        match event:
            case Dealt(deck=deck, dealer=dealer):
                assert deck is not None
                self._deck = deck
                for seat in filter(self._knows, range(SEATS)):
                    places = PACKETS[(seat - dealer - 1) % SEATS]
                    self._leaves(places[:_FIRST] if len(places) > 10 else places)
            case HandCompleted(seat=seat) if self._knows(seat):
                self._leaves(PACKETS[0][_FIRST:])
            case Discarded(seat=seat, cards=cards) if self._knows(seat):
                assert cards is not None
                self._talons[len(self._rounds) + 1] = (seat, cards)
            case TakenOver(seat=seat, cards=cards) if self._knows(seat):
                assert cards is not None
                self._talons[len(self._rounds)] = (self._discarder, cards)
            case CardPlayed(seat=seat, card=card):
                self._open("play", seat, card)
            case TrumpTurned(card=card):
                self._open("turn", self._discarder, card)
            case _:
                pass

    @property
    def _discarder(self) -> int:
        seat = self._rounds[-1]["seat"]
        assert isinstance(seat, int)
        return seat

    def _leaves(self, places: Sequence[int]) -> None:
        assert self._commit is not None, "nothing was committed to"
        salts, order = commitments.leaf_salts(self._seed), self._commit.order
        for place in places:
            card = self._deck[place]
            salt = salts[order.index(card)].hex()
            self._dealt.append({"place": place, "card": CODES[card], "salt": salt})

    def _committed(self, event: HandsCommitted) -> None:
        assert self._commit is not None, "nothing was committed to"
        assert isinstance(self._state, Declaring)
        hands = tuple(map(cards_of, self._state.hands))
        laid = (event.seat, cards_of(self._state.talon))
        self._salts = salts_of_round(self._seed, event.round)
        tokens, talon = sealed(self._commit.name, self._salts, event.round, hands, laid)
        self._rounds.append({
            "round": event.round,
            "seat": event.seat,
            "commitment": event.commitment,
            "tokens": [list(hand) for hand in event.tokens] or [[each.hex() for each in hand] for hand in tokens],
            "talon": event.talon or talon.hex(),
        })
        for seat in filter(self._knows, range(SEATS)):
            self._hands += [self._token(event.round, seat, card) for card in hands[seat]]

    def _token(self, number: int, seat: int, card: int) -> Json:
        return {"round": number, "seat": seat, "card": CODES[card], "salt": self._salts[seat][card].hex()}

    def _open(self, by: str, seat: int, card: int) -> None:
        self._opened.append({"by": by, **self._token(len(self._rounds), seat, card)})

    def _talon(self, number: int, seat: int, cards: tuple[int, ...]) -> Json:
        salts = commitments.round_salts(commitments.seat_key(self._seed, seat), number)
        return {"round": number, "cards": [CODES[card] for card in sorted(cards)], "salt": salts[TALON].hex()}
