"""Pages without a deal: where to begin, how to sign in, and why something cannot be shown."""

from collections.abc import Mapping
from typing import Any

from services.pages.rendering import Page, render
from services.pages.words import REFUSALS

SIGN_IN_HELPS = frozenset({"unauthenticated", "forbidden", "code_wrong"})


def home_page(page: Page, following: str = "/replay", failed: str = "") -> str:
    """A form for a table and a deal and one to sign in, which leads to `following`; `failed` is why it did not."""
    return render("home.html", page, next=following, failed=failed)


def refusal_page(page: Page, problem: Mapping[str, Any]) -> str:
    """Why something cannot be shown, and what to do: a problem document (RFC 9457) in words for who reads pages."""
    code = str(problem["code"])
    title, remedy = REFUSALS[page.labels.language].get(code, (problem["title"], problem["remedy"]))
    # What it says in detail is said in English, and what it always says the title says better.
    detail = problem["detail"] if page.labels.language == "en" and problem["detail"] != f"{problem['title']}." else ""
    return render(
        "message.html", page, title=title, detail=detail, remedy=remedy, status=problem["status"], code=code,
        sign_in=code in SIGN_IN_HELPS and not page.reader.id, next=page.here,
    )
