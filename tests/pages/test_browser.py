"""The pages in a real browser, over a real server and a deal that was played there."""

import json
import os
import time
import urllib.request
from pathlib import Path

import pytest

from tests.pages.chromium import Chromium, Tab, program
from tests.program.running import Running

pytestmark = pytest.mark.xdist_group("browser")  # One server and one browser for all.

DESKTOP, PHONE = (1280, 900), (360, 740)
DEALS = 2
SHOWN = "document.querySelector('.moment.now').dataset.version"
CARDS = "[...document.querySelectorAll('%s .card:not(.back)')].map((each) => each.className)"


class Played:
    """A running server, a player with her token, and a table at which her deals are played."""

    def __init__(self, server: Running) -> None:
        self.server = server
        self.http = server.http
        self.token = server.call("POST", "/v1/players", {"name": "Ana Nováková"})[1]["token"]
        self._sent = 0
        while not self._is_long(table := self._played()):
            pass  # A betl that is lost at once, or a shared first place: a quarter of all tables.
        self.table = table

    def call(self, method: str, path: str, body: object = None, **headers: str) -> dict:
        """A call by the player."""
        return self.server.ask(method, path, body, Authorization=f"Bearer {self.token}", **headers)[1]

    def replay(self, deal: int = 1) -> list[dict]:
        """What the API tells her of a deal."""
        return self.call("GET", f"/v1/tables/{self.table}/deals/{deal}/replay")["moments"]

    def address(self, deal: int = 1, query: str = "") -> str:
        return f"{self.http}/replay/{self.table}/{deal}{query}"

    def _played(self) -> str:
        options = {"game": "voleny", "deals": DEALS, "bots": [1, 2], "auto_ready": True}
        table = self.call("POST", "/v1/tables", options)["table"]
        self._send(table, {"type": "sit", "seat": 0})
        self._send(table, {"type": "ready"})
        end = time.monotonic() + 120
        while len(self.call("GET", f"/v1/tables/{table}/bank")["deals"]) < DEALS:
            assert time.monotonic() < end
            legal = self.call("GET", f"/v1/tables/{table}")["legal"]
            # Colour and the plainest game last longest: all ten tricks.
            colour = [move for move in legal if move.get("game") == "colour" or move["type"] == "good"]
            if legal:
                self._send(table, (colour or legal)[0])
            else:
                time.sleep(0.05)
        return table

    def _is_long(self, table: str) -> bool:
        """Have all deals ten tricks, and does none follow?"""
        path = f"/v1/tables/{table}"
        moves = [self.call("GET", f"{path}/deals/{deal}")["moves"] for deal in range(1, DEALS + 1)]
        tricks = [sum(move["type"] == "play" for move in each) // 3 for each in moves]
        return tricks == [10] * DEALS and self.call("GET", path)["phase"] == "over"

    def _send(self, table: str, command: dict) -> None:
        self._sent += 1
        self.call("POST", f"/v1/tables/{table}/commands", command, Idempotency_Key=f"k{self._sent}", Prefer="wait=10")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory):
    program()
    with Chromium(tmp_path_factory.mktemp("chromium") / "profile") as browser:
        yield browser


@pytest.fixture(scope="module")
def played(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory):
    with Running(tmp_path_factory.mktemp("pages") / "data") as server:
        yield Played(server)


@pytest.fixture
def tab(chromium: Chromium, played: Played):
    """A fresh tab; whatever a test does in it, it asks our server alone, and complains of nothing."""
    tab = chromium.page()
    yield tab
    elsewhere = [url for url in tab.requests() if not url.startswith(f"{played.http}/")]
    complaints = tab.complaints()
    tab.close()
    assert elsewhere == []
    assert complaints == []


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pictures go: MARIAS_TEST_SCREENSHOTS, else a folder that is printed."""
    folder = Path(os.environ.get("MARIAS_TEST_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"\nscreenshots in {folder}")
    return folder


def sign_in(tab: Tab, played: Played, leads_to: str = "") -> None:
    tab.go(f"{played.http}/replay/login?next={leads_to or '/replay'}")
    tab.ask(f"document.querySelector('[name=token]').value = {json.dumps(played.token)}")
    tab.leads(lambda: tab.click("form[action='/replay/login'] button"))


def middle(played: Played, deal: int = 1) -> int:
    """A version at which two cards lie on the table."""
    return next(each["version"] for each in played.replay(deal)[12:] if len(each["view"]["trick"]) == 2)


BEYOND = """[...document.querySelectorAll('main *')].filter((each) => !each.closest('.scroll, .unseen, svg')
    && each.getClientRects().length && each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("window", "scheme"), [(DESKTOP, "light"), (PHONE, "dark"), (PHONE, "light")])
