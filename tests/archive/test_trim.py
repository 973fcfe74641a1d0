"""Finished deals leave the store only once they are archived, and every reader goes on as if they were still there."""

import pytest

from services.archive import folder, make
from services.archive.frames import BadArchive
from services.jobs import archive_deals
from services.jobs.archive_deals import DEALS_MAX, work
from services.operations.retry import retry
from services.processes import archiving, sweep
from services.projections import rebuild
from services.store import cold, history, keys, outbox
from services.store.cold import Mark, PastMissing
from services.store.outbox import Stretch
from services.store.wire import ask
from services.whole_files import write_all
from services.worker.tables import read
from tests.projections.tables import everything
from tests.worker.house import ANA, PARTITIONS, TABLE


def stream(house):
    return [(id_, [part for pair in fields.items() for part in pair])
            for id_, fields in house.redis.xrange(keys.events(TABLE))]


def test_what_is_archived_is_the_stream(house):
    house.play_deals(3)
    house.follow()
    whole = stream(house)
    assert make.archive(house.redis, house.archive, TABLE, 100) == 3
    ended = folder.files(house.archive, TABLE)[-1].last
    assert folder.entries(house.archive, TABLE, 1, ended) == whole[:ended]
    assert cold.marks(house.redis, [TABLE]) == [Mark(ended, 3)]
    assert list(folder.faults(house.archive)) == []


def test_the_stream_is_trimmed_behind_the_last_deal(house):
    house.play_deals(2)
    house.play(9)
    house.follow()
    whole = stream(house)
    make.archive(house.redis, house.archive, TABLE, 100)
    ended = folder.files(house.archive, TABLE)[-1].last
    assert stream(house) == whole[ended:]


def test_the_last_entry_stays_so_that_the_version_is_known(house):
    house.play_deals(1)
    house.follow()
    version = house.view()["version"]
    make.archive(house.redis, house.archive, TABLE, 100)
    assert [id_ for id_, _ in stream(house)] == [b"%d-0" % version]
    told = house.say(TABLE, ANA, "ready")
    assert (told["v"], told["s"]) == (version + 1, "applied")


def test_every_reader_goes_on_as_before(house):
    house.play_deals(4)
    house.play(11)
    house.follow()
    entries = list(history.entries_after(house.redis, TABLE, 0))
    [told] = outbox.read_events(house.redis, [Stretch(TABLE, 1, None)])
    since = list(history.entries_since(house.redis, TABLE, told[9].at))
    table = read(house.redis, TABLE, "of no build")
    make.archive(house.redis, house.archive, TABLE, 100)
    assert len(stream(house)) < len(entries)
    assert list(history.entries_after(house.redis, TABLE, 0)) == entries
    assert list(history.entries_after(house.redis, TABLE, 17)) == entries[17:]
    assert outbox.read_events(house.redis, [Stretch(TABLE, 1, None), Stretch(TABLE, 5, 5)]) == [told, [told[4]]]
    assert list(history.entries_since(house.redis, TABLE, told[9].at)) == since
    assert read(house.redis, TABLE, "of no build") == read(house.redis, TABLE) == table


def test_a_retry_of_a_dead_letter_that_is_archived_acts_once(house):
    house.send(TABLE, ANA, {"type": "ready"}, key="retry-5-0")  # As a retry sends it that is then cut off.
    house.settle()
    version = house.view()["version"]
    said = {"id": "1-0", "t": TABLE, "a": ANA, "n": "", "k": "k", "f": "f", "b": '{"type":"ready"}', "error": ""}
    ask(house.redis, "XADD", keys.dead("01"), "5-0", *[word for pair in said.items() for word in pair])
    ask(house.redis, "HSET", keys.ended("01"), "5-0", '{"did":"retry","at":0,"who":"olga","key":"retry-5-0"}')
    house.play_deals(1)
    house.follow()
    make.archive(house.redis, house.archive, TABLE, 100)
    ask(house.redis, "DEL", keys.receipts(TABLE), keys.reservations(TABLE))
    assert b"%d-0" % version not in dict(stream(house))
    assert retry(house.redis, "01-5-0", "olga")["outcome"] == {"status": "applied", "version": version}


@pytest.mark.parametrize("page", [1, 2, 10, 37])
def test_a_long_archive_is_read_some_at_a_time(house, page, monkeypatch):
    house.play_deals(4)
    house.play(11)
    house.follow()
    whole = list(history.entries_after(house.redis, TABLE, 0))
    make.archive(house.redis, house.archive, TABLE, 100)
    monkeypatch.setattr(history, "PAGE", page)
    for after in (0, 1, page, len(whole) - 3):
        assert list(history.entries_after(house.redis, TABLE, after)) == whole[after:]
    house.redis.xdel(keys.events(TABLE), f"{len(whole) - 2}-0")
    with pytest.raises(history.BrokenStream, match=f"version {len(whole) - 2} is missing"):
        list(history.entries_after(house.redis, TABLE, 0))


def test_a_hole_that_trimming_does_not_explain_is_refused(house):
    house.play_deals(1)
    house.redis.xdel(keys.events(TABLE), "3-0")
    with pytest.raises(history.BrokenStream, match="version 3 is missing"):
        list(history.entries_after(house.redis, TABLE, 0))
    with pytest.raises(make.StreamDiffers, match="version 3 is missing"):
        make.archive(house.redis, house.archive, TABLE, 100)
    assert cold.marks(house.redis, [TABLE]) == [cold.NOTHING]


