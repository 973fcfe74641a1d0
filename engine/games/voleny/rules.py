"""The names of the game and the house rules of a table (Options and presets)."""

from dataclasses import dataclass, field, replace
from typing import Final, Literal

Kind = Literal["colour", "betl", "durch"]
"""The three games, rising: hra v barvě < betl < durch (§4)."""
Proti = Literal["sedma_proti", "sto_proti"]
Part = Literal["hra", "sedma", "sto", "betl", "durch", "sedma_proti", "sto_proti"]
"""What can be announced and doubled, in the order of the rule book."""

KINDS: Final[tuple[Kind, ...]] = ("colour", "betl", "durch")
PARTS: Final[tuple[Part, ...]] = ("hra", "sedma", "sto", "betl", "durch", "sedma_proti", "sto_proti")
PROTIS: Final[tuple[Proti, ...]] = ("sedma_proti", "sto_proti")
CONTRACT: Final[tuple[Part, ...]] = ("hra", "sto", "sedma")
"""The parts of a contract in the order they are announced: hra a sedma, sto a sedma (§5.1)."""

HRA, SEDMA, STO, BETL, DURCH, SEDMA_PROTI, STO_PROTI = (1 << index for index in range(7))
"""The parts as bits, for sets of parts."""

SEATS: Final = 3
PACKETS: Final = ((*range(7), *range(17, 22)), (*range(7, 12), *range(22, 27)), (*range(12, 17), *range(27, 32)))
"""The places in the deck that go to the forehand, to the next seat and to the dealer (§2.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What each part is worth to one defender, in whole chips (§8)."""

    hra: int = 1
    sedma: int = 2
    ticha_sedma: int = 1
    sto: int = 4
    betl: int = 5
    durch: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The house rules of a table; a deal carries them in its first event."""

    allow_blind: bool = True
    forbid_trump_in_talon: bool = False
    sto_marriage: Literal["first", "highest"] = "first"
    sto_proti_needs_marriage: bool = True
    flek_levels_max: int = 6
    hearts_double: bool = True
    cap: int = 500
    play_balanced: bool = False
    rates: Rates = field(default_factory=Rates)


HOSPODA: Final = Rules()

PRESETS: Final = {
    "hospoda": HOSPODA,
    "csm": replace(HOSPODA, rates=Rates(betl=15, durch=30)),
    "krizovy": replace(HOSPODA, rates=Rates(betl=10, durch=20)),
    "mariasek": replace(HOSPODA, sto_marriage="highest"),
}


def bits_of(parts: tuple[Part, ...]) -> int:
    """A set of parts as bits; they come in the order of the rule book or in that of a contract."""
    return _BITS_OF[parts]


def parts_of(bits: int) -> tuple[Part, ...]:
    """The parts of a set, in the order of the rule book."""
    return _PARTS_OF[bits]


_PARTS_OF: Final[tuple[tuple[Part, ...], ...]] = tuple(
    tuple(part for index, part in enumerate(PARTS) if bits >> index & 1) for bits in range(1 << len(PARTS))
)
_BITS_OF: Final = {parts: bits for bits, parts in enumerate(_PARTS_OF)} | {("sto", "sedma"): STO | SEDMA}
