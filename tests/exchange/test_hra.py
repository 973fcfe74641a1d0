"""Files of the program Mariášek, written here, read back; and what no such file may hold."""

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from xml.sax.saxutils import quoteattr

import pytest

from engine.notation import CARD
from schemas.random_records import random_records
from schemas.records import Json, run_record
from services.exchange.hra import BYTES_MAX, Refused, read_hra
from services.exchange.rebuilt import Imported, import_hra

SUITS = {"h": "Cerveny", "s": "Zeleny", "d": "Kule", "c": "Zaludy"}
RANKS = dict(zip("789TJQKA", ("Sedma", "Osma", "Devitka", "Desitka", "Spodek", "Svrsek", "Kral", "Eso"), strict=True))
KINDS = {"hra": "Hra", "sedma": "Sedma", "sto": "Kilo"}

Cards = list[str]


HAND = (
    ["Ah", "Th", "Kh", "Qh", "9h", "8h", "Ad", "Td", "As", "Ts"],
    ["7h", "Ks", "Qs", "9s", "8s", "7s", "Ac", "Tc", "Kc", "Qc"],
    ["Jh", "Kd", "Qd", "Jd", "9d", "8d", "7d", "9c", "8c", "7c"],
)
TALON = ["Jc", "Js"]


def card(code: str, tag: str = "Karta") -> str:
    return f'<{tag} Barva="{SUITS[code[1]]}" Hodnota="{RANKS[code[0]]}" />'


def document(
    hands: Sequence[Cards], talon: Sequence[str] = (), tricks: Sequence[tuple[int, Cards]] = (),
    rest: str = "", **attributes: str,
) -> bytes:
    """A file; the cards of a trick are by seat."""
    head = "".join(f" {name}={quoteattr(value)}" for name, value in {"Voli": "Hrac1", **attributes}.items())
    body = "".join(f"<Hrac{seat}>{''.join(map(card, hand))}</Hrac{seat}>" for seat, hand in enumerate(hands, 1))
    body += f"<Talon>{''.join(map(card, talon))}</Talon><Stychy>"
    for number, (leader, cards) in enumerate(tricks, 1):
        played = "".join(card(code, f"Hrac{seat}") for seat, code in enumerate(cards, 1))
        body += f'<Stych Kolo="{number}" Zacina="Hrac{leader + 1}">{played}</Stych>'
    return f'<?xml version="1.0"?><Hra Kolo="0"{head}>{body}</Stychy>{rest}</Hra>'.encode()


def whole_deals() -> list[Json]:
    """Random trump games of ten tricks without raises that need words the file does not tell."""
    found = []
    for record in random_records("voleny", 5, 400, "random", {"preset": "mariasek"}):
        types = [move["type"] for move in record["moves"]]  # type: ignore[attr-defined]
        silent = all(move.get("marriage") is not False for move in record["moves"])  # type: ignore[attr-defined]
        if types.count("play") == 30 and "flek" not in types and "announce" in types and silent:
            found.append(record)
    return found


def as_hra(record: Json, tricks: int = 10) -> bytes:
    """The record as that program would keep it."""
    moves, dealer, deck = record["moves"], record["dealer"], record["deck"]
    assert isinstance(moves, list)
    assert isinstance(dealer, int)
    assert isinstance(deck, list)
    plays = [(move["seat"], move["card"]) for move in moves if move["type"] == "play"]
    [contract] = [move["contract"] for move in moves if move["type"] == "announce"]
    [talon] = [move["cards"] for move in moves if move["type"] == "discard"]
    [trump] = [move["card"] if "card" in move else deck[17 + move["blind"]]
               for move in moves if move["type"] == "choose_trump"]
    rows = [plays[3 * number:3 * number + 3] for number in range(10)]
    done = [(row[0][0], [dict(row)[seat] for seat in range(3)]) for row in rows[:tricks]]
    hands = tuple([dict(row)[seat] for row in rows[tricks:]] for seat in range(3))
    declarer = (dealer + 1) % 3
    return document(hands, talon, done, Voli=f"Hrac{declarer + 1}",
                    Typ=" ".join(KINDS[part] for part in contract), Trumf=SUITS[trump[1]])


def imported(text: bytes) -> Imported:
    made = import_hra(read_hra(text))
    answer = run_record(made.record)
    assert answer["ok"], answer
    assert answer["finished"] == (made.status == "accepted")
    return made


