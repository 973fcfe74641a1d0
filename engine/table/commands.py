"""What can be asked of a table; times, decks and transfer ids are data (milliseconds since the epoch)."""

from dataclasses import dataclass

from engine.table.play import GameCommand, Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTable:
    """Open a table of `game`; `code` is the join code of a private table, `buy_in` counts under bankroll."""

    now: int
    creator: str
    game: str
    rules: Rules
    deals: int | None = None
    bots: tuple[int, ...] = ()
    bot_policy: str = "rule"
    auto_ready: bool = False
    turn_seconds: int | None = None
    private: bool = False
    code: str = ""
    stake: str = "free"
    buy_in: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sit:
    """Take `seat`, or the lowest free one; a buy-in comes by `transfer`, if the events say that it comes."""

    now: int
    player: str
    name: str
    seat: int | None = None
    code: str = ""
    transfer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Be ready for the next deal, perhaps with the commitment to a nonce for it."""

    now: int
    player: str
    nonce_commitment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """Reveal the nonce that was committed to, and perhaps commit to the next one at once."""

    now: int
    player: str
    nonce: str
    next_commitment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """Give the seat up: at once, or at the end of the running deal."""

    now: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDeal:
    """Deal, as all are ready. `first_dealer` counts for deal 1 only; `transfer` begins the ids of house buy-ins.

    With a `seed` the `deck` is what the server commits to at `table`, and the nonces decide where its cards lie.
    Without, as in deals of before there were commitments, it is dealt as it is.
    """

    now: int
    version_seen: int
    version: int
    first_dealer: int
    deck: tuple[int, ...]
    sealed_key: str
    transfer: str = ""
    seed: bytes = b""
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire:
    """The deadline seen at `version_seen` has passed; `version` is the table's now."""

    now: int
    version_seen: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """`seat` makes a move of the game."""

    now: int
    seat: int
    move: GameCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Nothing has happened since `version_seen` for so long that the table ends, or that all who sit there have left
    its deal; `version` is the table's now."""

    now: int
    version_seen: int
    version: int


TableCommand = OpenTable | Sit | Ready | Reveal | Leave | StartDeal | Expire | Close | Move
