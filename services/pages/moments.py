"""The moments of a deal as HTML, written without a template: a page has fifty of them with a hundred values each, and a
template engine asks of each value anew whether it has to be escaped."""

from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup, escape

from services.pages.drawn import Drawn
from services.pages.frames import Frame, Laid, Seat
from services.pages.rendering import Page, clock, level_of, moment_at, seconds, signed, with_signs
from services.replay.words import PARTS

TEXTS_KEPT_MAX = 4_096


def moments_html(page: Page, frames: Sequence[Frame], opening: int) -> Markup:
    """An article for each of `frames`; that of version `opening` is the one that is shown first."""
    written = _Written(page)
    beside = zip([None, *frames[:-1]], frames, [*frames[1:], None], strict=True)
    return Markup("\n".join(
        written.moment(frame, before, after, "moment opening" if frame.version == opening else "moment")
        for before, frame, after in beside
    ))


class _Written:
    """Writes moments in the words of `page`. What stays as it was from one to the next is not written anew."""

    def __init__(self, page: Page) -> None:
        self._labels = page.labels
        self._text = {name: _said(text) for name, text in page.labels.text.items()}
        self._drawn = Drawn(page.labels.language)
        self._seat = lru_cache(16)(self._written_seat)
        self._last: tuple[object, str] = (), ""

    def moment(self, frame: Frame, before: Frame | None, after: Frame | None, style: str) -> str:
        """One article, with links to the moments beside it."""
        caption = "".join([f"<p>{with_signs(line)}</p>" for line in frame.lines])
        return (
            f'<article class="{style}" id="v{frame.version}" data-version="{frame.version}">\n'
            f'<div class="felt">\n{"".join(map(self._seat, frame.seats))}{self._centre(frame)}</div>\n'
            f'<div class="caption">{caption}</div>\n{self._facts(frame)}{self._result(frame)}'
            f'{self._steps(frame, before, after)}</article>'
        )

    def _written_seat(self, seat: Seat) -> str:
        text, name = self._text, _said(seat.name)
        badges = "".join([
            f'<span class="badge{style}">{text[word]}</span>'
            for is_so, style, word in (
                (seat.acts, " acts", "turn"),
                (seat.is_declarer, " declarer", "declarer"),
                (seat.is_dealer, "", "dealer"),
            )
            if is_so
        ])
        paid = "" if seat.paid is None else f' · <b class="paid">{text["paid"]} {signed(seat.paid)}</b>'
        said = f'<q class="said">{_said(seat.said)}</q>' if seat.said else ""
        return (
            f'<section class="seat {seat.place}{" turn" if seat.acts else ""}" aria-label="{name}">\n'
            f'<div class="plate"><strong class="name">{name}</strong>{badges}\n'
            f'<span class="small">{text["tricks"]} {seat.tricks} · {text["time"]} {clock(seat.used_ms)}'
            f'<span class="wider"> · {text["chips"]} {signed(seat.chips)}</span>{paid}</span>\n{said}</div>\n'
            f"{self._drawn.hand(seat.hand, seat.name)}</section>\n"
        )

    def _centre(self, frame: Frame) -> str:
        label = self._text["trick"].format(number=frame.trick_number) if frame.trick_number else _said(frame.phase)
        laid = "".join([
            f'<span class="laid {each.place}{" new" if each.is_new else ""}{" takes" if each.takes else ""}">'
            f"{self._drawn.card(each.card)}</span>"
            for each in frame.trick
        ])
        phase = f'<span class="phase">{_said(frame.phase)}</span>'
        return f'<div class="centre" aria-label="{label}" role="group">{laid or phase}</div>\n'

    def _facts(self, frame: Frame) -> str:
        given = frame.calls, frame.trump, frame.trump_card, frame.points, frame.marriages, frame.talon, frame.last
        if self._last[0] != given:
            rows = (
                ("contract", self._contract(frame)), ("trumps", self._trumps(frame)), ("points", self._points(frame)),
                ("talon", self._talon(frame)), ("last_trick", self._small(frame.last) if frame.last else "–"),
            )
            lines = [f"<div><dt>{self._text[name]}</dt><dd>{told}</dd></div>\n" for name, told in rows]
            self._last = given, f'<dl class="facts">\n{"".join(lines)}</dl>\n'
        return self._last[1]

    def _contract(self, frame: Frame) -> str:
        calls = [
            _said(call.part) + (f' <b class="level">{_said(call.level)}</b>' if call.level else "")
            for call in frame.calls
        ]
        return ", ".join(calls) or "–"

    def _trumps(self, frame: Frame) -> str:
        if frame.trump:
            return f'<i class="sign s{_said(frame.trump)}"></i> {_said(self._labels.suit(frame.trump))}'
        return str(self._drawn.mini(frame.trump_card)) if frame.trump_card else "–"

    def _points(self, frame: Frame) -> str:
        declarer, defence = (
            f"<b>{frame.points[side]}</b>" + "".join([f"+{worth}" for worth in frame.marriages[side]])
            for side in ("declarer", "defence")
        )
        return f'{self._text["declarer"]} {declarer} : {defence} {self._text["defence"]}'

    def _talon(self, frame: Frame) -> str:
        cards, hidden = frame.talon
        if cards:
            return f'<span class="row">{"".join([self._drawn.card(code, "tiny") for code in cards])}</span>'
        if hidden:
            label = self._text["hidden"].format(count=hidden)
            backs = '<span class="card back tiny"></span>' * hidden
            return f'<span class="row" role="img" aria-label="{label}">{backs}</span>'
        return "–"

    def _small(self, trick: Sequence[Laid]) -> str:
        cards = [self._drawn.card(each.card, "tiny takes" if each.takes else "tiny") for each in trick]
        return f'<span class="row">{"".join(cards)}</span>'

    def _result(self, frame: Frame) -> str:
        if not frame.result:
            return ""
        text = self._text
        heads = "".join([f'<th scope="col">{text[name]}</th>' for name in ("part", "level", "outcome")])
        rows = "".join([
            f'<tr><th scope="row">{_said(PARTS[part["part"]])}</th><td>{_said(level_of(part["level"]))}</td>'
            f'<td>{text["won" if part["won"] else "lost"]}</td>'
            f'<td class="number">{abs(part["per_defender"])}</td></tr>'
            for part in frame.result["parts"]
        ])
        paid = "".join([
            f'<span class="payment">{_said(seat.name)} <b>{signed(frame.result["payments"][seat.number])}</b></span> '
            for seat in sorted(frame.seats, key=lambda seat: seat.number)
        ])
        return (
            f'<table class="result"><caption>{text["result"]}</caption>\n'
            f'<thead><tr>{heads}<th scope="col" class="number">{text["each"]}</th></tr></thead>\n'
            f'<tbody>{rows}</tbody>\n'
            f'<tfoot><tr><th scope="row">{text["paid"]}</th><td colspan="3">{paid}</td></tr></tfoot>\n</table>\n'
        )

    def _steps(self, frame: Frame, before: Frame | None, after: Frame | None) -> str:
        text = self._text
        back = f'<a href="#v{before.version}">← {text["back"]}</a>\n' if before else ""
        forward = f'<a href="#v{after.version}">{text["forward"]} →</a>\n' if after else ""
        took = "" if frame.took_ms is None else f' · {text["took"].format(seconds=seconds(frame.took_ms))}'
        return (
            f'<nav class="steps" aria-label="{text["position"]}">\n{back}'
            f'<span class="small">{text["version"]} {frame.version} · '
            f'<time datetime="{_said(frame.at)}">{moment_at(frame.at)}</time>{took}</span>\n{forward}</nav>\n'
        )


@lru_cache(TEXTS_KEPT_MAX)
def _said(text: str) -> str:
    """A text as it stands in HTML."""
    return str(escape(text))
