"""Proofs of deals: what is right passes, every change is found and named, and both checkers say the same."""

import copy
import importlib.util
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.fairness import commitments
from engine.fairness.check import AUDITOR, check, check_together, covers_the_deck
from engine.fairness.shape import Unfair
from engine.games.voleny import VOLENY
from engine.table.events import DealCommitted, NoncesJoined, SatDown, SeatFreed, SeatLeft
from schemas.proofs import proof_of
from schemas.table import dump_events, load_events
from services.cli.verify import verify
from tests.cast import ANA, DANA, SEATED
from tests.table.fairly import KEY, modest, taking_over, whole

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "deploy" / "verify_deal.py"


def _script():
    spec = importlib.util.spec_from_file_location("verify_deal", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERIFY = _script()


def any_move(seed):
    dice = random.Random(seed)
    return lambda table: dice.choice((dice.choice(VOLENY.legal(table.state)), VOLENY.modest(table.state)))


DEALS = {
    "all gave nonces": whole(*SEATED),
    "nobody gave one": whole(),
    "taken over twice": whole(ANA, choose=taking_over),
    **{f"any moves {seed}": whole(*SEATED[: seed % 4], choose=any_move(seed)) for seed in range(1, 6)},
}
HOLDERS = (None, 0, 1, 2, AUDITOR)


def proof(deal, holder):
    return json.loads(json.dumps(proof_of(DEALS[deal], holder)))


def faults(document):
    """What each checker finds: the field, or nothing."""
    found = []
    for checker, fault in ((check, Unfair), (VERIFY.check, VERIFY.Unfair)):
        try:
            checker(document)
            found.append(None)
        except fault as wrong:
            found.append(wrong.args[0].split(":")[0] if fault is Unfair else wrong.args[0])
    return found


@pytest.mark.parametrize("holder", [None, 0, 1, 2])
@pytest.mark.parametrize("deal", DEALS)
def test_what_was_dealt_fairly_passes(deal, holder):
    assert faults(proof(deal, holder)) == [None, None]


@pytest.mark.parametrize("deal", DEALS)
def test_the_auditors_proof_holds_from_the_deal_key_on(deal):
    checked = check(proof(deal, AUDITOR), KEY)
    assert covers_the_deck([checked])
    assert checked.finished
    with pytest.raises(Unfair, match="seed"):
        check(proof(deal, AUDITOR), bytes(32))


@pytest.mark.parametrize("deal", DEALS)
def test_three_players_together_see_the_whole_deck_once(deal):
    checked = check_together([proof(deal, seat) for seat in range(3)])
    assert covers_the_deck(checked)
    assert not covers_the_deck(checked[:2])


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("seat", [0, 1, 2, None])
def test_at_any_moment_of_the_deal_there_is_a_proof_that_holds(deal, seat):
    events = DEALS[deal]
    dealt = next(place for place, event in enumerate(events) if type(event).__name__ == "Dealt")
    assert proof_of(events[:dealt], seat) is None
    ends = [place for place, event in enumerate(events) if type(event).__name__ in (
        "Dealt", "HandCompleted", "HandsCommitted", "SaidGood", "CardPlayed", "TalonOpened", "CardOpened")]
    checked = 0
    for end in ends:
        part = proof_of(events[: end + 1], seat)
        following = events[end + 1] if end + 1 < len(events) else None
        if type(following).__name__ not in ("CardOpened", "TrickTaken", "HandsCommitted"):  # Else amid an entry.
            assert faults(part) == [None, None], end
            checked += 1
    assert checked > 3


def places_of(value, path=""):
    """Every place in a document that holds a value."""
    if isinstance(value, dict):
        return [each for name in value for each in places_of(value[name], f"{path}.{name}".lstrip("."))]
    if isinstance(value, list):
        return [each for number, member in enumerate(value) for each in places_of(member, f"{path}[{number}]")]
    return [path]


def parent(document, place):
    *steps, last = [name or int(index) for name, index in re.findall(r"\.?([a-z_]+)|\[(\d+)\]", place)]
    for step in steps:
        document = document[step]
    return document, last


def changed(value, dice):
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{32,64}", value):
        place = dice.randrange(len(value))
        return value[:place] + ("0" if value[place] != "0" else "1") + value[place + 1 :]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    other = {"play": "turn", "turn": "play", "marias-proof/1": "marias-proof/2"}
    return other.get(value, "7h" if value != "7h" else "8h")


@pytest.mark.parametrize(("deal", "holder"), [
    ("taken over twice", None), ("taken over twice", 0), ("taken over twice", 2), ("nobody gave one", 1),
])
def test_every_single_value_that_is_changed_is_found_by_both_at_the_same_place(deal, holder):
    good, dice, passed = proof(deal, holder), random.Random(1), set()
    for place in places_of(good):
        bad = copy.deepcopy(good)
        holder_of, last = parent(bad, place)
        holder_of[last] = changed(holder_of[last], dice)
        ours, theirs = faults(bad)
        assert ours == theirs, place
        if ours is None:
            passed.add(re.sub(r"\[\d+\]", "", place))
    # These the proof of one alone cannot hold against anything: three together, the feed or the auditor can.
    assert passed <= {"finished", "commitments", "present", "opened.by", "rounds.seat"}


@pytest.mark.parametrize("deal", ["any moves 3"])
def test_every_value_of_the_auditors_proof_counts(deal):
    good, dice, passed = proof(deal, AUDITOR), random.Random(2), set()
    for place in places_of(good):
        bad = copy.deepcopy(good)
        holder_of, last = parent(bad, place)
        holder_of[last] = changed(holder_of[last], dice)
        try:
            check(bad, KEY)
            passed.add(re.sub(r"\[\d+\]", "", place))
        except Unfair:
            pass
    assert passed <= {"finished", "commitments", "present", "opened.by", "sealed_key"}


@pytest.mark.parametrize("value", [None, [], {}, "x", 5, 2**70, float("nan"), [[]], True])
def test_whatever_is_no_proof_is_refused_by_both(value):
    assert faults(value)[0] == faults(value)[1] == "format"
    good = proof("all gave nonces", 0)
    for name in good:
        bad = {**good, name: value}
        ours, theirs = faults(bad)
        assert (ours or "").split("[")[0] == (theirs or "").split("[")[0], name
    for name in good:
        bad = dict(good)
        del bad[name]
        ours, theirs = faults(bad)
        assert ours == theirs, name
        assert ours is not None, name


def run(*proofs, folder):
    files = []
    for number, document in enumerate(proofs):
        file = folder / f"proof{number}.json"
        file.write_text(json.dumps(document) if not isinstance(document, bytes) else document.decode())
        files.append(str(file))
    command = [sys.executable, "-I", str(SCRIPT), *files]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=180)


