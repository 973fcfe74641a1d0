"""What is written for ever: stored events of every version, and snapshots that equal the replay."""

import json
from pathlib import Path

import pytest

from engine.table import decide
from engine.table.events import TableEvent
from schemas.table import SHAPE, dump_event, dump_events, dump_table, load_event, load_events, load_table
from schemas.table.events import EVENTS
from schemas.upcasters import version_of
from tests.cast import SEATED
from tests.table.house import after, deal, dealt, finished, full, next_deal, opened, ready

GOLDEN = [
    json.loads(line)
    for line in (Path(__file__).parent / "golden" / "events.jsonl").read_text(encoding="utf-8").splitlines()
]


def _name(stored):
    return f"{stored['type']} v{stored.get('v', 1)}"


@pytest.mark.parametrize("stored", GOLDEN, ids=_name)
def test_every_event_ever_written_is_read(stored):
    assert isinstance(load_event(stored), TableEvent)


@pytest.mark.parametrize("stored", [row for row in GOLDEN if row.get("v", 1) == version_of(row["type"])], ids=_name)
def test_events_of_the_present_version_are_written_as_they_were(stored):
    assert json.loads(json.dumps(dump_event(load_event(stored)))) == stored


def test_there_is_an_example_of_every_version():
    written = {(row["type"], row.get("v", 1)) for row in GOLDEN}
    assert written == {(name, version) for name in EVENTS for version in range(1, version_of(name) + 1)}


def test_an_upcaster_reads_an_older_version(monkeypatch):
    step = {("seat_freed", 1): lambda stored: {"type": "seat_freed", "seat": stored["chair"]}}
    monkeypatch.setattr("schemas.upcasters.UPCASTERS", step)
    assert load_event({"type": "seat_freed", "chair": 2}) == load_event({"type": "seat_freed", "seat": 2, "v": 2})


def test_the_events_of_a_command_are_one_array():
    events = decide(after(full(), *map(ready, SEATED)), deal())
    assert load_events(dump_events(events)) == events


@pytest.mark.parametrize("stored", GOLDEN, ids=_name)
def test_both_ways_to_write_an_event_write_the_same(stored):
    event = load_event(stored)
    assert json.loads(dump_events([event])) == [json.loads(json.dumps(dump_event(event)))]


SAMPLES = {
    "just opened": opened(private=True, code="krk", turn_seconds=30),
    "with bots": opened(bots=(0, 2)),
    "waiting, with a deadline": full(turn_seconds=30),
    "between deals, with the last trick and its result": next_deal(full()),
    "over, with the standing": finished(),
}
SNAPSHOTS = json.loads((Path(__file__).parent / "golden" / "snapshots.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_snapshot_is_the_table_itself(sample):
    assert load_table(dump_table(SAMPLES[sample])) == SAMPLES[sample]


@pytest.mark.parametrize("sample", SAMPLES)
def test_snapshots_of_one_shape_mean_the_same_in_every_build(sample):
    """Red: these events fold to another state, or it is written otherwise. Raise MEANING, then store what is written
    now under its SHAPE in golden/snapshots.json."""
    assert SNAPSHOTS.get(SHAPE, {}).get(sample) == json.loads(dump_table(SAMPLES[sample]))


def test_a_running_deal_is_never_kept_outside_its_events():
    with pytest.raises(AssertionError):
        dump_table(dealt())


def test_a_table_from_a_snapshot_goes_on_like_the_table():
    table = next_deal(full())
    assert next_deal(load_table(dump_table(table))) == next_deal(table)
