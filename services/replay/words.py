"""The words of a tale, in English and in Czech. The calls of the game are Czech in both; English explains some."""

from typing import Final, NamedTuple

SIGNS: Final = {"h": "♥", "d": "♦", "c": "♣", "s": "♠"}
LEVELS: Final = ("", "flek", "re", "tutti", "boty", "kalhoty", "kaiser")
PARTS: Final = {
    "hra": "hra", "tiche_sto": "tiché sto", "sedma": "sedma", "ticha_sedma": "tichá sedma", "sto": "sto",
    "betl": "betl", "durch": "durch", "sedma_proti": "sedma proti", "sto_proti": "sto proti",
}


class Words(NamedTuple):
    """Names of ranks and suits by their letters, parts as one plays them or says flek to them, and sentences by what
    they tell, with {places} to fill."""

    ranks: dict[str, str]
    suits: dict[str, str]
    parts: dict[str, str]
    joiner: str
    tell: dict[str, str]

    def card(self, code: str) -> str:
        """`Ah` as `ace ♥` or `eso ♥`."""
        return f"{self.ranks[code[0]]} {SIGNS[code[1]]}"

    def cards(self, codes: list[str]) -> str:
        """Several cards, with commas."""
        return ", ".join(map(self.card, codes))


ENGLISH: Final = Words(
    ranks={
        "7": "seven", "8": "eight", "9": "nine", "T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace",
    },
    suits={"h": "hearts", "d": "bells", "c": "acorns", "s": "leaves"},
    parts=PARTS,
    joiner=" and ",
    tell={
        "seat": "seat {number}",
        "bot": "bot {number}",
        "deal": "Deal {deal}",
        "nonce": "  {name} commits to a secret number",
        "fixed": "  the order of the cards is fixed, its root is {root}…",
        "revealed": "  {name} reveals the number",
        "dealer": "{dealer} deals; {forehand} is the forehand (forhont)",
        "hand": "  {name} holds {cards}",
        "trumps": "  {name} chooses trumps, face down",
        "trumps blind": "  {name} chooses trumps blind, from the cards not seen",
        "trumps seen": "  {name} chooses {card} as the trump card, face down",
        "talon": "  {name} lays two cards into the talon",
        "talon seen": "  {name} lays {cards} into the talon",
        "colour": "  {name} asks „Barva?“",
        "betl": "  {name} announces betl",
        "durch": "  {name} announces durch",
        "good": "  {name}: dobrá (good)",
        "bad": "  {name}: špatná (bad), and takes the talon",
        "turned": "  trumps are {suit}: {card} is turned up",
        "contract": "  {name} plays {parts}",
        "flek": "{level} on {part}",
        "joins": "joins on {part}",
        "says": "  {name}: {said}",
        "marriage": " with a hláška of {points}",
        "play": "  {name} plays {card}",
        "goes to": "  trick {number} goes to {name}",
        "trick": "  trick {number:2}: {cards} → {name}",
        "points": "  points: {sides}",
        "declarer": "declarer",
        "defence": "defence",
        "unplayed": "  settled without play",
        "won": "  {part}: won, {chips} each",
        "lost": "  {part}: lost, {chips} each",
        "chips": "  chips: {paid}",
        "used": "  time used: {times}",
        "lies": "  on the table: {cards}",
        "levels": "  levels: {levels}",
        "so far": "  points so far: declarer {declarer}, defence {defence}",
        "awaited": "  to act: {names}",
        "late": "  {name} let the time pass",
        "round": "The first place is shared: they play on, to deal {deals}",
        "over": "The session is over: {places}",
    },
)

CZECH: Final = Words(
    ranks={
        "7": "sedma", "8": "osma", "9": "devítka", "T": "desítka",
        "J": "spodek", "Q": "svršek", "K": "král", "A": "eso",
    },
    suits={"h": "červené", "d": "kule", "c": "žaludy", "s": "zelené"},
    parts=PARTS | {
        "hra": "hru", "sedma": "sedmu", "ticha_sedma": "tichou sedmu", "sedma_proti": "sedmu proti",
    },
    joiner=" a ",
    tell={
        "seat": "místo {number}",
        "bot": "robot {number}",
        "deal": "Hra {deal}",
        "nonce": "  {name} se zavazuje ke svému číslu",
        "fixed": "  pořadí karet je dáno, jeho kořen je {root}…",
        "revealed": "  {name} odhaluje své číslo",
        "dealer": "Rozdává {dealer}, forhont je {forehand}",
        "hand": "  {name} drží: {cards}",
        "trumps": "  {name} volí trumf, kartu rubem nahoru",
        "trumps blind": "  {name} volí trumf z lidu",
        "trumps seen": "  {name} volí trumf: {card}",
        "talon": "  {name} odhazuje dvě karty do talonu",
        "talon seen": "  {name} odhazuje do talonu: {cards}",
        "colour": "  {name}: Barva?",
        "betl": "  {name} hlásí betl",
        "durch": "  {name} hlásí durch",
        "good": "  {name}: dobrá",
        "bad": "  {name}: špatná, bere si talon",
        "turned": "  trumfy jsou {suit}, otočeno: {card}",
        "contract": "  {name} hraje {parts}",
        "flek": "{level} na {part}",
        "joins": "přidává se na {part}",
        "says": "  {name}: {said}",
        "marriage": " s hláškou {points}",
        "play": "  {name} hraje: {card}",
        "goes to": "  {number}. štych bere {name}",
        "trick": "  {number:2}. štych: {cards} → {name}",
        "points": "  body: {sides}",
        "declarer": "aktér",
        "defence": "obrana",
        "unplayed": "  nehraje se",
        "won": "  {part}: vyhráno, po {chips}",
        "lost": "  {part}: prohráno, po {chips}",
        "chips": "  žetony: {paid}",
        "used": "  spotřebovaný čas: {times}",
        "lies": "  na stole: {cards}",
        "levels": "  fleky: {levels}",
        "so far": "  body zatím: aktér {declarer}, obrana {defence}",
        "awaited": "  na tahu: {names}",
        "late": "  {name} nestihl tah",
        "round": "O první místo se hraje dál, do hry {deals}",
        "over": "Konec: {places}",
    },
)

LANGUAGES: Final = {"en": ENGLISH, "cs": CZECH}


def level_name(level: int) -> str:
    """How a level of doubling is called, "" for none that has a name."""
    return LEVELS[level] if 0 < level < len(LEVELS) else ""