def plays_of(record: Json) -> list[Json]:
    return [move for move in record["moves"] if move["type"] == "play"]  # type: ignore[attr-defined]


def test_a_whole_deal_comes_back_with_its_result() -> None:
    deals = whole_deals()
    assert len(deals) >= 10
    for record in deals:
        made = imported(as_hra(record))
        assert made.status == "accepted"
        assert made.record["dealer"] == record["dealer"]
        assert plays_of(made.record) == plays_of(record)
        assert made.record["result"] == record["result"]


def test_a_deal_in_the_middle_is_a_position() -> None:
    for record in whole_deals()[:5]:
        made = imported(as_hra(record, tricks=4))
        assert made.status == "partial"
        assert plays_of(made.record) == plays_of(record)[:12]


def test_the_talon_that_is_not_told_is_what_is_left() -> None:
    record = whole_deals()[0]
    text = as_hra(record)
    start, end = text.index(b"<Talon>"), text.index(b"</Talon>")
    made = imported(text[:start] + b"<Talon>" + text[end:])
    assert plays_of(made.record) == plays_of(record)
    assert any("talon is not told" in note for note in made.notes)


def test_twelve_cards_are_the_cards_before_a_choice() -> None:
    deck = [*CARD]
    Random(1).shuffle(deck)
    made = imported(document((deck[:12], deck[12:22], deck[22:])))
    assert made.record["deck"] == [*deck[:7], *deck[12:17], *deck[22:27], *deck[7:12], *deck[17:22], *deck[27:]]
    assert made.record["moves"] == []


def test_raises_and_proti_are_found_again() -> None:
    fleks = '<Fleky><Flek Hra="Hra" Pocet="2" /><Flek Hra="SedmaProti" Pocet="1" /></Fleky>'
    made = imported(document(HAND, TALON, rest=fleks, Typ="Hra SedmaProti KiloProti", Trumf="Cerveny"))
    moves = made.record["moves"]
    assert isinstance(moves, list)
    raised = [part for move in moves if move["type"] == "flek" for part in move["raise"]]
    announced = [part for move in moves if move["type"] == "flek" for part in move["announce"]]
    assert (raised.count("hra"), raised.count("sedma_proti"), sorted(announced)) == (2, 1, ["sedma_proti", "sto_proti"])


def without(hand: Cards, *gone: str) -> Cards:
    return [code for code in hand if code not in gone]