def test_every_page_fits_the_window(tab: Tab, played: Played, album: Path, window, scheme):
    width = window[0]
    tab.size(*window)
    tab.media(prefers_color_scheme=scheme)
    sign_in(tab, played)
    pages = {
        "replay": f"{played.address()}#v{middle(played)}", "end": f"{played.address(DEALS)}#v{last(played, DEALS)}",
        "bank": f"{played.http}/bank/{played.table}", "refused": played.address(query="?seat=1&lang=cs"),
        "home": f"{played.http}/replay?lang=cs",
    }
    if (window, scheme) == (PHONE, "dark"):
        pages = {"replay": pages["replay"]}  # The same places in other colours: one look is enough.
    for name, address in pages.items():
        tab.go("about:blank")
        tab.go(address)
        tab.photograph(album / f"{name}-{width}-{scheme}.png")
        if name == "refused":
            tab.forgive()
        assert tab.ask("document.documentElement.scrollWidth") <= width, name
        assert tab.ask(BEYOND) == [], name


def last(played: Played, deal: int) -> int:
    return played.replay(deal)[-1]["version"]


def test_keys_step_through_the_moments(tab: Tab, played: Played):
    tab.go(played.address())
    versions = tab.ask("[...document.querySelectorAll('.moment')].map((each) => each.dataset.version)")
    assert [int(version) for version in versions] == [moment["version"] for moment in played.replay()]
    begins = versions.index(tab.ask(SHOWN))
    for key, at in [("ArrowRight", begins + 1), ("ArrowRight", begins + 2), ("ArrowLeft", begins + 1), ("Home", 0),
                    ("ArrowLeft", 0), ("End", len(versions) - 1), ("ArrowRight", len(versions) - 1)]:
        tab.press(key)
        assert tab.ask(SHOWN) == versions[at], key
        assert tab.ask("location.hash") == f"#v{versions[at]}"
        assert tab.ask("document.getElementById('at').value") == str(at)
        seen = tab.ask("[...document.querySelectorAll('.felt')].filter((each) => each.getClientRects().length).length")
        assert seen == 1
    assert tab.ask("document.getElementById('said').textContent")
    assert tab.ask("document.getElementById('forward').disabled")


def test_buttons_the_slider_and_the_list_lead_to_moments(tab: Tab, played: Played):
    tab.go(played.address())
    versions = [str(moment["version"]) for moment in played.replay()]
    for button, at in [("last", -1), ("back", -2), ("first", 0), ("forward", 1)]:
        tab.click(f"#{button}")
        assert tab.ask(SHOWN) == versions[at], button
    tab.ask("document.getElementById('at').focus()")
    tab.press("End")
    assert tab.ask(SHOWN) == versions[-1]
    target = str(middle(played))
    tab.click(f".tricks a[href='#v{target}']")
    assert tab.ask(SHOWN) == target
    assert tab.ask("document.querySelector('[aria-current=step]').hash") == f"#v{target}"



def test_space_plays_by_itself_to_the_end_and_stops(tab: Tab, played: Played):
    tab.go(played.address())
    tab.ask("document.getElementById('pace').options[2].value = '15'")
    tab.ask("document.getElementById('pace').selectedIndex = 2")
    assert tab.ask("document.getElementById('play').getAttribute('aria-label')") == "Play"
    tab.press(" ")
    assert tab.ask("document.getElementById('play').getAttribute('aria-label')") == "Pause"
    tab.until(f"{SHOWN} === '{last(played, 1)}' && document.getElementById('play').ariaPressed === 'false'")
    tab.press("Home")
    tab.press(" ")
    tab.press(" ")
    stopped = tab.ask(SHOWN)
    assert tab.ask("new Promise((done) => setTimeout(() => done(document.querySelector('.now').dataset.version), 200))"
                   ) == stopped


