"""The deal record: one deal as a document, `marias-deal/1`, and what running one answers."""

from typing import Final, NamedTuple

from engine.cards import CARDS
from engine.errors import RuleViolation
from engine.games import GAMES
from engine.games.voleny.commands import Deal
from engine.games.voleny.rules import Rules
from engine.games.voleny.state import State
from engine.notation import CODES
from schemas.errors import Malformed
from schemas.games import WIRE
from schemas.values import SEAT, Value, cards, choice, dump_facts, field, read_fields

FORMAT: Final = "marias-deal/1"
Json = dict[str, object]


class Record(NamedTuple):
    """A record of the right shape, but for the moves, which are looked at one by one."""

    game: str
    rules: Rules
    dealer: int
    deck: tuple[int, ...]
    moves: list[object]
    result: Json | None


def run_record(value: object) -> Json:
    """The answer to a record: where it ends, or the first move that is refused, or what is wrong with it."""
    try:
        record = load_record(value)
    except Malformed as error:
        return bad_record(error)
    game, wire = GAMES[record.game], WIRE[record.game]
    state = dealt(record)
    for number, body in enumerate(record.moves):
        try:
            for event in game.decide(state, wire.load_move(*seat_and_body(body))):
                state = game.evolve(state, event)
        except Malformed as error:
            return _refused(number, "bad_move", {"field": error.field, "message": error.message})
        except RuleViolation as refusal:
            return _refused(number, refusal.code, dump_facts(refusal.facts))
    return _answer(record, state)


def bad_record(error: Malformed) -> Json:
    """The answer to what is no record."""
    return {"ok": False, "code": "bad_record", "detail": {"field": error.field, "message": error.message}}


def load_record(value: object) -> Record:
    """The record of a JSON value. Raises Malformed."""
    if not isinstance(value, dict):
        raise Malformed("", "Not a valid object.")
    values = read_fields(_FIELDS, value)
    game = values["game"]
    assert isinstance(game, str)
    try:
        rules = WIRE[game].load_rules(values["rules"])
    except Malformed as error:
        raise Malformed(f"rules.{error.field}".rstrip("."), error.message) from None
    return Record(
        game,
        rules,
        values["dealer"],  # type: ignore[arg-type]  # Read as a seat.
        values["deck"],  # type: ignore[arg-type]  # Read as cards.
        values.get("moves", []),  # type: ignore[arg-type]  # Read as a list.
        values.get("result"),  # type: ignore[arg-type]  # Read as an object.
    )


def canonical(value: Json, result: object = None) -> Json:
    """A record that runs, as this program writes it: fields, sets and parts in their order; with `result`, if any.

    The rules stand as they were told: two ways to tell the same are both right. Raises Malformed.
    """
    record = load_record(value)
    wire = WIRE[record.game]
    moves = []
    for body in record.moves:
        seat, move = seat_and_body(body)
        moves.append({"seat": seat, **wire.dump_move(wire.load_move(seat, move))})
    head = {"format": FORMAT, "game": record.game, "rules": value["rules"], "dealer": record.dealer}
    written: Json = {**head, "deck": [CODES[card] for card in record.deck], "moves": moves}
    return written if result is None else {**written, "result": result}


def dealt(record: Record) -> State:
    """The deal before its first move."""
    game = GAMES[record.game]
    deal = Deal(rules=record.rules, dealer=record.dealer, deck=record.deck)
    return game.fold(game.decide(game.initial, deal))


def seat_and_body(move: object) -> tuple[int, Json]:
    """The seat of a recorded move, and the move without it. Raises Malformed."""
    if not isinstance(move, dict):
        raise Malformed("", "Not a valid object.")
    body = dict(move)
    try:
        seat = SEAT.read(body.pop("seat", None))
    except ValueError as error:
        raise Malformed("seat", str(error)) from None
    assert isinstance(seat, int)
    return seat, body


def same_result(result: object, given: object) -> bool:
    """Whether a given result says the same: parts in any order, and nothing missing, added or of another type."""
    if type(result) is not type(given):
        return False
    if isinstance(result, dict) and isinstance(given, dict):
        return result.keys() == given.keys() and all(_same(name, result[name], given[name]) for name in result)
    if isinstance(result, list) and isinstance(given, list):
        return len(result) == len(given) and all(map(same_result, result, given))
    return result == given


def _same(name: object, result: object, given: object) -> bool:
    if name == "parts" and isinstance(result, list) and isinstance(given, list):
        return same_result(sorted(result, key=_part), sorted(given, key=_part))
    return same_result(result, given)


def _part(row: object) -> str:
    return str(row.get("part")) if isinstance(row, dict) else ""


def _refused(number: int, code: str, detail: Json) -> Json:
    return {"ok": False, "move": number, "code": code, "detail": detail}


def _answer(record: Record, state: State) -> Json:
    game, wire = GAMES[record.game], WIRE[record.game]
    result = game.result(state)
    dumped = None if result is None else wire.dump_result(result)
    if record.result is not None and not same_result(dumped, record.result):
        return {"ok": False, "code": "result_mismatch", "detail": {"result": dumped}}
    return {
        "ok": True,
        "moves": len(record.moves),
        "finished": dumped is not None,
        "to_act": list(game.to_act(state)),
        "legal": [wire.dump_move(move) for move in game.legal(state)],
        "result": dumped,
    }


def _listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("Not a valid list.")
    return value


def _object(value: object) -> Json:
    if not isinstance(value, dict):
        raise ValueError("Not a valid object.")
    return value


def _any(value: object) -> object:
    return value


_FIELDS: Final = (
    field("format", choice(FORMAT)),
    field("game", choice(*WIRE)),
    field("rules", Value(name="rules", read=_any, write=_any)),
    field("dealer", SEAT),
    field("deck", cards(CARDS)),
    field("moves", Value(name="moves", read=_listed, write=_any), required=False),
    field("result", Value(name="result", read=_object, write=_any), required=False),
)