FAULTS = {
    "no xml": (b"marias", "bad_file", "Not XML"),
    "nothing": (b"", "bad_file", "Not XML"),
    "another root": (b"<Game/>", "bad_file", "not Hra"),
    "an unknown encoding": (b'<?xml version="1.0" encoding="x-none"?><Hra/>', "bad_file", "'x-none'"),
    "a Windows encoding": (
        b'\xef\xbb\xbf<?xml version="1.0" encoding=\'windows-1250\'?><Hra/>', "bad_file", "'windows-1250'",
    ),
    "a Windows letter": (b"<Hra>\x9ekola</Hra>", "bad_file", "UTF-8 (byte 5)"),
    "UTF-16 without a mark": ('<?xml version="1.0"?><Hra/>'.encode("utf-16-le"), "bad_file", "UTF-8"),
    "UTF-16": ('<?xml version="1.0" encoding="utf-16"?><Hra/>'.encode("utf-16"), "bad_file", "UTF-8"),
    "NUL": (b"<Hra\0/>", "bad_file", "Not XML"),
    "a PNG": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "bad_file", "UTF-8"),
    "a ZIP": (b"PK\x03\x04\x14\0\0\0", "bad_file", "Not XML"),
    "gzip": (b"\x1f\x8b\x08\0\0\0\0\0", "bad_file", "UTF-8"),
    "our own format": (b'{"format": "marias-deal/1"}', "bad_file", "Not XML"),
    "cut off": (document(HAND, TALON)[:-1], "bad_file", "Not XML"),
    "nested without end": (b"<Hra>" + b"<a>" * 80_000, "bad_file", "Not XML"),
    "nested": (b"<Hra>" + b"<a>" * 30_000 + b"</a>" * 30_000 + b"</Hra>", "bad_file", "Voli"),
    "quadratic blow-up": (
        b'<!DOCTYPE Hra [<!ENTITY a "' + b"a" * 100_000 + b'">]><Hra>' + b"&a;" * 40_000 + b"</Hra>",
        "bad_file", "entities",
    ),
    "a document type alone": (b'<!DOCTYPE Hra SYSTEM "http://127.0.0.1:9/x.dtd"><Hra/>', "bad_file", "document type"),
    "a reference to nothing": (b"<Hra>&nothing;</Hra>", "bad_file", "Not XML"),
    "a hand twice": (document(HAND, TALON, rest="<Hrac2/>"), "bad_file", "Hrac2 is there 2 times"),
    "two talons": (document(HAND, TALON, rest="<Talon/>"), "bad_file", "Talon is there 2 times"),
    "two sets of tricks": (document(HAND, TALON, rest="<Stychy/>"), "bad_file", "Stychy is there 2 times"),
    "a trick in which one plays twice": (
        document(HAND, TALON, [(0, ["Ah", "7h", "Jh"])])
        .replace(b"</Stych>", card("8h", "Hrac2").encode() + b"</Stych>"),
        "bad_file", "Stych 1: Hrac2 is there 2 times",
    ),
    "eleven tricks": (
        document(HAND, TALON, [(0, ["Ah", "7h", "Jh"])] * 11), "too_many_tricks", "11 tricks",
    ),
    "a huge number of raises": (
        document(HAND, TALON, rest=f'<Fleky><Flek Hra="Hra" Pocet="{"9" * 9000}" /></Fleky>'), "bad_file", "Pocet",
    ),
    "a huge number of points": (
        document(HAND, TALON, rest=f'<Zuctovani><Hrac1 Body="{"9" * 9000}" /></Zuctovani>', Typ="Hra", Trumf="Zeleny"),
        "bad_file", "Body",
    ),
    "too long": (b"<Hra>" + b" " * BYTES_MAX, "too_large", "Longer"),
    "a bomb": (
        b'<!DOCTYPE Hra [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><Hra>&b;</Hra>', "bad_file", "entities",
    ),
    "an outer file": (
        b'<!DOCTYPE Hra [<!ENTITY a SYSTEM "file:///etc/passwd">]><Hra>&a;</Hra>', "bad_file", "entities",
    ),
    "no declarer": (b"<Hra/>", "bad_file", "Voli"),
    "no such player": (document(HAND, TALON, Voli="Hrac4"), "bad_file", "Hrac4"),
    "no such suit": (document(HAND, TALON, Trumf="Modry"), "bad_file", "Modry"),
    "no such kind": (document(HAND, TALON, Typ="Dva"), "bad_file", "Dva"),
    "no such card": (document(HAND, TALON).replace(b"Eso", b"Joker", 1), "bad_file", "Hrac1"),
    "digits of another script": (
        document(HAND, TALON, rest='<Zuctovani><Hrac1 Zisk="١٢" /></Zuctovani>'), "bad_file", "Zisk",
    ),
    "an underscore in a number": (
        document(HAND, TALON, rest='<Zuctovani><Hrac1 Body="1_0" /></Zuctovani>'), "bad_file", "Body",
    ),
    "raises in another script": (
        document(HAND, TALON, rest='<Fleky><Flek Hra="Hra" Pocet="٢" /></Fleky>'), "bad_file", "Pocet",
    ),
    "no such leader": (document(HAND, TALON, Zacina="Hrac0"), "bad_file", "Zacina='Hrac0'"),
    "a card of another game": (document(HAND, TALON).replace(b"Eso", b"Dama", 1), "bad_file", "Hodnota='Dama'"),
    "30 cards and a talon": (
        document((HAND[0][1:], HAND[1][1:], HAND[2]), TALON, Typ="Hra", Trumf="Cerveny"), "wrong_cards", "30 cards",
    ),
    "29 cards and no talon": (document((HAND[0][1:], *HAND[1:])), "wrong_cards", "29 cards"),
    "no cards": (document(([], [], [])), "wrong_cards", "0 cards"),
    "a card in hand and talon": (document(HAND, ["Ah", "Js"]), "wrong_cards", "Ah is there twice"),
    "a card in hand and trick": (
        document(HAND, TALON, [(0, ["Ah", "7h", "Jh"])]), "wrong_cards", "is there twice",
    ),
    "31 cards": (document((HAND[0][1:], *HAND[1:]), TALON), "wrong_cards", "31 cards"),
    "a card twice": (document((["Jh", *HAND[0][1:]], *HAND[1:]), TALON), "wrong_cards", "Jh"),
    "eleven in a hand": (
        document(([*HAND[0], "7h"], without(HAND[1], "7h"), HAND[2]), TALON, Typ="Hra", Trumf="Cerveny"),
        "wrong_cards", "Hrac1",
    ),
    "one in the talon": (document((["Js", *HAND[0]], *HAND[1:]), ["Jc"]), "wrong_cards", "Talon"),
    "sto and sto_proti": (
        document(HAND, TALON, Typ="Kilo KiloProti", Trumf="Cerveny"), "contract_contradicts", "KiloProti",
    ),
    "sedma and sedma_proti": (
        document(HAND, TALON, Typ="Sedma SedmaProti", Trumf="Cerveny"), "contract_contradicts", "SedmaProti",
    ),
    "betl and durch": (document(HAND, TALON, Typ="Betl Durch"), "contract_contradicts", "Betl Durch"),
    "hra without trumps": (document(HAND, TALON, Typ="Hra"), "contract_contradicts", "Trumf"),
    "betl with trumps": (document(HAND, TALON, Typ="Betl", Trumf="Kule"), "contract_contradicts", "Trumf"),
    "an ace in the talon": (
        document((["Jc", *without(HAND[0], "Ad")], *HAND[1:]), ["Ad", "Js"], Typ="Hra", Trumf="Cerveny"),
        "ace_or_ten_in_talon", "Ad",
    ),
    "a suit he has not": (document(HAND, TALON, Typ="Hra", Trumf="Zaludy"), "wrong_cards", "suit"),
    "sedma without the seven": (document(HAND, TALON, Typ="Sedma", Trumf="Cerveny"), "contract_not_allowed", "first"),
    "levels that cannot be": (
        document(HAND, TALON, rest='<Fleky><Flek Hra="Sedma" Pocet="1" /></Fleky>', Typ="Hra", Trumf="Cerveny"),
        "doubling_impossible", "Fleky",
    ),
    "another leads": (
        document((HAND[0][1:], HAND[1][1:], HAND[2][1:]), TALON, [(1, ["Ah", "7h", "Jh"])], Typ="Hra", Trumf="Cerveny"),
        "wrong_leader", "Stych 1",
    ),
    "a card that may not be played": (
        document((HAND[0][1:], without(HAND[1], "Ks"), HAND[2][1:]), TALON, [(0, ["Ah", "Ks", "Jh"])],
                 Typ="Hra", Trumf="Cerveny"),
        "illegal_card", "Stych 1, Hrac2",
    ),
    "a trick of two cards": (
        document(HAND, TALON, [(0, ["Ah", "7h"])], Typ="Hra", Trumf="Cerveny"), "bad_file", "Hrac3",
    ),
    "points in words": (
        document(HAND, TALON, rest='<Zuctovani><Hrac1 Body="mnoho" /></Zuctovani>'), "bad_file", "mnoho",
    ),
}


