"""The view of a volený deal as JSON members: byte for byte what `dump_public` and `dump_private` say, the shorter way.

A view is made for every move. What is the same for many moves is kept by its value, and sets of cards are joined from
four bytes, one for each suit.
"""

from functools import lru_cache
from itertools import combinations
from typing import Final

import msgspec

from engine.cards import CARDS, cards_of
from engine.games.voleny.commands import Move, PlayCard, discards, play
from engine.games.voleny.legal import discardable, legal
from engine.games.voleny.playing import cards_open
from engine.games.voleny.rules import SEATS
from engine.games.voleny.state import Discarding, Playing, State
from engine.games.voleny.view import Cards, Public, own
from engine.notation import CODES
from schemas.games.voleny import dump_public
from schemas.games.voleny_events import dump_result
from schemas.kept import by_identity
from schemas.moves import dump_move

_encode = msgspec.json.Encoder().encode

_OFTEN_EMPTY: Final = ("game", "proti", "open", "said")
"""What is absent rather than empty, to keep the view of a move small."""
_AGREED: Final = Public._fields.index("trick")
"""So many fields change seldom; the others tell what has been played."""
_NOTHING_PLAYED: Final = Public("over", None, ())[_AGREED:]


def public_bytes(view: Public, phase: str) -> bytes:
    """What everybody may know, in this `phase`; `game` is called `declared`, and stands last."""
    head = _agreed(phase, *view[1:_AGREED])
    if view[_AGREED:] == _NOTHING_PLAYED:
        return head + _UNPLAYED + _declared(view.game)
    first, second, third = view.tricks_taken
    declarer, defence = view.points
    told = b',"trick":%b,"last_trick":%b,"tricks_taken":[%d,%d,%d],"points":{"declarer":%d,"defence":%d},%b' % (
        _cards(view.trick), _last(view.last_trick), first, second, third, declarer, defence,
        _marriages(view.marriages),
    )
    result = b"" if view.result is None else b',"result":' + _encode(dump_result(view.result))
    return b"".join((head, told, result, _declared(view.game)))


def private_bytes(deal: State) -> tuple[bytes, ...]:
    """What only each seat may know, by seat."""
    if isinstance(deal, Playing):
        acting, left = deal.seat, deal.left
        return tuple([
            b'"seat":%d,"hand":[%b],"legal":[%b]'
            % (seat, _joined(_HANDS, hand & left), _legal(deal) if seat == acting else b"")
            for seat, hand in enumerate(deal.contract.hands)
        ])
    return tuple([_private(deal, seat) for seat in range(SEATS)])


def _private(deal: State, seat: int) -> bytes:
    hand, trump_card = own(deal, seat)
    trump = b"" if trump_card is None else b'"trump_card":"%b",' % CODES[trump_card].encode()
    moves = _legal(deal) if deal.seat == seat else b""
    return b'"seat":%d,"hand":[%b],%b"legal":[%b]' % (seat, _joined(_HANDS, hand), trump, moves)


def _legal(deal: State) -> bytes:
    """As `legal` has them, in that order."""
    if isinstance(deal, Playing) and not deal.contract.words[deal.seat]:
        return _joined(_PLAYS, cards_open(deal))
    if isinstance(deal, Discarding):
        return b",".join(map(_DISCARDS.__getitem__, combinations(cards_of(discardable(deal)), 2)))
    return b",".join(map(_move, legal(deal)))


def _move(move: Move) -> bytes:
    if isinstance(move, PlayCard) and move.marriage is None:
        return _PLAY[move.card]
    return _seldom(move)


@by_identity
def _seldom(move: Move) -> bytes:
    return _encode(dump_move(move))


@lru_cache(maxsize=4096)
def _agreed(*fields: object) -> bytes:
    members = dump_public(Public(*fields))  # type: ignore[arg-type]  # They are those of a Public, in order.
    for name in _OFTEN_EMPTY:
        if name == "game" or not members[name]:
            del members[name]
    return _encode(dict(list(members.items())[: list(members).index("trick")]))[1:-1]


@lru_cache(maxsize=8192)
def _cards(cards: Cards) -> bytes:
    return b"[%b]" % b",".join([b'{"seat":%d,"card":"%b"}' % (seat, CODES[card].encode()) for seat, card in cards])


@lru_cache(maxsize=8192)
def _last(trick: tuple[Cards, int] | None) -> bytes:
    return b"null" if trick is None else b'{"cards":%b,"winner":%d}' % (_cards(trick[0]), trick[1])


@lru_cache(maxsize=1024)
def _marriages(sides: tuple[tuple[int, ...], tuple[int, ...]]) -> bytes:
    return b'"marriages":' + _encode({"declarer": sides[0], "defence": sides[1]})


@lru_cache(maxsize=16)
def _declared(game: str | None) -> bytes:
    return b"" if game is None else b',"declared":"%b"' % game.encode()


_UNPLAYED: Final = b',"trick":[],"last_trick":null,"tricks_taken":[0,0,0],"points":{"declarer":0,"defence":0},' + (
    _marriages(((), ()))
)

_Joined = tuple[tuple[bytes, ...], ...]
_PLAY: Final = tuple([_encode(dump_move(play(0, card))) for card in range(CARDS)])
_DISCARDS: Final = {cards: _encode(dump_move(discard)) for cards, discard in discards(0).items()}


def _joined(by_suit: _Joined, cards: int) -> bytes:
    hearts, bells, acorns, leaves = by_suit
    return (hearts[cards & 255] + bells[cards >> 8 & 255] + acorns[cards >> 16 & 255] + leaves[cards >> 24])[:-1]


def _by_suit(texts: tuple[bytes, ...]) -> _Joined:
    """For each suit, and each set of its cards, their texts with a comma after each."""
    return tuple(
        tuple(b"".join(texts[8 * suit + rank] + b"," for rank in range(8) if ranks >> rank & 1) for ranks in range(256))
        for suit in range(4)
    )


_HANDS: Final = _by_suit(tuple([b'"%b"' % code.encode() for code in CODES]))
_PLAYS: Final = _by_suit(_PLAY)
