"""Commands on their way through the store: marked by who may send, sealed where they name hidden cards."""

import json
import re

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from services.envelope import MARKS, Forged, opener_of, sender_of, spoken
from services.intake import Submitted, attach, submit
from services.store import keys, views
from services.store.commands import read_commands
from services.worker.handle import Desk
from services.worker.loop import Worker
from tests.worker.house import ANA, BARA, PARTITIONS, TABLE, House, decks

CARD = re.compile(rb'"[789TJQKA][hdcs]"')
SAID = ("t-01-00000000000a", ANA, "k1", "Ana")
DISCARD = b'{"cards":["7h","8h"],"type":"discard"}'


@pytest.fixture
def house(redis, tmp_path):
    """A house whose worker takes only what was sent with the keys of the folder."""
    made = House(attach(redis, sender_of(tmp_path)))
    made.worker = Worker(Desk(redis, decks(1), opener=opener_of(tmp_path)), "worker", PARTITIONS)
    return made


def stream(house):
    """All that lies in the commands of the table's partition."""
    return house.redis.xrange(keys.commands("01"))


def add_by_hand(house, fields):
    """Put an entry into the commands past intake, and let the worker look."""
    house.redis.xadd(keys.commands("01"), fields)
    house.redis.publish(keys.bell("01"), "")
    house.settle()
    assert house.redis.hget(keys.state("01"), "cur") == stream(house)[-1][0]


def to_the_discard(house):
    """Deal; Ana's forehand chooses trumps. Who is to discard, and how."""
    house.deal()
    actor, legal = house.legal()
    chosen = next(move for move in legal if move["type"] == "choose_trump" and "card" in move)
    assert house.say(TABLE, actor, "choose_trump", **{k: v for k, v in chosen.items() if k != "type"})["s"] == "applied"
    return house.legal()


def test_what_is_discarded_lies_sealed_in_the_stream_and_on_the_bell(house, redis):
    ears = redis.pubsub()
    ears.subscribe(keys.bell("01"))
    actor, legal = to_the_discard(house)
    move = next(move for move in legal if move["type"] == "discard")
    assert house.say(TABLE, actor, "discard", cards=move["cards"])["s"] == "applied"
    entries = stream(house)
    heard = []
    while (message := ears.get_message()) is not None:
        heard.append(message["data"] if isinstance(message["data"], bytes) else b"")
    ears.close()
    secret = [fields[b"b"] for _, fields in entries if b'"sealed"' in fields[b"b"]]
    assert [json.loads(body)["type"] for body in secret] == ["choose_trump", "discard"]
    assert len(heard) > len(entries)
    assert not [said for said in (*heard, *(fields[b"b"] for _, fields in entries)) if CARD.search(said)]


def test_two_seals_of_one_body_differ_and_their_mark_is_the_same_at_every_node(tmp_path):
    first, second = sender_of(tmp_path), sender_of(tmp_path)
    assert first.mark(spoken(*SAID, DISCARD)) == second.mark(spoken(*SAID, DISCARD))
    seals = [sender.seal("discard", DISCARD) for sender in (first, first, second)]
    assert len(set(seals)) == 3
    assert len({len(seal) for seal in seals}) == 1
    opener = opener_of(tmp_path)
    assert all(opener.open(first.mark(spoken(*SAID, DISCARD)), lambda body: spoken(*SAID, body), seal) == DISCARD
               for seal in seals)


def test_a_mark_cannot_be_guessed_without_the_key(tmp_path):
    ours, others = sender_of(tmp_path / "ours"), sender_of(tmp_path / "others")
    assert ours.mark(spoken(*SAID, DISCARD)) != others.mark(spoken(*SAID, DISCARD))


def test_a_command_repeated_over_another_node_is_known_again(redis, house, tmp_path):
    house.open()
    body = {"type": "discard", "cards": ["7h", "8h"]}
    assert submit(redis, Submitted(TABLE, ANA, "Ana", "k", body)).status == "new"
    attach(redis, sender_of(tmp_path))
    assert submit(redis, Submitted(TABLE, ANA, "Ana", "k", body)).status == "dup"
    assert submit(redis, Submitted(TABLE, ANA, "Ana", "k", body | {"cards": ["7h", "9h"]})).status == "reused"


