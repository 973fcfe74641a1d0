"""The table: seats, deals, chips at the table and deadlines around one game. Pure: times and decks are data."""

from engine.table.clock import Due, due
from engine.table.commands import Close, Expire, Leave, Move, OpenTable, Ready, Reveal, Sit, StartDeal, TableCommand
from engine.table.decide import Step, decide, step
from engine.table.evolve import evolve, fold
from engine.table.state import INITIAL, SEATS, Table, at_rest, seat_of
from engine.table.view import shown

__all__ = [
    "INITIAL",
    "SEATS",
    "Close",
    "Due",
    "Expire",
    "Leave",
    "Move",
    "OpenTable",
    "Ready",
    "Reveal",
    "Sit",
    "StartDeal",
    "Step",
    "Table",
    "TableCommand",
    "at_rest",
    "decide",
    "due",
    "evolve",
    "fold",
    "seat_of",
    "shown",
    "step",
]
