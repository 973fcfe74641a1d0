"""The words of volený, short: who sits where, and what they say. Ana deals, Bára is forehand, Cyril sits third."""

from engine.games.voleny.commands import (
    Announce,
    ChooseTrump,
    Claim,
    Declare,
    Discard,
    Flek,
    Good,
    PlayCard,
    TakeOver,
)
from engine.games.voleny.rules import CONTRACT, PARTS, PROTIS
from engine.notation import CARD, parse
from tests import cast

ANA, BARA, CYRIL = (player.seat for player in (cast.ANA, cast.BARA, cast.CYRIL))


def trump(seat, code):
    return ChooseTrump(seat=seat, card=CARD[code])


def blind(seat, place):
    return ChooseTrump(seat=seat, blind=place)


def discard(seat, text):
    return Discard(seat=seat, cards=tuple(sorted(parse(text))))


def declare(seat, game):
    return Declare(seat=seat, game=game)


def good(seat):
    return Good(seat=seat)


def take_over(seat):
    return TakeOver(seat=seat)


def announce(seat, contract):
    return Announce(seat=seat, contract=_ordered(contract, CONTRACT))


def flek(seat, words):
    """`flek(CYRIL, "hra sedma_proti")` raises hra and announces the seven against: a defender raises no proti."""
    return Flek(seat=seat, raises=_ordered(words, PARTS[:5]), announces=_ordered(words, PROTIS))


def raises(seat, parts):
    """A raise of any parts, proti too, as the declarer's side may."""
    return Flek(seat=seat, raises=_ordered(parts, PARTS))


def play(seat, code, word=None):
    return PlayCard(seat=seat, card=CARD[code], marriage=word)


def trick(leader, codes):
    """The plays of a trick, from the leader on."""
    return [play((leader + place) % 3, code) for place, code in enumerate(codes.split())]


def claim(seat):
    return Claim(seat=seat)


def _ordered(words, order):
    said = words.split()
    assert set(said) <= {*PARTS, *PROTIS}, said
    return tuple(word for word in order if word in said)
