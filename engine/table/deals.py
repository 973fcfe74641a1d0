"""How a deal of a table starts, and what its end brings: payment, free seats, three more deals, the standing."""

from engine.errors import RuleViolation
from engine.table.commands import Close, StartDeal
from engine.table.events import (
    BecameReady,
    ChipsBrought,
    DealEnded,
    DealStarted,
    Event,
    RoundExtended,
    TableFinished,
)
from engine.table.evolve import fold
from engine.table.play import Deal
from engine.table.seating import free_seat, return_chips
from engine.table.state import (
    SEATS,
    Session,
    Table,
    all_ready,
    game_of,
    is_short,
    next_seat,
    places,
    settings,
)

EXTRA_DEALS = 3


def start_deal(session: Session, command: StartDeal) -> tuple[Event, ...]:
    """The first dealer is drawn; then the old forehand deals (§2.1)."""
    if command.version_seen != command.version or not all_ready(session):
        raise RuleViolation("stale")
    dealer = command.first_dealer if session.dealer is None else next_seat(session.dealer)
    game = game_of(session)
    dealt = game.decide(game.initial, Deal(rules=settings(session).rules, dealer=dealer, deck=command.deck))
    started = DealStarted(deal=session.deal + 1, dealer=dealer, sealed_key=command.sealed_key)
    return (*_house_buy_ins(session, command.transfer), started, *dealt)


def _house_buy_ins(session: Session, transfer: str) -> tuple[Event, ...]:
    """Players must be able to pay before they are ready; bots are always ready, so the house pays for them."""
    return tuple(
        ChipsBrought(seat=seat, player="", chips=settings(session).buy_in, transfer=f"{transfer}-{seat}")
        for seat in range(SEATS)
        if is_short(session, seat)
    )


def end_of_deal(table: Table) -> tuple[Event, ...]:
    """Nothing while the game goes on; then everything that follows from its result, in one breath."""
    session = table.session
    if session.stage != "deal" or game_of(session).to_act(table.state):
        return ()
    result = game_of(session).result(table.state)
    assert result is not None, "a deal is over and has no result"
    ended = DealEnded(deal=session.deal, payments=result.payments)
    session = fold(table, (ended,)).session
    if session.deals is None or session.deal < session.deals:
        return (ended, *_make_room(session))
    if _first_place_is_shared(session) and not session.extended:
        return (ended, RoundExtended(deals=session.deals + EXTRA_DEALS), *_make_room(session))
    return (ended, *_finish(session))


def close(session: Session, command: Close) -> tuple[Event, ...]:
    """A table at which nobody starts a deal ends as if its last one were played: its chips go home."""
    if session.stage != "lobby" or command.version_seen != command.version:
        raise RuleViolation("stale")
    return _finish(session)


def _first_place_is_shared(session: Session) -> bool:
    return session.score.count(max(session.score)) > 1


def _make_room(session: Session) -> tuple[Event, ...]:
    """Seats left in the deal become free; with `auto_ready` the others wait for the next one by themselves."""
    freed = (event for seat in _away(session) for event in free_seat(session, seat))
    if not settings(session).auto_ready:
        return tuple(freed)
    return (*freed, *(BecameReady(seat=seat) for seat in _present(session) if not is_short(session, seat)))


def _finish(session: Session) -> tuple[Event, ...]:
    home = (event for seat in range(SEATS) for event in return_chips(session, seat))
    away = (free_seat(session._replace(bank=(0,) * SEATS), seat) for seat in _away(session))
    return TableFinished(standing=places(session)), *home, *(event for events in away for event in events)


def _away(session: Session) -> list[int]:
    return [seat for seat, occupant in enumerate(session.seats) if occupant is not None and occupant.away]


def _present(session: Session) -> list[int]:
    return [
        seat for seat, occupant in enumerate(session.seats) if occupant and not occupant.is_automatic
    ]