def test_a_link_to_a_moment_shows_it(tab: Tab, played: Played):
    version = middle(played)
    tab.go(f"{played.address()}#v{version}")
    assert tab.ask(SHOWN) == str(version)
    trick = next(each["view"]["trick"] for each in played.replay() if each["version"] == version)
    shown = tab.ask(CARDS % ".moment.now .centre")
    assert sorted(f"r{laid['card'][0]} s{laid['card'][1]}" for laid in trick) == sorted(
        " ".join(each.split()[1:3]) for each in shown)


def test_without_scripts_links_lead_from_moment_to_moment(tab: Tab, played: Played):
    tab.without_scripts()
    tab.go(played.address())
    visible = """[...document.querySelectorAll('.moment')].filter((each) => each.getClientRects().length)
        .map((each) => each.dataset.version)"""
    [opening] = tab.ask(visible)
    assert tab.ask("document.querySelector('.controls').getClientRects().length") == 0
    following = tab.ask(f"document.querySelector('#v{opening} .steps a:last-child').hash")
    tab.click(f"#v{opening} .steps a:last-child")
    tab.until(f"location.hash === '{following}'")
    assert tab.ask(visible) == [following[2:]]
    tab.go(f"{played.address()}#v{last(played, 1)}")
    assert tab.ask(visible) == [str(last(played, 1))]


def test_a_player_sees_her_hand_and_the_backs_of_others(tab: Tab, played: Played):
    sign_in(tab, played, f"/replay/{played.table}/1")
    assert tab.ask("location.pathname") == f"/replay/{played.table}/1"
    moments = played.replay()
    page = tab.ask("document.documentElement.outerHTML")
    told = json.dumps(moments)
    never = [f"{rank}{suit}" for rank in "789TJQKA" for suit in "hdcs" if f'"{rank}{suit}"' not in told]
    for code in never:
        assert f"r{code[0]} s{code[1]}" not in page
        assert f'"{code}"' not in page
    for moment in moments[6:]:
        article = f"#v{moment['version']}"
        if not any(event["type"] == "deal_ended" for event in moment["events"]):
            own = tab.ask(CARDS % f"{article} .own .hand")
            assert {" ".join(each.split()[1:3]) for each in own} == {
                f"r{code[0]} s{code[1]}" for code in moment["view"]["hand"]}
        assert tab.ask(CARDS % f"{article} .left .hand") == []
        assert tab.ask(CARDS % f"{article} .right .hand") == []
    assert tab.ask("document.querySelectorAll('.left .hand .back').length") > 10


def test_a_visitor_sees_no_hand_and_signing_out_makes_one(tab: Tab, played: Played):
    tab.go(played.address())
    assert tab.ask(CARDS % ".hand") == []
    sign_in(tab, played, f"/replay/{played.table}/1")
    assert tab.ask(CARDS % ".hand") != []
    assert "marias_token" not in tab.ask("document.cookie")
    tab.leads(lambda: tab.click("form[action='/replay/logout'] button"))
    assert tab.ask("location.pathname") == f"/replay/{played.table}/1"
    assert tab.ask(CARDS % ".hand") == []


def test_a_wrong_token_is_told_beside_the_form(tab: Tab, played: Played):
    tab.go(f"{played.http}/replay/login")
    tab.ask("document.querySelector('[name=token]').value = 'a.b.c'")
    tab.leads(lambda: tab.click("form[action='/replay/login'] button"))
    assert "not accepted" in tab.ask("document.querySelector('[role=alert]').textContent")
    tab.forgive()


def test_the_style_of_the_cards_is_changed_at_once_and_remembered(tab: Tab, played: Played):
    picture = "getComputedStyle(document.querySelector('.moment.now .card:not(.back)')).backgroundImage"
    tab.go(f"{played.address()}#v{middle(played)}")
    assert "german.svg" in tab.ask(picture)
    asked = len(tab.requests())
    tab.click("[data-suits=french]")
    assert "french.svg" in tab.ask(picture)
    assert tab.ask("document.querySelector('[data-suits=french]').ariaCurrent") == "true"
    assert not any("/replay/t-" in url for url in tab.requests()[asked:])
    tab.go(f"{played.http}/bank/{played.table}")
    tab.go(f"{played.address()}#v{middle(played)}")
    assert "french.svg" in tab.ask(picture)


