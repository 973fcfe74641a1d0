"""What was made of old deals leaves the store, and whoever asks for it is told the same."""

import json

import pytest
from fakeredis import FakeRedis

from services.archive import folder, make, shelf
from services.archive.frames import BadArchive
from services.bench import weights
from services.jobs.archive_deals import work
from services.projections import rebuild
from services.store import cold, keys, projected, shelved
from services.store.cold import PastMissing
from services.store.connect import connect
from services.store.rebuilding import hold, let_go
from services.store.shelved import Elsewhere
from services.whole_files import write_all
from tests import servers
from tests.archive.conftest import Archived
from tests.worker.house import ANA, BARA, OTHER, PARTITIONS, PLAYERS, TABLE


def told(house):
    """All that anybody may ask of the deals of the table."""
    deals = range(1, house.ended() + 1)
    return {
        "page": projected.page(house.redis, TABLE, 0, 100),
        "pages": [projected.page(house.redis, TABLE, after, 2) for after in deals],
        "booked": projected.booked(house.redis, TABLE, [*deals, 99]),
        "ended": [projected.has_ended(house.redis, TABLE, deal) for deal in (*deals, 99)],
        "whole": [projected.whole_record(house.redis, TABLE, deal) for deal in (*deals, 99)],
        "shown": [
            json.loads(projected.record(house.redis, TABLE, deal, who) or "0")
            for deal in (*deals, 99) for who in (ANA, BARA, "stranger", None)
        ],
    }


def archived(house, **given):
    return make.archive(house.redis, given.get("archive", house.archive), TABLE, given.get("deals_max", 100))


def left(house):
    """The deals of which anything but what is still in use lies in the store."""
    named = [*house.redis.hkeys(keys.records(TABLE)), *house.redis.hkeys(keys.sealed_records(TABLE))]
    noted = [field[2:] for field in house.redis.hkeys(keys.bank(TABLE)) if field[:2] == b"d:"]
    paid = [field for field in house.redis.hkeys(keys.bank(TABLE)) if field.isdigit()]
    return {int(field.partition(b":")[0]) for field in (*named, *noted, *paid)}


def path(house, deal):
    return house.archive / "01" / TABLE / shelf.name(deal)


def rebuilt(house):
    return rebuild.rebuild(house.redis, PARTITIONS, lambda *_: None)


@pytest.fixture
def played(house):
    """Five deals; Bára gave her seat up after the second and took it again after the third."""
    house.play_deals(2)
    house.say(TABLE, BARA, "leave")
    house.say(TABLE, BARA, "sit")
    house.play_deals(3)
    house.follow()
    return house


def test_all_that_is_asked_for_is_as_it_was_and_little_stays(played):
    before = told(played)
    assert archived(played) == 5
    assert told(played) == before
    assert left(played) == {5}
    played.play_deals(2)
    played.follow()
    whole = told(played)
    assert left(played) == {5, 6, 7}
    archived(played)
    assert told(played) == whole
    assert left(played) == {7}
    assert next(folder.faults(played.archive), None) is None


def test_where_there_is_no_archive_nothing_leaves_and_a_process_without_it_is_told_to_ask(played):
    archived(played)
    other = FakeRedis(server=played.redis.connection_pool.connection_kwargs["server"], protocol=2)
    for ask in (
        lambda: projected.page(other, TABLE, 0, 100), lambda: projected.booked(other, TABLE, [1]),
        lambda: projected.record(other, TABLE, 2, ANA), lambda: projected.whole_record(other, TABLE, 4),
    ):
        with pytest.raises(Elsewhere):
            ask()
    assert projected.record(other, TABLE, 5, ANA) == projected.record(played.redis, TABLE, 5, ANA)
    assert projected.page(other, TABLE, 4, 100) == projected.page(played.redis, TABLE, 4, 100)
    assert projected.record(other, TABLE, 9, ANA) is None


def test_some_deals_at_a_time(played):
    assert archived(played, deals_max=3) == 3
    assert left(played) == {3, 4, 5}
    played.redis.hdel(keys.bank(TABLE), shelved.MOVED)
    rebuilt(played)
    cold.add_unarchived(played.redis, [(TABLE, 0)])
    assert archived(played, deals_max=2) == 2
    assert left(played) == {3, 4, 5}
    assert TABLE in cold.unarchived(played.redis, PARTITIONS)["01"], "it is not done with"
    archived(played, deals_max=2)
    assert left(played) == {5}
    assert cold.unarchived(played.redis, PARTITIONS) == {}


def test_nothing_leaves_that_cannot_be_read_back(played, monkeypatch):
    monkeypatch.setattr(shelf, "write_all", lambda files: write_all([(file, data[:-1]) for file, data in files]))
    before = told(played)
    with pytest.raises(BadArchive):
        archived(played)
    assert told(played) == before
    assert left(played) == {1, 2, 3, 4, 5}
    assert TABLE in cold.unarchived(played.redis, PARTITIONS)["01"]


