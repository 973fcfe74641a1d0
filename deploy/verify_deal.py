#!/usr/bin/env python3
"""Check that a deal of mariáš was fair. Needs Python 3.8 or later and nothing else.

    python3 verify_deal.py PROOF.json                      the proof that the server gave you (GET …/deals/{n}/proof)
    python3 verify_deal.py ANA.json BARA.json CYRIL.json   the proofs of all three players, after the end

How it works. Before the deal the server hashed its order of the 32 cards, each with a secret salt, into 32 leaves, and
those into one root. Only then the players told their nonces (random numbers), which a hash had fixed before. Root and
nonces decide which leaf lies where in the deal, so that nobody could choose it. You were given the salts of your own
cards and can open your own leaves. After each discard every hand was hashed again, card by card, with new salts
(tokens), so that a card that is played opens a token of the hand it comes from. What stays secret is never opened.

A file may be - (standard input). Exit status 0: all is well, and it says what was checked. 1: it names what is wrong.
"""

import hashlib
import hmac
import json
import re
import sys

CARDS = [rank + suit for suit in "hdcs" for rank in "789TJQKA"]  # 7h 8h … Ah 7d … As
LABEL = b"marias fairness 1 "
PROOF_BYTES = 262144
# Where in the deal the cards lie of the forehand, of the player after him, and of the dealer.
PLACES = [[*range(7), *range(17, 22)], [*range(7, 12), *range(22, 27)], [*range(12, 17), *range(27, 32)]]
COMMON = (  # What all proofs of a deal have in common, whoever holds them.
    "table", "deal", "dealer", "root", "leaves", "server_commitment", "commitments", "server_nonce", "nonces",
    "finished", "rounds", "opened",  # Proofs of a running deal differ: ask for all of them after its end.
)


class Unfair(Exception):
    """Something is wrong: where, and why."""


def look(proof, where):
    """The value at a place such as rounds[0].tokens[2]."""
    value = proof
    for name, index in re.findall(r"\.?([a-z_]+)|\[(\d+)\]", where):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            raise Unfair(where, "is missing") from None
    return value


def one_of(proof, where, allowed):
    """A value that must be one of a few."""
    value = look(proof, where)
    if isinstance(value, (bool, float, list, dict)) or value not in allowed:
        raise Unfair(where, f"cannot be {repr(value)[:60]}")
    return value


def members(proof, where, size=None):
    """The places in a list, which must have `size` members if that is told."""
    value = look(proof, where)
    if not isinstance(value, list) or size not in (None, len(value)):
        raise Unfair(where, "is no list" if size is None else f"is no list of {size}")
    return [f"{where}[{i}]" for i in range(len(value))]


def data(proof, where, size=32):
    """Bytes, from hexadecimal digits."""
    value = look(proof, where)
    if not isinstance(value, str) or not re.fullmatch(f"[0-9a-f]{{{2 * size}}}", value):
        raise Unfair(where, f"is not {2 * size} hexadecimal digits")
    return bytes.fromhex(value)


def once(pairs):
    """A JSON object. One that tells a name twice could be another proof to another reader."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is repeated in an object")
    return dict(pairs)


def depth(value):
    """How deep a value is nested."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def read(file):
    """The JSON of a file, read strictly. Raises OSError, ValueError, RecursionError."""
    with open(0 if file == "-" else file, "rb") as opened:
        text = opened.read(PROOF_BYTES + 1)
    proof = json.loads(text.decode(), object_pairs_hook=once, parse_constant=int)  # NaN is no number.
    json.dumps(proof, ensure_ascii=False).encode()  # Half a pair of surrogates is no text.
    if len(text) > PROOF_BYTES or depth(proof) > 16:
        raise ValueError("longer or nested deeper than a proof")
    return proof


def sha(*parts):
    """SHA-256 of bytes and texts, joined."""
    return hashlib.sha256(b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)).digest()


def merkle_root(hashes):
    """One hash over many: RFC 9162, for 1, 2, 4 … 32 of them."""
    while len(hashes) > 1:
        hashes = [sha(b"\1", hashes[i], hashes[i + 1]) for i in range(0, len(hashes), 2)]
    return hashes[0]


def shuffled(key):
    """The numbers 0 to 31 in the order that a key decides, each order as likely as any other."""
    order, words, counter = list(range(32)), [], 0
    for place in range(31, 0, -1):
        word = 1 << 32
        while word >= (1 << 32) // (place + 1) * (place + 1):  # Higher words would favour low numbers.
            if not words:
                block = hmac.new(key, counter.to_bytes(8, "big"), "sha256").digest()
                words, counter = [int.from_bytes(block[i : i + 4], "big") for i in range(0, 32, 4)], counter + 1
            word = words.pop(0)
        other = word % (place + 1)
        order[place], order[other] = order[other], order[place]
    return order


