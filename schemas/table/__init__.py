"""A table on the wire: commands in, events stored and shown, views, snapshots."""

from schemas.table.commands import CLOCK, Draw, Sender, load_command
from schemas.table.events import (
    EVENTS,
    ShownEvents,
    dump_event,
    dump_events,
    load_event,
    load_events,
    show_event,
    shown_events,
)
from schemas.table.routing import ends_deal, kinds
from schemas.table.snapshots import SHAPE, dump_table, load_table
from schemas.table.views import SPECTATOR, Fragments, join_code, view_fragments, who

__all__ = [
    "CLOCK",
    "EVENTS",
    "SHAPE",
    "SPECTATOR",
    "Draw",
    "Fragments",
    "Sender",
    "ShownEvents",
    "dump_event",
    "dump_events",
    "dump_table",
    "ends_deal",
    "join_code",
    "kinds",
    "load_command",
    "load_event",
    "load_events",
    "load_table",
    "show_event",
    "shown_events",
    "view_fragments",
    "who",
]
