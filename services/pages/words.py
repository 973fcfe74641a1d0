"""The words of the pages, in English and in Czech; those of the game itself are the words of a replay's tale."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from services.replay.words import LANGUAGES

DEFAULT: Final = "en"


class Labels(NamedTuple):
    """One language. `text` are the words of the page by their key; the rest is what frames are told with."""

    language: str
    good: str
    bad: str
    colour: str
    marriage: str
    late: str
    plays: str
    takes: str
    card_name: str
    phases: Mapping[str, str]
    events: Mapping[str, str]
    text: Mapping[str, str]

    def card(self, code: str) -> str:
        """`Ah` as `ace of hearts`."""
        words = LANGUAGES[self.language]
        return self.card_name.format(rank=words.ranks[code[0]], suit=words.suits[code[1]])

    def suit(self, letter: str) -> str:
        """The name of a suit."""
        return LANGUAGES[self.language].suits[letter]

    def played(self, name: str, card: str, marriage: int | None, taker: str | None) -> str:
        """The sentence about a card, and who took the trick with it."""
        said = self.plays.format(name=name, card=self.card(card))
        if marriage:
            said += f" ({self.marriage.format(points=marriage)})"
        return said if taker is None else f"{said}; {self.takes.format(name=taker)}"

    def plain(self, event: Mapping[str, Any], names: Sequence[str]) -> list[str]:
        """The sentence about what a tale leaves out, if that is worth one."""
        said, seat = self.events.get(event["type"]), event.get("seat")
        return [] if said is None else [said.format(name=names[seat] if isinstance(seat, int) else "")]


ENGLISH: Final = Labels(
    language="en", good="dobrá", bad="špatná", colour="Barva?", marriage="hláška {points}", late="time is up",
    plays="{name} plays the {card}", takes="{name} takes the trick",
    card_name="{rank} of {suit}",
    phases={
        "lobby": "between deals", "choose_trump": "choosing trumps", "discard": "discarding", "declare": "declaring",
        "answer": "answering", "announce": "announcing", "doubling": "doubling", "play": "play", "over": "over",
    },
    events={
        "table_opened": "The table is opened", "sat_down": "{name} sits down", "became_ready": "{name} is ready",
        "seat_left": "{name} leaves", "hand_completed": "{name} takes up the other five cards",
        "play_began": "{name} leads",
        "deal_committed": "The order of the cards is sealed", "nonce_revealed": "{name} opens a share of the shuffle",
    },
    text={
        "replay": "Replay", "deal": "Deal {deal}", "table": "Table", "bank": "Chips", "bank_of": "Chips of the table",
        "previous": "Previous", "next": "Next", "proof": "Proof of this deal", "proof_hint":
        "A file to check with deploy/verify_deal.py; programs get it at",
        "seen_by": "Seen by", "spectator": "spectator", "auditor": "auditor (all hands)", "you": "you",
        "suits": "Cards", "german": "German", "french": "French", "language": "Language",
        "first": "To the beginning", "back": "One step back", "play": "Play", "pause": "Pause", "forward":
        "One step on", "last": "To the end", "speed": "Speed", "slow": "slow", "normal": "normal", "fast": "fast",
        "position": "Moment", "keys": "Keys: ← → step, space plays, Home and End",
        "hand_of": "Hand of {name}", "hidden": "{count} hidden cards",
        "trick": "Trick {number}", "last_trick": "Last trick",
        "talon": "Talon", "trumps": "Trumps", "contract": "Game",
        "points": "Points", "declarer": "declarer", "defence": "defence", "turn": "to act",
        "dealer": "dealer", "time": "Time", "tricks": "Tricks", "chips": "Chips",
        "happened": "What happened", "calls": "Calls", "play_list": "Tricks", "before": "Before the deal",
        "result": "Result", "part": "Part", "level": "Level", "outcome": "Outcome", "each": "Each defender",
        "won": "won", "lost": "lost", "paid": "Paid", "version": "Version",
        "running": "This deal is still being played; the replay ends at this moment.",
        "sign_in": "Sign in", "sign_out": "Sign out", "signed_in": "Signed in as {name}", "token": "Your token",
        "sign_in_why": "Whoever played a deal sees it from his own seat, with the token that he played with. "
        "It is kept in a cookie of these pages alone, until the browser is closed.",
        "token_hint": "A long word with two dots in it, from POST /v1/players.",
        "sign_in_failed": "This token is not accepted", "code": "Code of the private table", "open": "Open",
        "chips_over": "Chips after each deal", "after_deal": "{name}: {chips} after deal {deal} ({paid})",
        "see_deal": "See deal {deal}", "from_event": "event", "posting": "Postings",
        "no_deals": "Nothing was paid yet.", "older": "Earlier deals", "newer": "Later deals", "all_deals": "All deals",
        "remedy": "What to do", "status": "Status", "home": "Replays",
        "which_table": "Table", "which_deal": "Deal", "go": "Show", "axis": "deal",
        "skip": "To the list of what happened", "took": "after {seconds} s",
        "in_detail": "Each posting has its source: the event at this version of the table.",
    },
)

CZECH: Final = Labels(
    language="cs", good="dobrá", bad="špatná", colour="Barva?", marriage="hláška {points}", late="vypršel čas",
    plays="{name} hraje: {card}", takes="štych bere {name}",
    card_name="{rank} {suit}",
    phases={
        "lobby": "mezi hrami", "choose_trump": "volba trumfu", "discard": "odhoz", "declare": "hlášení hry",
        "answer": "odpovědi", "announce": "závazek", "doubling": "flekování", "play": "sehrávka", "over": "konec",
    },
    events={
        "table_opened": "Stůl je otevřen", "sat_down": "Přisedá {name}", "became_ready": "{name} je připraven(a)",
        "seat_left": "Odchází {name}", "hand_completed": "{name} bere druhých pět karet", "play_began": "Vynáší {name}",
        "deal_committed": "Pořadí karet je zapečetěno", "nonce_revealed": "{name} otevírá svůj podíl na míchání",
    },
    text={
        "replay": "Záznam", "deal": "Hra {deal}", "table": "Stůl", "bank": "Žetony", "bank_of": "Žetony u stolu",
        "previous": "Předchozí", "next": "Další", "proof": "Důkaz této hry", "proof_hint":
        "Soubor pro deploy/verify_deal.py; programy ho dostanou na",
        "seen_by": "Pohled", "spectator": "divák", "auditor": "auditor (všechny listy)", "you": "vy",
        "suits": "Karty", "german": "německé", "french": "francouzské", "language": "Jazyk",
        "first": "Na začátek", "back": "O krok zpět", "play": "Přehrát", "pause": "Zastavit", "forward":
        "O krok dál", "last": "Na konec", "speed": "Rychlost", "slow": "pomalu", "normal": "běžně", "fast": "rychle",
        "position": "Okamžik", "keys": "Klávesy: ← → krok, mezerník přehrává, Home a End",
        "hand_of": "List: {name}", "hidden": "skryté karty: {count}",
        "trick": "{number}. štych", "last_trick": "Poslední štych",
        "talon": "Talon", "trumps": "Trumfy", "contract": "Hra",
        "points": "Body", "declarer": "aktér", "defence": "obrana", "turn": "na tahu",
        "dealer": "rozdává", "time": "Čas", "tricks": "Štychy", "chips": "Žetony",
        "happened": "Co se stalo", "calls": "Hlášení", "play_list": "Štychy", "before": "Před hrou",
        "result": "Výsledek", "part": "Závazek", "level": "Flek", "outcome": "Konec", "each": "Každý z obrany",
        "won": "vyhráno", "lost": "prohráno", "paid": "Zaplaceno",
        "version": "Verze",
        "running": "Tato hra se ještě hraje; záznam končí tímto okamžikem.",
        "sign_in": "Přihlásit", "sign_out": "Odhlásit", "signed_in": "Přihlášen(a): {name}", "token": "Váš token",
        "sign_in_why": "Kdo hru hrál, vidí ji ze svého místa, s tokenem, se kterým hrál. "
        "Zůstane v cookie jen pro tyto stránky, do zavření prohlížeče.",
        "token_hint": "Dlouhé slovo se dvěma tečkami, z POST /v1/players.",
        "sign_in_failed": "Tento token neplatí", "code": "Kód soukromého stolu", "open": "Otevřít",
        "chips_over": "Žetony po každé hře", "after_deal": "{name}: {chips} po hře {deal} ({paid})",
        "see_deal": "Ukázat hru {deal}", "from_event": "událost", "posting": "Zápisy",
        "no_deals": "Zatím se nic neplatilo.", "older": "Starší hry", "newer": "Novější hry",
        "all_deals": "Všechny hry",
        "remedy": "Co s tím", "status": "Stav", "home": "Záznamy",
        "which_table": "Stůl", "which_deal": "Hra", "go": "Ukázat", "axis": "hra",
        "skip": "Na seznam událostí", "took": "po {seconds} s",
        "in_detail": "Každý zápis má svůj zdroj: událost v této verzi stolu.",
    },
)

LABELS: Final = {"en": ENGLISH, "cs": CZECH}


def language_of(wished: str, accepted: str) -> str:
    """The language to answer in: the one that was wished, else the best of a header Accept-Language, else English."""
    if wished in LABELS:
        return wished
    best, found = 0.0, DEFAULT
    for part in accepted[:200].split(","):
        tag, _, weight = part.strip().partition(";q=")
        code = tag.split("-", 1)[0].lower()
        value = _weight(weight)
        if code in LABELS and value > best:
            best, found = value, code
    return found


def _weight(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0) if text else 1.0
    except ValueError:
        return 0.0


REFUSALS: Final = {
    "en": {
        "not_found": ("There is no such table or deal", "Check the address. Deals are counted from 1."),
        "forbidden": (
            "This is not for you to see",
            "Look as a spectator, or sign in with the token of the player who had this seat in this deal."),
        "unauthenticated": (
            "This token is not accepted", "Sign in again, with a token of this server that has not run out."),
        "code_wrong": (
            "The table is private", "Enter its code, which its players know, or sign in as one of them."),
        "cross_site": ("The form came from another site", "Go back to this page and send its own form."),
        "rate_limited": ("Too much at once", "Wait a moment, then load the page again."),
        "unavailable": ("The server cannot answer now", "Wait a moment, then load the page again."),
        "internal": ("The server failed", "Tell the operator the value of the header X-Request-Id."),
    },
    "cs": {
        "not_found": ("Takový stůl nebo taková hra není", "Zkontrolujte adresu. Hry se počítají od 1."),
        "forbidden": (
            "Toto vám nepřísluší vidět",
            "Dívejte se jako divák, nebo se přihlaste tokenem hráče, který v této hře na tomto místě seděl."),
        "unauthenticated": (
            "Tento token neplatí", "Přihlaste se znovu, tokenem tohoto serveru, který nevypršel."),
        "code_wrong": (
            "Stůl je soukromý", "Zadejte jeho kód, který hráči znají, nebo se přihlaste jako jeden z nich."),
        "cross_site": ("Formulář přišel z jiné stránky", "Vraťte se na tuto stránku a odešlete její formulář."),
        "rate_limited": ("Příliš mnoho najednou", "Chvíli počkejte a načtěte stránku znovu."),
        "unavailable": ("Server teď nemůže odpovědět", "Chvíli počkejte a načtěte stránku znovu."),
        "internal": ("Chyba serveru", "Sdělte správci hodnotu hlavičky X-Request-Id."),
        "deal_too_long": (
            "Před touto hrou se stalo příliš mnoho", "Správce ji ukáže příkazem marias replay, který tuto mez nemá."),
    },
}
"""Title and remedy of refusals, in words for people who read pages and send no headers."""
