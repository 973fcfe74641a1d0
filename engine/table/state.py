"""A table as its events have made it: who sits where, how the session stands, and the game that runs inside."""

from typing import Literal, NamedTuple

from engine.table.events import DeadlineKind, Place, TableOpened
from engine.table.play import GAMES, AnyPlay, GameState

SEATS = 3

Stage = Literal["unopened", "lobby", "reveal", "deal", "over"]


class Occupant(NamedTuple):
    """Who holds a seat: a player, or a bot of policy `bot`. One who is `away` left his cards to a bot.

    `commitment` is that to his nonce for the next deal, "" for none.
    """

    player: str
    name: str
    bot: str
    away: bool
    ready: bool
    transfer: str
    commitment: str = ""

    @property
    def is_automatic(self) -> bool:
        """Does a bot play the cards of this seat?"""
        return self.away or self.bot != ""


class Deadline(NamedTuple):
    """Who is to act has until `at`, milliseconds since the epoch."""

    at: int
    kind: DeadlineKind


class Fairness(NamedTuple):
    """What all may know of how the coming or running deal was committed to; hashes and nonces are hexadecimal digits,
    by seat, "" where there is none."""

    deal: int
    dealer: int
    root: str
    server_commitment: str
    commitments: tuple[str, ...]
    nonces: tuple[str, ...]

    @property
    def is_watched(self) -> bool:
        """Did a player commit to a nonce? Then somebody checks, and openings are told as the cards fall."""
        return any(self.commitments)


class Secret(NamedTuple):
    """What opens the commitments of the coming or running deal.

    `round` and `discarder` are of the last time that hands were committed to, 0 and -1 before it; `salts` are by
    seat and card, the talon last, () where nobody watches.
    """

    name: str
    seed: bytes
    order: tuple[int, ...]
    round: int = 0
    discarder: int = -1
    salts: tuple[tuple[bytes, ...], ...] = ()


class Session(NamedTuple):
    """What changes between deals only, or when somebody comes or goes.

    `bank` is what lies at the seats: the score under stake free, chips under bankroll; `score` is what the
    seats have won, and always sums to zero.
    """

    opened: TableOpened | None
    stage: Stage
    seats: tuple[Occupant | None, ...]
    deal: int
    deals: int | None
    extended: bool
    dealer: int | None
    bank: tuple[int, ...]
    score: tuple[int, ...]
    standing: tuple[Place, ...]
    fairness: Fairness | None = None


class Table(NamedTuple):
    """The aggregate. `state` belongs to the game and is kept until the next deal, for the last trick and result;
    `secret` is only while a deal is coming or running."""

    session: Session
    deadline: Deadline | None
    state: GameState
    secret: Secret | None = None


def next_seat(seat: int) -> int:
    """The seat to the left: all runs clockwise (§2)."""
    return (seat + 1) % SEATS


def settings(session: Session) -> TableOpened:
    """The options of an opened table."""
    assert session.opened is not None, "an event came before the opening"
    return session.opened


def game_of(session: Session) -> AnyPlay:
    """The game that is played at this table."""
    return GAMES[settings(session).game]


def held(session: Session, seat: int) -> Occupant:
    """Who holds `seat`; nobody is a broken history."""
    occupant = session.seats[seat]
    assert occupant is not None, f"nobody sits at {seat}"
    return occupant


def seat_of_player(session: Session, player: str) -> int | None:
    """The seat that `player` holds, also while he is away."""
    for seat, occupant in enumerate(session.seats):
        if occupant is not None and occupant.player == player:
            return seat
    return None


def seat_of(table: Table, actor: str) -> int | None:
    """The seat that `actor` may play for now: a player his own, `bot:<seat>` one of a bot or an absent player."""
    if actor.startswith("bot:"):
        return _automatic_seat(table.session, int(actor.removeprefix("bot:")))
    seat = seat_of_player(table.session, actor)
    return None if seat is None or held(table.session, seat).away else seat


def _automatic_seat(session: Session, seat: int) -> int | None:
    occupant = session.seats[seat]
    return seat if occupant is not None and occupant.is_automatic else None


def all_ready(session: Session) -> bool:
    """May the next deal start?"""
    return all(occupant is not None and occupant.ready for occupant in session.seats)


def at_rest(table: Table) -> bool:
    """No deal is coming or running, so that a snapshot holds no card that is still to be played."""
    return table.session.stage not in ("reveal", "deal")


def awaited(session: Session) -> list[int]:
    """The seats that have committed to a nonce, have not revealed it, and are there to do so."""
    fairness = session.fairness
    if session.stage != "reveal" or fairness is None:
        return []
    return [
        seat
        for seat, (commitment, nonce) in enumerate(zip(fairness.commitments, fairness.nonces, strict=True))
        if commitment and not nonce and not held(session, seat).away
    ]


def chips_at_risk(session: Session) -> int:
    """The most a seat can lose in one deal: a declarer pays two defenders, each at most the cap."""
    return 2 * settings(session).rules.cap


def is_short(session: Session, seat: int) -> bool:
    """Could this seat lose more in the next deal than it holds? Never so under stake free."""
    return settings(session).stake == "bankroll" and session.bank[seat] < chips_at_risk(session)


def places(session: Session) -> tuple[Place, ...]:
    """The standing, best first; equal scores share a place and stand in the order of their seats.

    >>> [(place.place, place.seat) for place in places(INITIAL.session._replace(score=(1, -2, 1)))]
    [(1, 0), (1, 2), (3, 1)]
    """
    best_first = sorted(range(SEATS), key=lambda seat: -session.score[seat])
    return tuple(_place(session, seat) for seat in best_first)


def _place(session: Session, seat: int) -> Place:
    score = session.score[seat]
    occupant = session.seats[seat]
    return Place(
        place=1 + sum(other > score for other in session.score),
        seat=seat,
        player=occupant.player if occupant else "",
        name=occupant.name if occupant else "",
        chips=score,
    )


INITIAL = Table(
    session=Session(
        opened=None,
        stage="unopened",
        seats=(None,) * SEATS,
        deal=0,
        deals=None,
        extended=False,
        dealer=None,
        bank=(0,) * SEATS,
        score=(0,) * SEATS,
        standing=(),
    ),
    deadline=None,
    state=GAMES["voleny"].initial,
)
