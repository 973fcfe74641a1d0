"""Volený mariáš for three players; its rule book is RULES.md."""

from typing import Final

from engine.game import Game, Result
from engine.games.voleny.commands import Command
from engine.games.voleny.decide import decide
from engine.games.voleny.events import Event
from engine.games.voleny.evolve import evolve
from engine.games.voleny.legal import legal, to_act
from engine.games.voleny.modest import modest
from engine.games.voleny.rules import SEATS
from engine.games.voleny.state import Over, State, Undealt
from engine.games.voleny.view import Private, Public, private, public, shown


def result(deal: State) -> Result | None:
    """How the deal ended, None while it runs."""
    return deal.result if isinstance(deal, Over) else None


VOLENY: Final[Game[State, Command, Event, Public, Private]] = Game(
    key="voleny",
    seats=SEATS,
    initial=Undealt(),
    decide=decide,
    evolve=evolve,
    legal=legal,
    to_act=to_act,
    public=public,
    private=private,
    shown=shown,
    modest=modest,
    result=result,
)