def test_the_script_needs_nothing_of_this_program_and_says_what_it_saw(tmp_path):
    source = SCRIPT.read_text(encoding="utf-8")
    imported = set(re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE))
    assert imported <= {"hashlib", "hmac", "json", "re", "sys"}
    compile(source, "verify_deal.py", "exec", dont_inherit=True)
    import ast

    ast.parse(source, feature_version=(3, 8))
    assert len([line for line in source.splitlines() if line.strip()]) <= 250
    told = run(*(proof("taken over twice", seat) for seat in range(3)), folder=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert "All 32 cards were opened, each once." in told.stdout


def test_what_is_equal_to_a_number_is_not_the_number(tmp_path):
    """In Python true is 1 and 1.0 is 1; to another reader of the same proof they are not."""
    good = proof("taken over twice", 0)
    for place in places_of(good):
        holder_of, last = parent(bad := copy.deepcopy(good), place)
        for other in (bool, float):
            if type(number := parent(good, place)[0][last]) is int:
                holder_of[last] = other(number)
                ours, theirs = faults(bad)
                assert ours == theirs, place
                assert ours, (place, holder_of[last])


@pytest.mark.parametrize("nothing", [0, False, "", "x", [], {"a": 1}, "A" * 64])
def test_a_commitment_is_a_hash_also_where_no_nonce_was_revealed(nothing):
    bad = proof("any moves 1", 1)
    place = bad["nonces"].index(None)
    bad["commitments"][place] = nothing
    assert faults(bad) == [f"commitments[{place}]"] * 2


PROOF = json.dumps(proof_of(DEALS["all gave nonces"], 0)).encode()
ODD = {
    "a name twice": PROOF.replace(b'"seat": 0', b'"seat": 1, "seat": 0', 1),
    "a name twice within": PROOF.replace(b'"round": 1', b'"round": 2, "round": 1', 1),
    "NaN": PROOF.replace(b"{", b'{"more": NaN, ', 1),
    "-Infinity": PROOF.replace(b"{", b'{"more": [-Infinity], ', 1),
    "half a pair": PROOF.replace(b"{", b'{"more": "\\ud800", ', 1),
    "half a pair as a name": PROOF.replace(b"{", b'{"\\udfff": 1, ', 1),
    "nested": PROOF.replace(b"{", b'{"more": ' + b"[" * 16 + b"]" * 16 + b", ", 1),
    "a byte order mark": b"\xef\xbb\xbf" + PROOF,
    "UTF-16": PROOF.decode().encode("utf-16"),
    "no UTF-8": PROOF.replace(b"{", b'{"more": "\xff", ', 1),
    "something behind it": PROOF + b"{}",
    "something far behind it": PROOF + b" " * (262_144 - len(PROOF)) + b"UNFAIR",
    "too long by a space": PROOF + b" " * (262_145 - len(PROOF)),
    "a number without end": PROOF.replace(b'"deal": 1', b'"deal": ' + b"1" * 5000, 1),
}
PLAIN = {
    "as it is": PROOF,
    "as long as may be": PROOF + b" " * (262_144 - len(PROOF)),
    "with more in it": PROOF.replace(b"{", b'{"more": ' + b"[" * 15 + b"1e999" + b"]" * 15 + b", ", 1),
    "with a whole pair": PROOF.replace(b"{", b'{"more": "\\ud83d\\ude00", ', 1),
}


@pytest.mark.parametrize("name", [*ODD, *PLAIN])
def test_both_read_the_same_files(name, tmp_path):
    text = (ODD | PLAIN)[name]
    assert name == "as it is" or text != PROOF
    file = tmp_path / "proof.json"
    file.write_bytes(text)
    scripted = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), str(file)], check=False, capture_output=True, text=True, timeout=180)
    ours = CliRunner().invoke(verify, [str(file)])
    assert (scripted.returncode, ours.exit_code) == ((1, 1) if name in ODD else (0, 0)), scripted.stderr + ours.output
    assert "Traceback" not in scripted.stderr