def test_killed_between_the_files_and_the_store_it_is_done_again(played, monkeypatch):
    before = told(played)
    with monkeypatch.context() as cut:
        cut.setattr(shelved, "take_out", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            archived(played)
    assert path(played, 1).exists()
    assert left(played) == {1, 2, 3, 4, 5}
    assert work(played.redis, played.archive, "01") == 0
    assert left(played) == {5}
    assert told(played) == before


def test_of_two_at_once_one_takes_it_out_and_the_other_nothing(played, monkeypatch):
    take_out = shelved.take_out

    def other_first(*given):
        assert take_out(*given)
        return take_out(*given)

    before = told(played)
    monkeypatch.setattr(shelved, "take_out", other_first)
    archived(played)
    assert told(played) == before
    monkeypatch.undo()
    archived(played)
    assert cold.unarchived(played.redis, PARTITIONS) == {}


def test_while_a_rebuild_compares_nothing_leaves(played):
    hold(played.redis, PARTITIONS, "a rebuild")
    archived(played)
    assert left(played) == {1, 2, 3, 4, 5}
    assert TABLE in cold.unarchived(played.redis, PARTITIONS)["01"]
    let_go(played.redis, PARTITIONS, "a rebuild")
    archived(played)
    assert left(played) == {5}


def test_before_the_projections_are_there_nothing_leaves(played):
    played.redis.hset(keys.fold(TABLE), "v", 3)
    archived(played)
    assert left(played) == {1, 2, 3, 4, 5}


def test_a_rebuild_compares_with_the_files_and_takes_all_back_until_it_leaves_again(played):
    before = told(played)
    archived(played)
    found = rebuilt(played)
    assert (found.different, found.stopped) == ([], [])
    assert left(played) == {1, 2, 3, 4, 5}
    assert told(played) == before
    cold.list_all(played.redis, PARTITIONS)
    work(played.redis, played.archive, "01")
    assert left(played) == {5}
    assert told(played) == before


def test_a_rebuild_reads_each_file_once(played, monkeypatch):
    played.open(OTHER)
    for player in PLAYERS:
        played.say(OTHER, player, "sit")
    played.play_deals(3, OTHER)
    played.follow()
    archived(played)
    make.archive(played.redis, played.archive, OTHER, 100)
    seen = []

    def read(table, deal):
        seen.append((table, deal))
        return shelf.read(played.archive, table, deal)

    shelved.attach(played.redis, read)
    assert rebuilt(played).different == []
    assert sorted(seen) == [*((TABLE, deal) for deal in range(1, 5)), *((OTHER, deal) for deal in range(1, 3))]


@pytest.mark.parametrize("harm", ["missing", "damaged", "another"])
def test_a_rebuild_finds_and_mends_a_file(played, harm):
    before = told(played)
    archived(played)
    file = path(played, 2)
    match harm:
        case "missing":
            file.unlink()
        case "damaged":
            file.write_bytes(file.read_bytes()[:-5])
        case "another":
            file.write_bytes(path(played, 3).read_bytes())
    with pytest.raises(PastMissing, match=r"deal 2 .*marias rebuild"):
        told(played)
    if harm != "missing":
        assert shelf.name(2) in next(folder.faults(played.archive))
    assert rebuilt(played).different == sorted(
        name(TABLE) for name in (keys.bank, keys.records, keys.sealed_records))
    assert told(played) == before
    cold.list_all(played.redis, PARTITIONS)
    work(played.redis, played.archive, "01")
    assert told(played) == before
    assert next(folder.faults(played.archive), None) is None


def test_a_table_of_before_is_listed_once_more(played):
    played.redis.hset(keys.archived("01"), "listed", 1)  # As builds did that left all of it in the store.
    played.redis.delete(keys.unarchived("01"))
    cold.list_all(played.redis, PARTITIONS)
    work(played.redis, played.archive, "01")
    assert left(played) == {5}


def test_the_files_are_their_owners_alone(played):
    archived(played)
    assert {file.stat().st_mode & 0o777 for file in path(played, 1).parent.iterdir()} == {0o600}


@pytest.mark.server
def test_a_table_at_rest_weighs_as_much_after_many_deals_as_after_one(tmp_path):
    server = servers.Server(servers.program("valkey"), fsync="no")
    server.start()
    try:
        with connect(server.url, blocking=True) as redis:
            house = Archived(redis, tmp_path / "archive")
            house.open()
            for player in PLAYERS:
                house.say(TABLE, player, "sit")
            weighed = []
            for deals in (1, 9):
                house.play_deals(deals)
                house.follow()
                archived(house)
                weights.forget(redis, TABLE)
                weighed.append(sum(weights.weigh(redis, TABLE).values()))
            assert max(weighed) <= 8_000
            assert weighed[1] - weighed[0] < 800, "less than a deal more: one may be longer than another"
    finally:
        server.remove()
