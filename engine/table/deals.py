"""How a deal of a table is committed to and starts, and what its end brings: payment, free seats, the standing."""

from engine.errors import RuleViolation
from engine.fairness import commitments
from engine.table.commands import Close, StartDeal
from engine.table.events import (
    BecameReady,
    ChipsBrought,
    DealCommitted,
    DealEnded,
    DealStarted,
    Event,
    NoncesJoined,
    RoundExtended,
    SeatLeft,
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
    awaited,
    game_of,
    held,
    is_short,
    next_seat,
    places,
    settings,
)

EXTRA_DEALS = 3


def start_deal(session: Session, command: StartDeal) -> tuple[Event, ...]:
    """The first dealer is drawn; then the old forehand deals (§2.1)."""
    if session.stage != "lobby" or command.version_seen != command.version or not all_ready(session):
        raise RuleViolation("stale")
    dealer = command.first_dealer if session.dealer is None else next_seat(session.dealer)
    bought_in = _house_buy_ins(session, command.transfer)
    if command.seed:
        return (*bought_in, _committed(session, command, dealer))
    started = DealStarted(deal=session.deal + 1, dealer=dealer, sealed_key=command.sealed_key)
    return (*bought_in, started, *_dealt(session, dealer, command.deck))


def _committed(session: Session, command: StartDeal, dealer: int) -> DealCommitted:
    """The order of the cards, fixed before any nonce is known."""
    name = f"{command.table}/{session.deal + 1}"
    leaves = commitments.leaves(name, command.seed, command.deck)
    given = tuple("" if occupant is None else occupant.commitment for occupant in session.seats)
    return DealCommitted(
        name=name,
        deal=session.deal + 1,
        dealer=dealer,
        root=commitments.root_of(leaves).hex(),
        server_commitment=commitments.commitment_to(commitments.server_nonce(command.seed)).hex(),
        commitments=given,
        leaves=tuple(leaf.hex() for leaf in leaves) if any(given) else (),
        order=command.deck,
        seed=command.seed.hex(),
        sealed_key=command.sealed_key,
    )


def deal_once_revealed(table: Table, *, in_time: bool = True) -> tuple[Event, ...]:
    """Nothing while a nonce is awaited; then, or when time is up, the deal that root and nonces decide."""
    session, secret = table.session, table.secret
    if session.stage != "reveal" or (in_time and awaited(session)):
        return ()
    fairness = session.fairness
    assert fairness is not None, "a deal was committed to by nobody"
    assert secret is not None, "a deal was committed to and nothing opens it"
    server = commitments.server_nonce(secret.seed)
    nonces = [bytes.fromhex(nonce) if nonce else None for nonce in fairness.nonces]
    places = commitments.permutation(bytes.fromhex(fairness.root), server, nonces)
    dealt = _dealt(session, fairness.dealer, tuple(secret.order[leaf] for leaf in places))
    joined = NoncesJoined(server_nonce=server.hex(), nonces=fairness.nonces)
    return (joined, DealStarted(deal=fairness.deal, dealer=fairness.dealer), *dealt)


def _dealt(session: Session, dealer: int, deck: tuple[int, ...]) -> tuple[Event, ...]:
    game = game_of(session)
    return game.decide(game.initial, Deal(rules=settings(session).rules, dealer=dealer, deck=deck))


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
    """A table at which nobody starts a deal ends as if its last one were played: its chips go home.

    In a deal whoever is there has left it, as if he had said so: bots play it to its end, and then all seats are free.
    Where there is a clock a deal goes on by itself.
    """
    if command.version_seen != command.version:
        raise RuleViolation("stale")
    if session.stage == "lobby":
        return _finish(session)
    left = tuple(SeatLeft(seat=seat, player=held(session, seat).player) for seat in _present(session))
    if session.stage != "deal" or settings(session).turn_seconds is not None or not left:
        raise RuleViolation("stale")
    return left


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