def test_who_had_the_seat_before_the_deal_is_not_who_was_away():
    """The time between two deals is told with the second: a seat may change hands in it."""
    deal = DEALS["taken over twice"]
    before = [
        SatDown(seat=0, player=DANA.id, name="Dana"), SeatLeft(seat=0, player=DANA.id), SeatFreed(seat=0),
        SatDown(seat=0, player=ANA.id, name="Ana"),
    ]
    assert proof_of([*before, *deal], 0) == proof_of(deal, 0)
    assert proof_of(deal, 0)["present"]


def test_who_was_away_is_told_that_his_hand_was_not_checked(tmp_path):
    """A server might say so of somebody who was there, to be asked for nothing."""
    lie = {**proof("taken over twice", 1), "present": False, "hands": [], "talons": [], "dealt": []}
    assert faults(lie) == [None, None]
    told = run(lie, folder=tmp_path)
    assert told.returncode == 0
    assert "NOT CHECKED: what its holder held" in told.stdout
    ours = CliRunner().invoke(verify, [str(tmp_path / "proof0.json")])
    assert "NOT CHECKED: what its holder held" in ours.output
    assert "NOT CHECKED" not in run(proof("taken over twice", 1), folder=tmp_path).stdout


def test_what_a_proof_opens_must_fit_also_where_its_holder_need_not_hold_it():
    other = proof("taken over twice", 2)
    for mine in (proof("taken over twice", None), {**proof("taken over twice", 1), "present": False}):
        assert faults({**mine, "hands": other["hands"]}) == ["hands"] * 2
        assert faults({**mine, "dealt": other["dealt"]}) == ["dealt"] * 2
        for odd in ("x", [{}], [None], [{"round": 1}]):
            for name in ("hands", "talons"):
                ours, theirs = faults({**mine, name: odd})
                assert ours == theirs, (name, odd)
                assert ours, (name, odd)
    extra = proof("taken over twice", 1)
    extra["hands"].append({"round": 99, "seat": 1, "card": "7h", "salt": "0" * 32})
    assert faults(extra) == [f"hands[{len(extra['hands']) - 1}].round"] * 2


def test_of_several_proofs_both_name_the_first_that_does_not_fit(tmp_path):
    one, other = proof("all gave nonces", 0), proof("taken over twice", 1)
    broken = proof("all gave nonces", 2)
    broken["opened"][0]["salt"] = "0" * 32
    with pytest.raises(Unfair, match="2: commitments"):
        check_together([one, other, broken])
    assert "proof1.json: UNFAIR: commitments is not the same" in run(one, other, broken, folder=tmp_path).stderr


