"""Pages over HTTP: who sees which cards, how one signs in and out, and that a page loads nothing from elsewhere."""

import gzip
import re
from html.parser import HTMLParser

import pytest

from engine.notation import CODES
from tests.api.conftest import begun, play_deal

pytestmark = pytest.mark.xdist_group("pages")  # One deal for all.

CARD = re.compile(r'class="card r([789TJQKA]) s([hdcs])')


class Browser:
    """A client that keeps cookies, as a browser does."""

    def __init__(self, street):
        self.client = street.app.test_client()

    def get(self, path, **headers):
        return self.client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path, form, **headers):
        return self.client.post(
            path, data=form, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    def sign_in(self, guest, following="/replay"):
        return self.post("/replay/login", {"token": guest.token, "next": following})


@pytest.fixture(scope="module")
def played(neighbours):
    """A table after its first deal."""
    table = begun(neighbours)
    play_deal(neighbours, table)
    return table


@pytest.fixture
def browser(street):
    return Browser(street)


def moments(reader, table):
    return reader.get(f"/v1/tables/{table}/deals/1/replay").json["moments"]


def cards_in(text):
    """Every card that a page shows as a picture."""
    return {rank + suit for rank, suit in CARD.findall(text)}


def known(reader, table):
    """Every card that the reader was ever told of, by the API's own replay."""
    text = reader.get(f"/v1/tables/{table}/deals/1/replay").get_data(as_text=True)
    return {code for code in CODES if f'"{code}"' in text}


def test_a_visitor_sees_a_public_table_without_a_token_and_no_hand(street, neighbours, played, browser):
    dana = street.guest("Dana")
    answer = browser.get(f"/replay/{played}/1")
    assert answer.status_code == 200
    assert answer.content_type == "text/html; charset=utf-8"
    shown = cards_in(answer.text)
    assert shown
    assert shown <= known(dana, played)
    assert len(known(dana, played)) < len(CODES)
    assert 'class="hand seen"' not in answer.text


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_a_player_sees_his_own_hand_and_no_card_that_he_never_saw(neighbours, played, browser, seat):
    assert browser.sign_in(neighbours[seat]).status_code == 303
    answer = browser.get(f"/replay/{played}/1")
    assert answer.status_code == 200
    assert cards_in(answer.text) == known(neighbours[seat], played)


def test_each_moment_shows_what_the_reader_saw_then(neighbours, played, browser):
    browser.sign_in(neighbours[1])
    text = browser.get(f"/replay/{played}/1").text
    articles = dict(re.findall(r'<article [^>]*data-version="(\d+)">(.*?)</article>', text, re.DOTALL))
    told = moments(neighbours[1], played)
    assert list(articles) == [str(moment["version"]) for moment in told]
    for moment in told:
        article = articles[str(moment["version"])]
        own = re.search(r'class="seat own.*?</section>', article, re.DOTALL)[0]
        ended = any(event["type"] == "deal_ended" for event in moment["events"])
        if not ended:
            assert cards_in(own) == set(moment["view"]["hand"])
        trick = re.search(r'class="centre".*?</div>', article, re.DOTALL)[0]
        assert cards_in(trick) >= {laid["card"] for laid in moment["view"]["trick"]}


def test_nobody_takes_the_eyes_of_another(street, neighbours, played, browser):
    browser.sign_in(neighbours[0])
    answer = browser.get(f"/replay/{played}/1?seat=1")
    assert answer.status_code == 403
    assert "forbidden" in answer.text
    assert "What to do" in answer.text
    assert not cards_in(answer.text)
    auditor = Browser(street)
    auditor.sign_in(street.staff("auditor"))
    assert auditor.get(f"/replay/{played}/1?seat=1").status_code == 200
    assert len(cards_in(auditor.get(f"/replay/{played}/1").text)) == len(CODES)


def test_an_operator_sees_no_card(street, played, browser):
    browser.sign_in(street.staff("operator"))
    answer = browser.get(f"/replay/{played}/1")
    assert answer.status_code == 403
    assert not cards_in(answer.text)


def test_the_token_lies_in_a_cookie_of_the_pages_alone(neighbours, browser):
    answer = browser.sign_in(neighbours[0])
    cookies = [value for name, value in answer.headers if name == "Set-Cookie"]
    assert [re.search(r"Path=(\S+?)(;|$)", cookie)[1] for cookie in cookies] == ["/replay", "/bank"]
    for cookie in cookies:
        assert cookie.startswith(f"marias_token={neighbours[0].token};")
        assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
        assert "Secure" not in cookie
    proxied = browser.post("/replay/login", {"token": neighbours[0].token}, X_Forwarded_Proto="https")
    assert all("Secure" in value for name, value in proxied.headers if name == "Set-Cookie")


def test_signing_out_forgets_the_token(neighbours, played, browser):
    browser.sign_in(neighbours[0])
    assert 'class="hand seen"' in browser.get(f"/replay/{played}/1").text
    answer = browser.post("/replay/logout", {"next": f"/replay/{played}/1"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/replay/{played}/1")
    assert 'class="hand seen"' not in browser.get(f"/replay/{played}/1").text


@pytest.mark.parametrize("token", ["", "nonsense", "a.b.c", "ž", "x" * 5_000])
def test_a_wrong_token_is_refused_in_words(browser, token):
    answer = browser.post("/replay/login", {"token": token})
    assert answer.status_code == 401
    assert "This token is not accepted" in answer.text
    assert 'name="token"' in answer.text
    assert not [name for name, _ in answer.headers if name == "Set-Cookie"]
    assert token not in answer.text or len(token) < 2


def test_a_token_that_has_run_out_is_told_and_forgotten(street, played, browser):
    browser.client.set_cookie("marias_token", street.ring.issue(role="player", sub="u", name="U", seconds=-9),
                              path="/replay")
    answer = browser.get(f"/replay/{played}/1")
    assert answer.status_code == 401
    assert "expired" in answer.text
    assert browser.get(f"/replay/{played}/1").status_code == 200


@pytest.mark.parametrize("headers", [
    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": "https://elsewhere.example"},
    {"Origin": "null"},
])
@pytest.mark.parametrize("form", ["login", "logout"])
def test_a_form_from_another_site_is_refused(neighbours, browser, form, headers):
    answer = browser.post(f"/replay/{form}", {"token": neighbours[0].token}, **headers)
    assert answer.status_code == 403
    assert not [name for name, _ in answer.headers if name == "Set-Cookie"]


@pytest.mark.parametrize(("wished", "leads"), [
    ("/replay/t-00-000000000000/1?seat=0&lang=cs", "/replay/t-00-000000000000/1?seat=0&lang=cs"),
    ("/bank/t-00-000000000000", "/bank/t-00-000000000000"),
    ("//elsewhere.example/replay", "/replay"), ("https://elsewhere.example", "/replay"), ("/v1/docs", "/replay"),
    ("/replay/../v1/docs", "/replay"), ("/replay\\elsewhere", "/replay"), ("/replayx", "/replay"), ("", "/replay"),
    ("/replay\r\nSet-Cookie: a=b", "/replay"), ("/replay//elsewhere.example", "/replay"),
])
def test_signing_in_leads_back_to_pages_only(neighbours, browser, wished, leads):
    assert browser.sign_in(neighbours[0], wished).headers["Location"] == leads


def test_a_private_table_asks_for_its_code(street, neighbours, browser):
    ana = neighbours[0]
    opened = ana.post("/v1/tables", {"game": "voleny", "private": True, "bots": [1, 2]}).json
    table, code = opened["table"], opened["code"]
    ana.command(table, {"type": "sit", "seat": 0, "code": code})
    ana.command(table, {"type": "ready"})
    street.work()
    for page in (f"/replay/{table}/1", f"/bank/{table}"):
        for wrong in ("", "?code=wrong"):
            answer = browser.get(page + wrong)
            assert answer.status_code == 403
            assert 'name="code"' in answer.text
        answer = browser.get(f"{page}?code={code}")
        assert answer.status_code == 200
        assert f'href="/bank/{table}?code={code}' in answer.text or page.startswith("/bank")
    browser.sign_in(ana)
    assert browser.get(f"/replay/{table}/1").status_code == 200


@pytest.mark.parametrize("path", [
    "/replay/{t}/9", "/replay/{t}/0", "/replay/{t}/x", "/replay/t-00-000000000000/1", "/replay/nothing/1",
    "/bank/nothing", "/bank/t-00-000000000000", "/replay/{t}/1?seat=7", "/replay/{t}/99999999999999",
    "/replay/static/x/nothing.css",
])
def test_what_is_not_there_is_a_page_that_says_so(played, browser, path):
    answer = browser.get(path.format(t=played), Accept_Language="cs")
    assert answer.status_code == 404
    assert answer.content_type == "text/html; charset=utf-8"
    assert "Takový stůl nebo taková hra není" in answer.text
    assert "Co s tím" in answer.text


def test_a_running_deal_ends_at_now(neighbours, browser):
    table = begun(neighbours)
    answer = browser.get(f"/replay/{table}/1")
    assert answer.status_code == 200
    assert "still being played" in answer.text
    assert browser.get(f"/bank/{table}").status_code == 200


def test_every_page_loads_only_what_is_ours(neighbours, played, browser):
    browser.sign_in(neighbours[0])
    for path in (f"/replay/{played}/1", f"/bank/{played}", "/replay", "/replay/login", f"/replay/{played}/9"):
        answer = browser.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        page = _Page(answer.text)
        assert page.loads
        assert not page.inline, page.inline
        assert all(each.startswith("/replay/static/") for each in page.loads)
        for each in page.loads:
            assert browser.get(each).status_code == 200
        assert "//" not in answer.text.replace("<!doctype html>", "").replace("http://www.w3.org/2000/svg", "")


class _Page(HTMLParser):
    """What a page loads, and what in it a strict policy would forbid."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.inline, self.within = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        here = dict(attrs)
        self.within = tag
        if tag in ("script", "img", "iframe", "source"):
            self.loads.append(here["src"])
        if tag == "link":
            self.loads.append(here["href"])
        self.inline += [f"{tag} {name}" for name in here if name == "style" or name.startswith("on")]
        self.inline += [tag for _ in range(tag in ("style", "base", "object", "embed"))]

    def handle_data(self, data):
        if self.within == "script" and data.strip():
            self.inline.append(data)


def test_parts_of_pages_are_kept_by_browsers(browser):
    path = _Page(browser.get("/replay").text).loads[1]
    assert path.endswith(".css")
    answer = browser.get(path, Accept_Encoding="gzip")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.data) == browser.get(path).data
    again = browser.get(path, If_None_Match=answer.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")
    stale = browser.get(re.sub("static/[^/]+", "static/0", path))
    assert (stale.status_code, stale.headers["Cache-Control"]) == (200, "no-cache")


def test_pages_are_packed_for_who_takes_that(played, browser):
    plain = browser.get(f"/replay/{played}/1")
    packed = browser.get(f"/replay/{played}/1", Accept_Encoding="gzip")
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) * 5 < len(plain.data)
    assert packed.headers["Cache-Control"] == "no-store"
    refused = browser.get(f"/replay/{played}/1", Accept_Encoding="br, gzip;q=0")
    assert "Content-Encoding" not in refused.headers
    assert refused.data == plain.data


def test_the_language_is_wished_kept_or_that_of_the_browser(played, browser):
    path = f"/replay/{played}/1"
    assert '<html lang="en"' in browser.get(path).text
    assert '<html lang="cs"' in browser.get(path, Accept_Language="de, cs;q=0.8, en;q=0.5").text
    assert '<html lang="cs"' in browser.get(f"{path}?lang=cs").text
    assert '<html lang="cs"' in browser.get(path).text
    assert '<html lang="en"' in browser.get(f"{path}?lang=en").text
    assert '<html lang="en"' in browser.get(f"{path}?lang=xx").text


def test_the_style_of_the_cards_is_remembered(played, browser):
    path = f"/replay/{played}/1"
    assert 'class="german"' in browser.get(path).text
    assert 'class="french"' in browser.get(f"{path}?suits=french").text
    assert 'class="french"' in browser.get(path).text
    assert 'class="french"' in browser.get(f"/bank/{played}").text
    assert 'class="french"' in browser.get(f"{path}?suits=italian").text


def test_chips_lead_to_deals_and_events(neighbours, played, browser):
    text = browser.get(f"/bank/{played}").text
    last = moments(neighbours[0], played)[-1]
    payments = next(event["payments"] for event in last["events"] if event["type"] == "deal_ended")
    assert f'href="/replay/{played}/1#v{last["version"]}"' in text
    row = re.search(r"<tbody>(.*?)</tbody>", text, re.DOTALL)[1]
    shown = [int(value.replace("−", "-").replace("\u202f", "")) for value in re.findall(r"<b>(.*?)</b>", row)]
    assert shown == payments
    assert text.count("<polyline") == 6  # Three seats, in a wide picture and in a narrow one.
    assert f'title="Ana, {played}:{last["version"]}:0"' in text


def test_chips_name_who_sat_there_when_he_has_gone(street, browser):
    guests = [street.guest(name) for name in ("Filip", "Gita", "Hana")]
    table = begun(guests)
    play_deal(guests, table)
    assert guests[0].command(table, {"type": "leave"}).status_code == 200
    assert ">Filip<b>" in browser.get(f"/bank/{table}").text
    assert street.guest("Eva").command(table, {"type": "sit", "seat": 0}).status_code == 200
    text = browser.get(f"/bank/{table}").text
    assert ">Eva<b>" in text
    assert 'title="Filip, ' in text


def test_the_proof_is_a_file_with_what_its_reader_may_have(street, neighbours, played, browser):
    path = f"/replay/{played}/1/proof"
    assert f'href="{path}"' in browser.get(f"/replay/{played}/1").text
    visitor = browser.get(path)
    assert visitor.headers["Content-Disposition"] == f'attachment; filename="{played}-1.proof.json"'
    assert visitor.json == street.guest("Dana").get(f"/v1/tables/{played}/deals/1/proof").json
    browser.sign_in(neighbours[0])
    assert browser.get(path).json == neighbours[0].get(f"/v1/tables/{played}/deals/1/proof").json != visitor.json
    assert browser.get(f"/replay/{played}/9/proof").status_code == 404


def test_a_form_leads_to_a_deal(browser, played):
    answer = browser.get(f"/replay?table={played}&deal=1")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/replay/{played}/1")
    answer = browser.get(f"/replay/{played}")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/bank/{played}")


@pytest.mark.parametrize("query", ["/elsewhere.example", "//elsewhere.example", "..%2f..%2fv1", "%0d%0aX: y"])
def test_the_form_leads_nowhere_else(browser, query):
    location = browser.get(f"/replay?table={query}&deal=1").headers["Location"]
    assert location.startswith("/replay/")
    assert "\n" not in location


def test_names_are_text_and_nothing_else(street, browser):
    eve = street.guest("<script>alert(1)</script>")
    table = eve.open(bots=[1, 2])
    eve.command(table, {"type": "sit", "seat": 0})
    eve.command(table, {"type": "ready"})
    street.work()
    for path in (f"/replay/{table}/1", f"/bank/{table}", f"/replay/{table}/1?code=%22%3E%3Cscript%3E"):
        text = browser.get(path).text
        assert "<script>" not in text
        assert "&lt;script&gt;alert(1)" in text


def test_the_api_does_not_look_at_the_cookie(neighbours, played, browser):
    browser.client.set_cookie("marias_token", neighbours[0].token, path="/")
    assert browser.get(f"/v1/tables/{played}").status_code == 401


def test_the_bare_address_leads_to_where_pages_begin(browser):
    for path in ("/", "/bank"):
        answer = browser.get(path)
        assert (answer.status_code, answer.headers["Location"]) in [(302, "/replay"), (303, "/replay")]
