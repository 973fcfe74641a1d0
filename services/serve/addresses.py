"""Addresses of stores, read and changed as text: the store's own library may only be loaded after gevent's patch."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from services.serve.errors import CannotServe
from services.store.address import kind_of


class NoQueue(CannotServe):
    """The queue of jobs has no place; the message says how to give it one."""

    def __init__(self) -> None:
        super().__init__(
            "The store is a cluster, and the queue of jobs (rq) cannot run on one.\n"
            "Set JOBS_REDIS_URL=redis://host:6379/0: a server of its own. It may be small, and nothing is lost with it."
        )


def jobs_url(url: str) -> str | None:
    """Database 1 of the same server, or 0 when the tables are in 1; None on a cluster, where rq cannot run."""
    if kind_of(url) == "cluster":
        return None
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    if kind_of(url) == "sentinel":
        service, _, used = parts.path.strip("/").partition("/")
        return urlunsplit((parts.scheme, parts.netloc, f"/{service}/{'0' if used == '1' else '1'}", parts.query, ""))
    used = query.get("db") or ("0" if parts.scheme == "unix" else parts.path.strip("/") or "0")
    other = "0" if used == "1" else "1"
    if parts.scheme == "unix":
        # Spelt by hand: the standard library drops the empty host of a unix address.
        return f"unix://{parts.netloc}{parts.path}?{urlencode({**query, 'db': other})}"
    query.pop("db", None)
    return urlunsplit((parts.scheme, parts.netloc, f"/{other}", urlencode(query), ""))


def without_password(url: str) -> str:
    """`url` as it may be shown."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return url.replace(f":{parts.password}@", ":***@", 1)