def test_a_value_of_any_length_is_named_in_a_few_letters(tmp_path):
    for long in ("x" * 200_000, int("9" * 4_000)):
        told = run({**proof("all gave nonces", 0), "seat": long}, folder=tmp_path)
        assert told.returncode == 1
        assert "UNFAIR: seat cannot be" in told.stderr
        assert len(told.stderr) < 500


def test_the_script_names_the_file_and_the_place_of_a_fault(tmp_path):
    bad = proof("all gave nonces", 1)
    bad["opened"][3]["salt"] = "0" * 32
    told = run(proof("all gave nonces", 0), bad, folder=tmp_path)
    assert told.returncode == 1
    assert "proof1.json: UNFAIR: opened[3].salt" in told.stderr
    told = run(b"[" * 100_000, folder=tmp_path)
    assert told.returncode == 1
    assert "cannot be read" in told.stderr


def test_the_script_tells_what_is_no_players_proof_and_reads_the_standard_input(tmp_path):
    for document in (proof("all gave nonces", AUDITOR), {"title": "Not found", "status": 404}, []):
        told = run(document, folder=tmp_path)
        assert told.returncode == 1
        assert "proof0.json: is no player's proof" in told.stderr
    command = [sys.executable, "-I", str(SCRIPT)]
    text = json.dumps(proof("all gave nonces", 0))
    piped = subprocess.run([*command, "-"], check=False, capture_output=True, text=True, timeout=180, input=text)
    assert (piped.returncode, piped.stderr) == (0, "")
    helped = subprocess.run([*command, "--help"], check=False, capture_output=True, text=True, timeout=180)
    assert (helped.returncode, helped.stdout[:5]) == (0, "Check")


def test_proofs_of_different_deals_do_not_go_together(tmp_path):
    again = whole(*SEATED, key=commitments.sha256(b"another key").digest())
    one, other = proof("all gave nonces", 0), proof_of(again, 1)
    with pytest.raises(Unfair, match="2: root"):
        check_together([one, other])
    assert "UNFAIR: root is not the same" in run(one, other, folder=tmp_path).stderr
    other = proof("taken over twice", 1)  # The same order of the server, with other nonces.
    with pytest.raises(Unfair, match="2: commitments"):
        check_together([one, other])
    assert "UNFAIR: commitments is not the same" in run(one, other, folder=tmp_path).stderr


def test_who_was_away_has_no_more_than_he_was_told(tmp_path):
    events = list(DEALS["any moves 5"])
    dealt = next(place for place, event in enumerate(events) if type(event).__name__ == "Dealt")
    events.insert(dealt + 1, SeatLeft(seat=0, player=ANA.id))
    gone = proof_of(events, 0)
    assert (gone["present"], gone["hands"], gone["talons"], len(gone["dealt"])) == (False, [], [], 7)
    assert faults(gone) == [None, None]
    end = next(place for place, event in enumerate(events) if type(event).__name__ == "PlayBegan") if any(
        type(event).__name__ == "PlayBegan" for event in events) else len(events) - 1
    events.insert(end, SatDown(seat=0, player=ANA.id, name="Ana"))
    assert proof_of(events, 0)["hands"] == []


def test_a_proof_from_stored_events_is_the_same():
    events = load_events(dump_events(DEALS["taken over twice"]))
    for holder in HOLDERS:
        assert proof_of(events, holder) == proof_of(DEALS["taken over twice"], holder)


@pytest.mark.parametrize("deal", DEALS)
def test_no_proof_but_the_auditors_holds_a_sealed_byte(deal):
    events = DEALS[deal]
    whole_proof = proof(deal, AUDITOR)
    seed = commitments.seed_of(KEY)
    secrets = {seed.hex(), KEY.hex(), *(commitments.seat_key(seed, seat).hex() for seat in range(3))}
    opened = {entry["salt"] for entry in whole_proof["opened"]}
    played = {entry["card"] for entry in whole_proof["opened"]}
    for holder in (None, 0, 1, 2):
        text = json.dumps(proof_of(events, holder))
        own = {entry["salt"] for part in ("dealt", "hands", "talons") for entry in proof(deal, holder)[part]}
        of_all = {entry["salt"] for part in ("dealt", "hands", "talons") for entry in whole_proof[part]}
        assert not any(secret in text for secret in (secrets | of_all) - own - opened)
        held = {entry["card"] for part in ("dealt", "hands") for entry in proof(deal, holder)[part]}
        picked_up = {card for entry in proof(deal, holder)["talons"] for card in entry["cards"]}
        assert set(re.findall(r'"([789TJQKA][hdcs])"', text)) <= held | picked_up | played
        for name in ("seed", "order", "sealed_key", "key"):
            assert f'"{name}"' not in text