@pytest.mark.parametrize(("text", "code", "names"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_have_been_is_refused_with_its_place(text: bytes, code: str, names: str) -> None:
    with pytest.raises(Refused) as refused:
        import_hra(read_hra(text))
    assert refused.value.code == code
    assert names in str(refused.value)


def test_points_that_are_not_those_of_the_tricks_are_refused() -> None:
    text = as_hra(whole_deals()[0])
    wrong = text.replace(b"</Hra>", b'<Zuctovani><Hrac1 Body="5" Zisk="" /></Zuctovani></Hra>')
    with pytest.raises(Refused, match="points_differ"):
        import_hra(read_hra(wrong))


@pytest.mark.samples
def test_the_samples_do_what_is_known_of_them() -> None:
    folder = Path(os.environ.get("MARIAS_SAMPLES", "../shared/samples")) / "hra"
    if not folder.is_dir():
        pytest.skip(f"no game records of others in {folder}; set MARIAS_SAMPLES")
    statuses: dict[str, str] = {}
    for path in sorted(folder.glob("*.hra")):
        try:
            statuses[path.name[:2]] = imported(path.read_bytes()).status
        except Refused as refusal:
            statuses[path.name[:2]] = refusal.code
    assert statuses.pop("01") == statuses.pop("04") == "accepted"
    assert statuses.pop("03") == "contract_contradicts"
    assert statuses.pop("34") == "contract_not_allowed"  # A sto without a marriage (§5.4).
    assert set(statuses.values()) == {"partial"}
    paid = imported(next(folder.glob("01*")).read_bytes()).record["result"]
    assert isinstance(paid, dict)
    assert paid["payments"] == [48, -24, -24]