FORGERIES = {
    "unsigned": lambda fields: fields | {b"f": b"0" * 24},
    "without a mark": lambda fields: {name: value for name, value in fields.items() if name != b"f"},
    "another actor": lambda fields: fields | {b"a": BARA.encode(), b"k": b"new"},
    "another key": lambda fields: fields | {b"k": b"new"},
    "another name": lambda fields: fields | {b"n": b"Eve", b"k": b"new"},
    "another body": lambda fields: fields | {b"b": b'{"type":"leave"}', b"k": b"new"},
    "another table": lambda fields: fields | {b"t": b"t-01-00000000000c"},
    "a broken seal": lambda fields: fields | {b"b": b'{"sealed":"AAAA","type":"discard"}', b"k": b"new"},
    "a seal that is none": lambda fields: fields | {b"b": b'{"sealed":"%%%","type":"discard"}', b"k": b"new"},
    "an open seal": lambda fields: fields | {b"b": b'{"sealed":"', b"k": b"new"},
    "no text": lambda fields: fields | {b"b": b"\xff\x00", b"k": b"new"},
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
def test_an_entry_that_nobody_with_the_key_has_sent_is_never_applied(house, forge):
    """Somebody has the password of an API node at the store, and adds to its commands by hand."""
    house.open()
    house.say(TABLE, ANA, "sit")
    before = house.view()
    _, sat = stream(house)[-1]
    add_by_hand(house, forge(sat))
    assert house.view() == before
    [(_, letter)] = house.redis.xrange(keys.dead("01"))
    assert letter[b"error"].startswith(b"Forged: ")
    assert house.say(TABLE, BARA, "sit")["s"] == "applied", "the partition goes on"


def test_a_forged_command_is_not_in_the_way_of_the_one_whose_key_it_bears(house):
    house.open()
    add_by_hand(house, {"t": TABLE, "a": ANA, "k": "next", "f": "0" * 24, "b": '{"type":"sit"}'})
    assert views.receipt(house.redis, TABLE, ANA, "next") is None
    assert house.send(TABLE, ANA, {"type": "sit"}, key="next").status == "new"
    house.settle()
    assert views.receipt(house.redis, TABLE, ANA, "next")["s"] == "applied"


def test_an_account_is_not_opened_by_a_forged_command(house):
    player = "u-01-00000000000000ff"
    add_by_hand(house, {"t": player, "a": "system", "k": "open", "f": "0" * 24, "b": '{"type":"open_account"}'})
    assert not house.redis.exists(keys.account(player))


def test_while_a_key_is_exchanged_both_are_known(tmp_path):
    old = sender_of(tmp_path)
    said = spoken(*SAID, DISCARD)
    file = tmp_path / MARKS
    file.write_text("ab" * 32 + "\n" + file.read_text())
    new, opener = sender_of(tmp_path), opener_of(tmp_path)
    assert old.mark(said) != new.mark(said)
    for sender in (old, new):
        assert opener.open(sender.mark(said), lambda body: spoken(*SAID, body), DISCARD) == DISCARD
    file.write_text("ab" * 32 + "\n")
    with pytest.raises(Forged):
        opener_of(tmp_path).open(old.mark(said), lambda body: spoken(*SAID, body), DISCARD)


def test_a_new_pair_of_the_workers_takes_over_while_the_old_one_still_opens(tmp_path):
    old = sender_of(tmp_path)
    sealed, mark = old.seal("discard", DISCARD), old.mark(spoken(*SAID, DISCARD))
    fresh = X25519PrivateKey.generate()
    (tmp_path / "worker-2.key").write_bytes(fresh.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    (tmp_path / "worker.pub").write_bytes(fresh.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    opener = opener_of(tmp_path)
    for text in (sealed, sender_of(tmp_path).seal("discard", DISCARD)):
        assert opener.open(mark, lambda body: spoken(*SAID, body), text) == DISCARD


def test_the_keys_are_made_once_and_are_the_owners_alone(tmp_path):
    sender_of(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    opener_of(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert set(before) == {"commands.key", "worker.pub", "worker.key"}
    assert all(file.stat().st_mode & 0o077 == 0 for file in tmp_path.iterdir())


def test_a_dead_letter_keeps_the_seal_and_can_be_sent_again(house):
    actor, legal = to_the_discard(house)
    move = next(move for move in legal if move["type"] == "discard")
    sent = house.send(TABLE, actor, move, key="first")
    assert sent.status == "new"
    [command] = read_commands(house.redis, {"01": stream(house)[-2][0].decode()})["01"]
    assert not CARD.search(command.body)
    again = house.send(TABLE, actor, json.loads(command.body), key="again")
    assert again.status == "new", "as `marias dead retry` sends it: with the seal as it is"
    house.settle()
    receipts = [views.receipt(house.redis, TABLE, actor, key) for key in ("first", "again")]
    assert [receipt["s"] for receipt in receipts] == ["applied", "refused"]
    assert not house.redis.exists(keys.dead("01"))