def check_nonces(proof):
    """The root is over the leaves, the nonces are those that were committed to. Gives which leaf lies where."""
    leaves = [data(proof, where) for where in members(proof, "leaves", 32)]
    root, server = data(proof, "root"), data(proof, "server_nonce")
    if merkle_root(leaves) != root:
        raise Unfair("root", "is not that of the leaves")
    if sha(LABEL, "nonce", server) != data(proof, "server_commitment"):
        raise Unfair("server_nonce", "is not what the server had committed to")
    members(proof, "commitments", 3)
    nonces = []
    for seat, where in enumerate(members(proof, "nonces", 3)):
        nonce, commitment = (
            None if look(proof, at) is None else data(proof, at) for at in (where, f"commitments[{seat}]"))
        if nonce is not None and sha(LABEL, "nonce", nonce) != commitment:
            raise Unfair(where, "is not what the seat had committed to")
        # Where a player gave none the server's stands in.
        nonces.append(nonce or sha(LABEL, "stand-in", bytes([seat]), server))
    return shuffled(sha(LABEL, "joint", root, *nonces))


def check_rounds(proof, name, forehand):
    """After each discard: ten tokens a seat in the order of their bytes, a hash of the talon, and one of all these."""
    for i, at in enumerate(members(proof, "rounds")):
        one_of(proof, at + ".round", [i + 1])
        one_of(proof, at + ".seat", range(3) if i else [forehand])
        told = []
        for where in members(proof, at + ".tokens", 3):
            hand = [data(proof, token) for token in members(proof, where, 10)]
            if hand != sorted(set(hand)):
                raise Unfair(where, "is not in the order of its bytes")
            told += hand
        if sha(name, f"/hands/{i + 1}", *told, data(proof, at + ".talon")) != data(proof, at + ".commitment"):
            raise Unfair(at + ".commitment", "is not that of the tokens and the talon")


def check_token(proof, name, at, number):
    """What is told at this place opens a token of that round. Gives the seat and the card."""
    one_of(proof, at + ".round", [number] if number else [])
    seat, card = one_of(proof, at + ".seat", range(3)), one_of(proof, at + ".card", CARDS)
    token = sha(data(proof, at + ".salt", 16), name, f"/hand/{number}/{seat}/{card}").hex()
    if token not in look(proof, f"rounds[{number - 1}].tokens[{seat}]"):
        raise Unfair(at + ".salt", f"opens no token of {card} in the hand of seat {seat}")
    return seat, card


def check_opened(proof, name):
    """Each card that was played or turned was in a hand since the last discard. Gives how, the seat and the card."""
    opened = []
    for at in members(proof, "opened"):
        by = one_of(proof, at + ".by", ("play", "turn"))
        seat, card = check_token(proof, name, at, len(look(proof, "rounds")))
        if any(how == by and known == card for how, _, known in opened):
            raise Unfair(at + ".card", f"{card} was opened before")
        opened.append((by, seat, card))
    return opened


def check_dealt(proof, name, lies):
    """The cards that were dealt to you open the leaves that root and nonces put there. Gives the card of each place."""
    dealt = {}
    for at in members(proof, "dealt"):
        place, card = one_of(proof, at + ".place", range(32)), one_of(proof, at + ".card", CARDS)
        if place in dealt or card in dealt.values():
            raise Unfair(at, "tells a place or a card again")
        leaf = sha(b"\0", data(proof, at + ".salt", 16), name, f"/leaf/{lies[place]}/{card}")
        if leaf != data(proof, f"leaves[{lies[place]}]"):
            raise Unfair(at + ".salt", f"does not open leaf {lies[place]} as {card}")
        dealt[place] = card
    return dealt


def check_talons(proof, name, rounds):
    """The talons that you may know, which you laid away or picked up. Gives the two cards of each round."""
    talons = {}
    for at in members(proof, "talons"):
        number = one_of(proof, at + ".round", range(1, rounds + 1))
        two = sorted({one_of(proof, where, CARDS) for where in members(proof, at + ".cards", 2)}, key=CARDS.index)
        if len(two) < 2:
            raise Unfair(at + ".cards", "are not two")
        talon = sha(data(proof, at + ".salt", 16), name, f"/talon/{number}/{two[0]}/{two[1]}").hex()
        if talon != look(proof, f"rounds[{number - 1}].talon"):
            raise Unfair(at + ".salt", f"does not open the talon of round {number}")
        talons[number] = set(two)
    return talons


def check_hands(proof, name, rounds):
    """The cards that you held after each discard. Gives the round, the seat and the card of each."""
    hands = set()
    for at in members(proof, "hands"):
        number = one_of(proof, at + ".round", range(1, rounds + 1))
        hands.add((number, *check_token(proof, name, at, number)))
    return hands