def test_without_the_archive_a_rebuild_is_refused_and_changes_nothing(house, tmp_path):
    house.play_deals(2)
    house.follow()
    make.archive(house.redis, house.archive, TABLE, 100)
    before = everything(house.redis)
    (tmp_path / "empty").mkdir()
    folder.attach(house.redis, tmp_path / "empty")
    with pytest.raises(PastMissing, match=f"{TABLE}.*versions 1 to"):
        rebuild.rebuild(house.redis, PARTITIONS, lambda *_: None)
    folder.attach(house.redis, tmp_path / "none")
    with pytest.raises(PastMissing, match=f"{TABLE}.*none is not there.*MARIAS_ARCHIVE"):
        rebuild.rebuild(house.redis, PARTITIONS, lambda *_: None)
    cold._readers.clear()
    with pytest.raises(PastMissing, match=r"deals up to 2.*MARIAS_ARCHIVE"):
        rebuild.rebuild(house.redis, PARTITIONS, lambda *_: None)
    assert everything(house.redis) == before
    assert not house.redis.keys("pjx*")


@pytest.mark.parametrize(
    ("behind", "why"),
    [
        (lambda house: house.redis.hset(keys.snapshot(TABLE), "v", 3), "the snapshot"),
        (lambda house: house.redis.hset(keys.fold(TABLE), "v", 3), "the projections"),
        (lambda house: house.redis.delete(keys.snapshot(TABLE)), "no snapshot"),
        (lambda house: house.redis.delete(keys.fold(TABLE)), "no projection"),
        (lambda house: house.redis.delete(keys.archived(TABLE[2:4])), "no mark"),
    ],
)
def test_nothing_goes_that_somebody_still_needs(house, behind, why):
    house.play_deals(1)
    house.follow()
    [deal] = make._ended(house.redis, TABLE, cold.NOTHING)
    cold.set_mark(house.redis, TABLE, Mark(deal.last, 1))
    behind(house)
    whole = stream(house)
    assert cold.trim(house.redis, TABLE) == 0, why
    assert stream(house) == whole
    assert TABLE in cold.unarchived(house.redis, PARTITIONS)["01"]


def test_a_mark_never_goes_back(house):
    cold.set_mark(house.redis, TABLE, Mark(90, 3))
    cold.set_mark(house.redis, TABLE, Mark(60, 2))
    assert cold.marks(house.redis, [TABLE]) == [Mark(90, 3)]


def test_what_cannot_be_read_back_is_not_marked(house, monkeypatch):
    house.play_deals(1)
    house.follow()
    monkeypatch.setattr(folder, "write_all", lambda files: write_all([(file, data[:-9]) for file, data in files]))
    with pytest.raises(BadArchive):
        make.archive(house.redis, house.archive, TABLE, 100)
    assert cold.marks(house.redis, [TABLE]) == [cold.NOTHING]
    assert cold.trim(house.redis, TABLE) == 0


def test_the_list_is_worked_off_some_deals_at_a_time(house):
    house.play_deals(DEALS_MAX + 2)
    house.follow()
    asked = []
    archiving.ask(house.redis, PARTITIONS, asked.append)
    assert asked == ["01"]
    with pytest.MonkeyPatch.context() as hurry:
        hurry.setattr(archive_deals, "SECONDS_MAX", -1.0)
        assert work(house.redis, house.archive, "01") == DEALS_MAX
    assert work(house.redis, house.archive, "01") == 2
    assert len(stream(house)) == 1
    assert cold.unarchived(house.redis, PARTITIONS) == {}
    archiving.ask(house.redis, PARTITIONS, asked.append)
    assert asked == ["01"]


def test_all_that_waits_is_archived_in_one_go_where_there_is_time(house):
    house.play_deals(2 * DEALS_MAX)
    house.follow()
    assert work(house.redis, house.archive, "01") == 2 * DEALS_MAX
    assert cold.unarchived(house.redis, PARTITIONS) == {}


def test_a_table_stays_on_the_list_until_it_is_trimmed(house):
    house.play_deals(1)
    while house.notes.turn(None):
        pass
    assert work(house.redis, house.archive, "01") == 1
    assert list(cold.unarchived(house.redis, PARTITIONS)["01"]) == [TABLE]
    house.follow()
    assert work(house.redis, house.archive, "01") == 0
    assert cold.unarchived(house.redis, PARTITIONS) == {}
    assert len(stream(house)) == 1


def test_tables_of_before_there_was_an_archive_are_listed_once(house):
    house.play_deals(1)
    while house.projections.turn(None):
        pass
    cold.list_all(house.redis, PARTITIONS)
    assert cold.unarchived(house.redis, PARTITIONS) == {"01": {TABLE: 0}}
    assert work(house.redis, house.archive, "01") == 1
    cold.list_all(house.redis, PARTITIONS)
    assert cold.unarchived(house.redis, PARTITIONS) == {}


def test_a_table_that_fails_does_not_hold_up_the_others(house, monkeypatch, caplog):
    other = "t-01-00000000000c"
    house.open(other, bots=[0, 1, 2])
    house.play_deals(1)
    house.follow()
    cold.add_unarchived(house.redis, [(other, 1)])
    house.redis.delete(keys.events(other))
    house.redis.set(keys.events(other), "of another type")
    assert work(house.redis, house.archive, "01") == 1
    assert f"{other} is not archived" in caplog.text


def test_every_partition_has_its_turn_and_none_a_second_before_all_have_had_theirs():
    partitions = keys.all_partitions()
    turns = sweep.in_turns(partitions, 20)
    for _ in range(2):
        asked = [each for _ in range(20) for each in next(turns)]
        assert sorted(asked) == partitions
    assert max(len(next(turns)) for _ in range(20)) == 4