def test_chips_are_plotted_and_lead_to_their_deals(tab: Tab, played: Played):
    tab.go(f"{played.http}/bank/{played.table}")
    for width, kind, other in ((1280, "wide", "narrow"), (360, "narrow", "wide")):
        tab.size(width, 800)
        assert tab.ask(f"document.querySelector('.plot.{kind}').getBoundingClientRect().height") > 150
        assert tab.ask(f"document.querySelector('.plot.{other}').getClientRects().length") == 0
    assert tab.ask("document.querySelectorAll('.plot.wide polyline').length") == 3
    titles = tab.ask("[...document.querySelectorAll('.plot.wide .p0 .dot title')].map((each) => each.textContent)")
    assert len(titles) == DEALS
    assert "Ana Nováková" in titles[0]
    tab.size(*DESKTOP)
    tab.leads(lambda: tab.click(".plain-table tbody tr:last-child td:last-child a"))
    assert tab.ask("location.pathname + location.hash") == f"/replay/{played.table}/1#v{last(played, 1)}"
    assert tab.ask("document.querySelector('.moment.now .result').getClientRects().length") == 1


def test_the_page_can_be_heard_and_used_without_a_mouse(tab: Tab, played: Played):
    tab.go(f"{played.address()}?lang=cs#v{middle(played)}")
    assert tab.ask("document.documentElement.lang") == "cs"
    nameless = tab.ask("""[...document.querySelectorAll('button, a, input:not([type=hidden]), select, img, [role=img]')]
        .filter((each) => !(each.ariaLabel || each.textContent.trim() || each.alt !== undefined || each.labels?.length))
        .map((each) => each.outerHTML)""")
    assert nameless == []
    assert tab.ask("document.querySelector('.now .centre .card').textContent.trim()")
    assert tab.ask("document.getElementById('said').ariaLive") == "polite"
    tab.press("Tab")
    assert tab.ask("document.activeElement.matches(':focus-visible')")
    assert tab.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_who_wants_less_motion_gets_none(tab: Tab, played: Played):
    motion = "getComputedStyle(document.querySelector('.now .laid.new .card')).animationName"
    for wish, name in (("no-preference", "lay"), ("reduce", "none")):
        tab.media(prefers_reduced_motion=wish)
        tab.go("about:blank")
        tab.go(f"{played.address()}#v{middle(played) - 1}")
        tab.press("ArrowRight")
        assert tab.ask(motion) == name


CONTRAST = """(() => {
    const light = ([r, g, b]) => [r, g, b].map((each) => each / 255)
        .map((each) => each <= .03928 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4)
        .reduce((sum, each, place) => sum + each * [.2126, .7152, .0722][place], 0);
    const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
    const behind = (each) => {
        for (; each; each = each.parentElement) {
            const found = parts(getComputedStyle(each).backgroundColor);
            if (each.matches('.felt')) return null;
            if (found.length === 3 || found[3] === 1) return found;
        }
    };
    const low = [];
    for (const each of document.querySelectorAll('body *')) {
        const text = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!text || !each.getClientRects().length || each.closest('.unseen, svg, :disabled')) continue;
        const back = behind(each);
        if (!back) continue;
        const [one, two] = [light(parts(getComputedStyle(each).color)), light(back)].sort((a, b) => b - a);
        const ratio = (one + .05) / (two + .05);
        if (ratio < 4.5) low.push([ratio.toFixed(2), each.outerHTML.slice(0, 100)]);
    }
    return low;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out(tab: Tab, played: Played, scheme):
    tab.media(prefers_color_scheme=scheme)
    sign_in(tab, played)
    for address in (f"{played.address()}#v{last(played, 1)}", f"{played.http}/bank/{played.table}",
                    f"{played.http}/replay"):
        tab.go(address)
        assert tab.ask(CONTRAST) == []


def test_the_parts_of_the_page_are_asked_for_once(tab: Tab, played: Played):
    tab.go(played.address())
    tab.go(played.address(2))
    parts = [url for url in tab.requests() if "/static/" in url]
    assert len({url for url in parts if url.endswith(".svg")}) >= 3
    with urllib.request.urlopen(parts[0], timeout=60) as answer:
        assert "immutable" in answer.headers["Cache-Control"]
