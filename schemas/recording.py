"""Writing deal records: from the events of a deal, and as far as one seat may know it."""

from collections.abc import Iterable
from typing import Final

from engine.games.voleny.commands import (
    ChooseTrump,
    Command,
    Declare,
    Discard,
    Good,
    Move,
    TakeOver,
    announces,
    flek,
    play,
)
from engine.games.voleny.events import (
    CardPlayed,
    ContractAnnounced,
    DealScored,
    Dealt,
    Discarded,
    Doubled,
    Event,
    GameDeclared,
    SaidGood,
    TakenOver,
    TrumpChosen,
)
from engine.games.voleny.rules import PACKETS, SEATS, bits_of, parts_of
from engine.notation import CODES
from schemas.games.voleny_events import dump_result
from schemas.games.voleny_rules import name_rules
from schemas.moves import dump_move
from schemas.records import FORMAT, Json

UNKNOWN: Final = "??"
RECORDED: Final = frozenset(
    {
        CardPlayed, ContractAnnounced, DealScored, Dealt, Discarded, Doubled, GameDeclared, SaidGood, TakenOver,
        TrumpChosen,
    }
)
"""The events that a record is made of; what follows from them by itself is not in it."""


def record_of(events: Iterable[Event]) -> Json:
    """The record of a deal from its events; of a running one as far as it has come."""
    record: Json = {}
    moves: list[Json] = []
    for event in events:
        match event:
            case Dealt(deck=deck):
                assert deck is not None
                record = new_record("voleny", name_rules(event.rules), event.dealer, deck)
                record["moves"] = moves
            case DealScored(result=result):
                record["result"] = dump_result(result)
            case _:
                if (move := move_of(event)) is not None:
                    moves.append(recorded(move.seat, move))
    return record


def new_record(game: str, rules: Json, dealer: int, deck: tuple[int, ...]) -> Json:
    """A record without moves; `rules` are a preset and any overrides."""
    return {
        "format": FORMAT,
        "game": game,
        "rules": rules,
        "dealer": dealer,
        "deck": [CODES[card] for card in deck],
        "moves": [],
    }


def recorded(seat: int, move: Command) -> Json:
    """The move as a record holds it, with its seat."""
    return {"seat": seat, **dump_move(move)}


def move_of(event: Event) -> Move | None:
    """The move that caused the event; None for what follows by itself."""
    match event:
        case CardPlayed(seat=seat, card=card, marriage=marriage):
            return play(seat, card, marriage)
        case TrumpChosen(seat=seat, card=card, blind=blind):
            return ChooseTrump(seat=seat, card=card if blind is None else None, blind=blind)
        case Discarded(seat=seat, cards=cards):
            assert cards is not None
            return Discard(seat=seat, cards=cards)
        case GameDeclared(seat=seat, game=game):
            return Declare(seat=seat, game=game)
        case SaidGood(seat=seat):
            return Good(seat=seat)
        case TakenOver(seat=seat):
            return TakeOver(seat=seat)
        case ContractAnnounced(seat=seat, contract=contract):
            return announces(seat, contract)
        case Doubled(seat=seat, raises=raises, joins=joins):
            return flek(seat, parts_of(bits_of(raises) | bits_of(joins)), event.announces)
        case _:
            return None


def record_for(record: Json, seat: int | None) -> Json:
    """The record as far as `seat` may know it; a spectator is None. What he may not know is absent or `??`.

    Also after the deal: what was not played stays unknown (§3.5), and a place in the deck would tell what was kept.
    """
    moves = record["moves"]
    assert isinstance(moves, list)
    return {
        **record,
        "deck": deck_for(record, seat),
        "moves": [move if move["seat"] == seat else without_secrets(move) for move in moves],
    }


def deck_for(record: Json, seat: int | None) -> list[str]:
    """The deck of a record as far as `seat` may know it, `??` for all else."""
    dealer, deck, moves = record["dealer"], record["deck"], record["moves"]
    assert isinstance(dealer, int)
    assert isinstance(deck, list)
    own = _places_of(dealer, seat, begun=bool(moves))
    return [code if place in own else UNKNOWN for place, code in enumerate(deck)]


def _places_of(dealer: int, seat: int | None, *, begun: bool) -> tuple[int, ...]:
    """Where in the deck the cards lie that `seat` has seen; the forehand sees seven until trumps are chosen (§2.3)."""
    if seat is None:
        return ()
    places = PACKETS[(seat - dealer - 1) % SEATS]
    return places[:7] if len(places) == 12 and not begun else places


def without_secrets(move: Json) -> Json:
    """What others see of a move. A marriage that was withheld would tell of the other card."""
    secret = {"discard": "cards", "choose_trump": "card"}.get(str(move["type"]))
    if move.get("marriage") is False:
        secret = "marriage"
    if secret not in move:
        return move
    return {name: value for name, value in move.items() if name != secret}