def check_own(proof, dealt, opened, hands, talons):
    """What you held from the deal to the last card, and that nobody played a card of yours."""
    seat, rounds = proof["seat"], len(proof["rounds"])
    places = [] if seat is None else PLACES[(seat - proof["dealer"] - 1) % 3]
    if not set(dealt) <= set(places):
        raise Unfair("dealt", f"opens cards that seat {seat} may not know")
    if any(who != seat for _, who, _ in hands):
        raise Unfair("hands", f"opens cards that seat {seat} may not know")
    if seat is None or not proof["present"]:  # Who was away for a time does not know all of it.
        return
    if sorted(dealt) != sorted(places) and (rounds or sorted(dealt) != places[:7]):  # The forehand has seven at first.
        raise Unfair("dealt", f"is not what seat {seat} was dealt")
    hold, away = set(dealt.values()), set()
    for number in range(1, rounds + 1):
        away = set()
        if proof["rounds"][number - 1]["seat"] == seat:
            taken, away = talons.get(number - 1, set()), talons.get(number, set())
            if not away or (number > 1 and not taken) or not away <= hold | taken or hold & taken:
                raise Unfair("talons", f"cannot be what you laid away and picked up in round {number}")
            hold = (hold | taken) - away
        if {card for told, _, card in hands if told == number} != hold or len(hold) != 10:
            raise Unfair("hands", f"of round {number} are not what you held")
    for i, (_, who, card) in enumerate(opened):
        if (card in hold) != (who == seat) or card in away:
            raise Unfair(f"opened[{i}].card", f"{card} was not in the hand of seat {who}")


def check(proof):
    """All that one proof shows. Gives the cards that its holder was dealt, by place."""
    one_of(proof, "format", ["marias-proof/1"])
    if not isinstance(look(proof, "table"), str) or not re.fullmatch("[ -~]+", proof["table"]):
        raise Unfair("table", "is no text")
    if type(look(proof, "deal")) is not int or not 1 <= proof["deal"] <= 10**9:
        raise Unfair("deal", "is no number")
    name, dealer = f"{proof['table']}/{proof['deal']}", one_of(proof, "dealer", range(3))
    one_of(proof, "seat", (None, 0, 1, 2))  # An auditor's has more in it: marias verify.
    for flag in ("finished", "present"):
        if not isinstance(look(proof, flag), bool):
            raise Unfair(flag, "is neither true nor false")
    lies = check_nonces(proof)
    check_rounds(proof, name, (dealer + 1) % 3)
    opened = check_opened(proof, name)
    dealt, rounds = check_dealt(proof, name, lies), len(proof["rounds"])
    hands, talons = check_hands(proof, name, rounds), check_talons(proof, name, rounds)
    check_own(proof, dealt, opened, hands, talons)
    return dealt


def main(files):
    """Check each proof, and that all say the same and no card was dealt twice."""
    first, seen = None, {}
    for file in files:
        try:
            proof = read(file)
            if not isinstance(proof, dict) or "format" not in proof or proof.get("seat") == "auditor":
                sys.exit(f"{file}: is no player's proof (an auditor's: marias verify --keys): {repr(proof)[:200]}")
            first = first or proof
            dealt = check(proof)
            for field in COMMON:
                if look(proof, field) != look(first, field):
                    raise Unfair(field, "is not the same as in " + files[0])
            for place, card in dealt.items():
                if seen.get(place, card) != card or (place not in seen and card in seen.values()):
                    raise Unfair("dealt", card + " was dealt twice")
            seen.update(dealt)
        except (OSError, ValueError, RecursionError) as error:
            sys.exit(f"{file}: cannot be read as JSON: {error}")
        except Unfair as fault:
            sys.exit(f"{file}: UNFAIR: {fault.args[0]} {fault.args[1]}")
        print(f"{file}: fair: table {proof['table']}, deal {proof['deal']}, seat {proof['seat']}")
        given = ", ".join("its player" if nonce else "the server" for nonce in proof["nonces"])
        print("  nonces of seats 0, 1, 2 came from " + given)
        print(f"  {len(dealt)} leaves opened, {len(proof['opened'])} tokens opened, {len(proof['rounds'])} discards")
        if not proof["present"]:
            print("  NOT CHECKED: what its holder held, as he was away for a time. If you were not: a lie.")
    print("All 32 cards were opened, each once." if len(seen) == 32 else f"{len(seen)} of 32 cards were opened.")


if __name__ == "__main__":
    asked = sys.argv[1:] in (["-h"], ["--help"])
    sys.exit(print(__doc__) if asked else main(sys.argv[1:]) if sys.argv[1:] else __doc__)
