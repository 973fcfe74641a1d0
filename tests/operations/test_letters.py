"""Dead letters: looked at without cards, put again through intake at most once, discarded with a reason."""

import pytest

from services.operations.letters import NoLetter, ended, letter, letters, shown_body, without_cards
from services.operations.retry import NotRetried, discard, retry
from services.store import keys, views
from services.store.wire import ask
from services.worker import batch
from tests.worker.conftest import house as house  # noqa: PLC0414  A fixture by its name.
from tests.worker.house import ANA, BARA, PARTITIONS, TABLE, House

REAL = batch.handle


@pytest.fixture
def mended(house: House, monkeypatch: pytest.MonkeyPatch):
    """A house with one dead letter, `sit` under the key `poison`; called, it mends the rules."""

    def handle(held, command, place, desk):
        if command.key == "poison" or command.key.startswith("retry-"):
            raise ZeroDivisionError("of Ah and 7c")
        return REAL(held, command, place, desk)

    monkeypatch.setattr(batch, "handle", handle)
    house.open()
    house.send(TABLE, ANA, {"type": "sit", "seat": 2}, key="poison")
    house.settle()
    return lambda: monkeypatch.setattr(batch, "handle", REAL)


@pytest.fixture(autouse=True)
def working(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a retry is waited for the worker works."""
    monkeypatch.setattr("services.operations.retry.time.sleep", lambda seconds: house.settle())


def only(house: House) -> str:
    [found] = letters(house.redis, PARTITIONS)
    return found.name


def sits(house: House) -> list[bytes]:
    return [fields[b"k"] for _, fields in house.redis.xrange(keys.events(TABLE)) if b"sat_down" in fields[b"e"]]


def test_a_letter_tells_everything_but_cards(house: House, mended) -> None:
    found = letter(house.redis, only(house))
    page = found.page()
    assert page["id"].startswith("01-")
    assert (page["table"], page["sender"], page["key"], page["type"]) == (TABLE, ANA, "poison", "sit")
    assert page["body"] == {"type": "sit", "seat": "…"}
    assert page["error"] == "ZeroDivisionError: of ?? and ??"
    assert "Traceback" in page["traceback"]
    assert "in handle" in page["traceback"]


def test_with_the_rules_mended_a_retry_is_applied_once_and_the_sender_keeps_his_answer(house: House, mended) -> None:
    name = only(house)
    mended()
    done = retry(house.redis, name, "olga")
    assert done["outcome"] == {"status": "applied", "version": 2}
    assert letters(house.redis, PARTITIONS) == []
    assert retry(house.redis, name, "another") == done
    assert ended(house.redis, name) == done
    assert len(sits(house)) == 1
    assert views.receipt(house.redis, TABLE, ANA, "poison")["c"] == "internal"


def test_a_retry_that_is_given_up_again_is_a_letter_of_its_own(house: House, mended) -> None:
    first = only(house)
    assert retry(house.redis, first, "olga")["outcome"]["code"] == "internal"
    second = only(house)
    assert second != first
    mended()
    assert retry(house.redis, first, "olga")["outcome"]["code"] == "internal", "the first has had its turn"
    assert retry(house.redis, second, "olga")["outcome"]["status"] == "applied"
    assert len(sits(house)) == 1


def test_a_retry_that_the_rules_refuse_is_told_as_such(house: House, mended) -> None:
    mended()
    assert house.say(TABLE, BARA, "sit", seat=2)["s"] == "applied"
    assert retry(house.redis, only(house), "olga")["outcome"] == {
        "status": "refused", "version": 2, "code": "seat_taken",
    }


def test_a_retry_that_was_cut_off_acts_once_though_its_receipt_is_forgotten(house: House, mended) -> None:
    name = only(house)
    mended()
    assert "outcome" not in retry(house.redis, name, "olga", wait_seconds=-1.0)
    house.settle()
    ask(house.redis, "DEL", keys.receipts(TABLE), keys.reservations(TABLE))
    assert retry(house.redis, name, "olga")["outcome"] == {"status": "applied", "version": 2}
    assert len(sits(house)) == 1


def test_a_letter_is_discarded_with_a_reason_and_never_retried(house: House, mended) -> None:
    name = only(house)
    mended()
    done = discard(house.redis, name, "olga", "the sender has left")
    assert (done["who"], done["why"]) == ("olga", "the sender has left")
    assert letters(house.redis, PARTITIONS) == []
    assert retry(house.redis, name, "another") == done
    assert sits(house) == []


@pytest.mark.parametrize(("changed", "says"), [
    ({"t": "t-02-00000000000a"}, "forged"), ({"t": "nothing"}, "forged"), ({"b": "["}, "no command"),
    ({"t": "t-01-0000000000ff"}, "does not exist"),
])
def test_what_cannot_go_through_intake_is_said_so(house: House, changed: dict[str, str], says: str) -> None:
    fields = {"id": "1-0", "t": TABLE, "a": ANA, "n": "", "k": "k", "f": "f", "b": '{"type":"sit"}', "error": ""}
    ask(house.redis, "XADD", keys.dead("01"), "5-0", *[word for pair in (fields | changed).items() for word in pair])
    with pytest.raises(NotRetried, match=says):
        retry(house.redis, "01-5-0", "olga")
    assert letters(house.redis, PARTITIONS)[0].page()["id"] == "01-5-0"


@pytest.mark.parametrize("name", ["", "5-0", "01-5-0", "01-5-0; x", "zz-5-0", "01-5-0-1"])
def test_a_name_that_is_none_is_no_letter(house: House, name: str) -> None:
    for act in (lambda: letter(house.redis, name), lambda: retry(house.redis, name, "olga"),
                lambda: discard(house.redis, name, "olga", "why")):
        with pytest.raises(NoLetter):
            act()


def test_bodies_and_words_lose_their_cards() -> None:
    assert shown_body(b'{"type":"discard","cards":["Ah","7c"]}') == {"type": "discard", "cards": "…"}
    assert shown_body(b"[1]") == shown_body(b"\xff") == {}
    assert without_cards("Ah, (7c) and 'Td' in t-1f-7c0a1b2c3d4e") == "??, (??) and '??' in t-1f-7c0a1b2c3d4e"
