"""What has left the store of old deals is answered as it was: by the Clerk, to whom it may be shown."""

from functools import partial

import pytest
from fakeredis import FakeRedis

from services.archive import folder, make
from services.records import answer
from services.store import keys
from services.store.keys import all_partitions
from tests.api.conftest import PARTITIONS, all_ready, play_deal

DEALS = 3


@pytest.fixture(scope="module")
def opened(street, neighbours):
    """A private table after some deals, with its code."""
    said = neighbours[0].post("/v1/tables", {"game": "voleny", "private": True}).json
    table, code = said["table"], said["code"]
    for guest in neighbours:
        assert guest.command(table, {"type": "sit", "code": code}).status_code == 200
    for _ in range(DEALS):
        all_ready(neighbours, table)
        play_deal(neighbours, table)
    street.work()
    return table, code


@pytest.fixture(scope="module")
def told(street, neighbours, opened, tmp_path_factory):
    """What everybody is answered, by path, while all is in the store and after the old deals have left it."""
    table, code = opened
    ana, _, cyril = neighbours
    readers = {"Ana": ana, "Cyril": cyril, "guest": street.guest("Dana"), "auditor": street.staff("auditor"),
               "operator": street.staff("operator")}
    paths = [
        *(f"/v1/tables/{table}/deals/{deal}{more}" for deal in range(DEALS + 2)
          for more in ("", f"?code={code}", "?seat=1", "?seat=spectator", "/replay")),
        *(f"/v1/tables/{table}/{what}?after={after}&limit={limit}{more}" for what in ("bank", "chips")
          for after, limit in ((0, 100), (0, 1), (1, 1), (1, 2), (2, 1), (3, 1)) for more in ("", f"&code={code}")),
    ]

    def read():
        return {(who, path): (answer.status_code, answer.data) for who, reader in readers.items() for path in paths
                if (answer := reader.get(path)) is not None}

    whole = read()
    archive = tmp_path_factory.mktemp("archive")
    clerk = FakeRedis(connection_pool=street.redis.connection_pool)
    folder.attach(clerk, archive)
    for _ in range(2):
        assert make.archive(clerk, archive, table, 100) in (0, DEALS)
    assert set(street.redis.hkeys(keys.sealed_records(table))) == {b"%d" % DEALS}
    backend = street.app.extensions["marias"]
    object.__setattr__(backend, "confide", partial(answer, clerk, street.ring, all_partitions(PARTITIONS)))
    return whole, read(), read


def test_everybody_is_answered_what_he_was(told):
    whole, later, _ = told
    assert {each for each in whole if whole[each] != later[each]} == set()
    codes = {status for status, _ in whole.values()}
    assert codes == {200, 403, 404}


def test_while_nobody_answers_old_deals_are_unavailable_and_the_last_one_is_not(street, neighbours, opened, told):
    from services.store.wire import StoreUnavailable

    def nobody(question):
        raise StoreUnavailable("nobody answers")

    table, _ = opened
    backend = street.app.extensions["marias"]
    confide = backend.confide
    object.__setattr__(backend, "confide", nobody)
    try:
        statuses = [neighbours[0].get(f"/v1/tables/{table}/{path}").status_code for path in (
            "deals/1", "deals/2", "bank", "chips", f"deals/{DEALS}", f"bank?after={DEALS - 1}")]
    finally:
        object.__setattr__(backend, "confide", confide)
    assert statuses == [503, 503, 503, 503, 200, 200]


def test_the_page_of_the_bank_has_all_deals(street, neighbours, opened, told):
    table, code = opened
    page = street.app.test_client().get(f"/bank/{table}?code={code}")
    assert page.status_code == 200
    for deal in range(1, DEALS + 1):
        assert f"/replay/{table}/{deal}" in page.text
