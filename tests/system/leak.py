"""A referee of secrets: which cards a seat may know at which version, judged from the auditor's whole record."""

import re

CARD = re.compile(rb'"([789TJQKA][hdcs])"')
PACKETS = {0: ((0, 7), (17, 22)), 1: ((7, 12), (22, 27)), 2: ((12, 17), (27, 32))}
MOVE_EVENTS = {
    "trump_chosen",
    "discarded",
    "game_declared",
    "said_good",
    "taken_over",
    "contract_announced",
    "doubled",
    "card_played",
}


def moves_in(item: dict) -> int:
    """How many moves of the game one item of a feed speaks of: one or none."""
    return sum(event["type"] in MOVE_EVENTS for event in item["events"])


def knowledge(record: dict) -> list[list[set[str]]]:
    """For each number of moves made, the cards that each of the three seats (and a spectator, last) may know."""
    deck, forehand = record["deck"], (record["dealer"] + 1) % 3
    dealt = {}
    for place, packets in PACKETS.items():
        dealt[(forehand + place) % 3] = [card for start, end in packets for card in deck[start:end]]
    known = [set(dealt[seat]) for seat in range(3)]
    known[forehand] = set(deck[0:7])
    known.append(set())
    timeline = [[set(cards) for cards in known]]
    talon: list[str] = []
    game, approvals = "", 0
    for move in record["moves"]:
        seat = move["seat"]
        if move["type"] == "choose_trump":
            known[seat] |= set(dealt[seat])
            trump_card = move.get("card") or deck[17 + move["blind"]]
        elif move["type"] == "discard":
            talon = move["cards"]
        elif move["type"] == "take_over":
            known[seat] |= set(talon)
        elif move["type"] == "declare":
            game = move["game"]
        elif move["type"] == "good" and game == "colour":
            approvals += 1
            if approvals == 2:  # The trump card is turned face up.
                for cards in known:
                    cards.add(trump_card)
        elif move["type"] == "play":
            for cards in known:
                cards.add(move["card"])
        timeline.append([set(cards) for cards in known])
    return timeline


def leaks(record: dict, made_at: list[int], heard: list[tuple[int, bytes]], seat: int | None) -> list[str]:
    """What `seat` was sent that it may not know.

    `made_at[k]` is the version at which move k of the deal was applied; `heard` are (version, bytes) pairs of
    this deal in the order they came, where `version` is the newest version the bytes speak of.
    """
    timeline = knowledge(record)
    place = 3 if seat is None else seat
    found = []
    for version, raw in heard:
        moves = sum(1 for at in made_at if at <= version)
        allowed = timeline[moves][place]
        for code in {match.decode() for match in CARD.findall(raw)} - allowed:
            found.append(f"version {version}: seat {seat} was sent {code} after {moves} moves")
    return found