def test_a_changed_card_a_swapped_leaf_and_the_root_of_another_deal_are_found():
    good = proof("all gave nonces", 2)
    card = copy.deepcopy(good)
    card["dealt"][4]["card"] = next(code for code in ("7h", "8h") if code not in {e["card"] for e in good["dealt"]})
    assert faults(card) == ["dealt[4].salt"] * 2
    leaf = copy.deepcopy(good)
    leaf["leaves"][0], leaf["leaves"][1] = leaf["leaves"][1], leaf["leaves"][0]
    assert faults(leaf) == ["root"] * 2
    opening = copy.deepcopy(good)
    opening["dealt"][0]["place"], opening["dealt"][1]["place"] = (
        opening["dealt"][1]["place"], opening["dealt"][0]["place"])
    assert faults(opening)[0] in ("dealt[0].salt", "dealt[1].salt")
    assert len(set(faults(opening))) == 1
    replayed = copy.deepcopy(good)
    replayed["deal"] += 1
    assert faults(replayed) == ["rounds[0].commitment"] * 2
    replayed["rounds"] = replayed["opened"] = replayed["hands"] = replayed["talons"] = []
    assert faults(replayed) == ["dealt[0].salt"] * 2, "the name of the deal is in every leaf"


def test_a_server_that_deals_other_cards_than_those_under_the_root_is_found():
    """The dealt card is another one, and everything after it is consistent with that."""
    events = list(DEALS["nobody gave one"])
    commit = next(event for event in events if isinstance(event, DealCommitted))
    forged = list(commit.order)
    forged[0], forged[1] = forged[1], forged[0]
    from dataclasses import replace

    lie = proof_of([replace(event, order=tuple(forged)) if event is commit else event for event in events], AUDITOR)
    with pytest.raises(Unfair):
        check(lie, KEY)


def test_a_server_that_exchanges_a_nonce_is_found_by_its_player():
    events = list(DEALS["all gave nonces"])
    from dataclasses import replace

    swapped = [
        replace(event, nonces=("", *event.nonces[1:])) if isinstance(event, NoncesJoined) else event for event in events
    ]
    assert faults(proof_of(swapped, 0)) == ["dealt[0].salt"] * 2
    other = [
        replace(event, nonces=("ab" * 32, *event.nonces[1:])) if isinstance(event, NoncesJoined) else event
        for event in events
    ]
    assert faults(proof_of(other, 1)) == ["nonces[0]"] * 2


def test_a_card_that_another_holds_cannot_be_played():
    """The forger knows every salt and makes tokens as he likes, but not so that the proof of the holder agrees."""
    good = proof("all gave nonces", 1)
    foreign = next(number for number, entry in enumerate(good["opened"]) if entry["seat"] != 1)
    own = next(entry for entry in good["hands"] if entry["card"] not in {e["card"] for e in good["opened"]} or True)
    seat, seed = good["opened"][foreign]["seat"], commitments.seed_of(KEY)
    card = commitments.CODES.index(own["card"])
    salt = commitments.round_salts(commitments.seat_key(seed, seat), 1)[card]
    name = f"{good['table']}/{good['deal']}"
    hand = list(good["rounds"][0]["tokens"][seat])
    old = good["opened"][foreign]
    old_card = commitments.CODES.index(old["card"])
    hand.remove(commitments.token(name, 1, seat, old_card, bytes.fromhex(old["salt"])).hex())
    hand = sorted([*hand, commitments.token(name, 1, seat, card, salt).hex()])
    good["rounds"][0]["tokens"][seat] = hand
    tokens = [list(map(bytes.fromhex, each)) for each in good["rounds"][0]["tokens"]]
    talon = bytes.fromhex(good["rounds"][0]["talon"])
    good["rounds"][0]["commitment"] = commitments.round_commitment(name, 1, tokens, talon).hex()
    good["opened"] = [{**old, "card": own["card"], "salt": salt.hex()}]
    assert faults(good) == ["opened[0].card"] * 2


@pytest.mark.parametrize("choose", [modest, taking_over])
def test_the_same_key_and_nonces_give_the_same_deal_for_ever(choose):
    assert whole(*SEATED, choose=choose) == whole(*SEATED, choose=choose)
