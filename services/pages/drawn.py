"""Cards as HTML: made once and used in every moment that shows them, as a page shows more than a thousand."""

from functools import cache, lru_cache

from markupsafe import Markup, escape

from services.pages.cards import FRENCH_INDEX, GERMAN_INDEX
from services.pages.frames import Hand
from services.pages.words import LABELS

HANDS_KEPT_MAX = 2_048


class Drawn:
    """What a template draws cards with, in one language. A card's name is there for those who hear the page."""

    def __init__(self, language: str) -> None:
        self._language = language

    def card(self, code: str, more: str = "") -> Markup:
        """A picture; `more` are further classes of style."""
        return _card(self._language, code, more)

    def mini(self, code: str) -> Markup:
        """Its index and sign, in a line of text."""
        return _mini(self._language, code)

    def hand(self, seen: Hand, name: str) -> Markup:
        """A fan of cards, or of backs."""
        return _hand(self._language, seen, name)


@cache
def _card(language: str, code: str, more: str) -> Markup:
    name = escape(LABELS[language].card(code))
    classes = " ".join(filter(None, ("card", f"r{code[0]}", f"s{code[1]}", more)))
    return Markup(f'<span class="{classes}"><span class="unseen">{name}</span></span>')


@cache
def _mini(language: str, code: str) -> Markup:
    rank, suit = code[0], code[1]
    index = (
        f'<span class="german-only">{GERMAN_INDEX[rank]}</span><span class="french-only">{FRENCH_INDEX[rank]}</span>'
    )
    return Markup(
        f'<span class="mini"><b aria-hidden="true">{index}</b><i class="sign s{suit}"></i>'
        f'<span class="unseen">{escape(LABELS[language].card(code))}</span></span>'
    )


@lru_cache(HANDS_KEPT_MAX)
def _hand(language: str, seen: Hand, name: str) -> Markup:
    text = LABELS[language].text
    if seen.cards:
        label = escape(text["hand_of"].format(name=name))
        cards = "".join(f"<li>{_card(language, code, '')}</li>" for code in seen.cards)
        return Markup(f'<ul class="hand seen" aria-label="{label}">{cards}</ul>')
    if seen.hidden:
        label = escape(f"{name}: {text['hidden'].format(count=seen.hidden)}")
        backs = '<span><span class="card back"></span></span>' * seen.hidden
        return Markup(f'<p class="hand" role="img" aria-label="{label}">{backs}</p>')
    return Markup('<p class="hand none"></p>')
