"""What browsers are told about who may read a stream (the operator names the pages; no cookie ever counts)."""

from services.push.access import Environ

Headers = list[tuple[str, str]]


def allowing(environ: Environ, origins: frozenset[str]) -> Headers:
    """The headers by which a page of `origins` (`*`: of anybody) may read the answer."""
    origin: str | None = environ.get("HTTP_ORIGIN")
    if origin is None or not origins & {origin, "*"}:
        return []
    return [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")]


def preflight(environ: Environ, origins: frozenset[str]) -> Headers:
    """The answer to a browser that asks beforehand."""
    granted = allowing(environ, origins)
    if not granted:
        return [("Allow", "GET, OPTIONS")]
    return [
        *granted,
        ("Allow", "GET, OPTIONS"),
        ("Access-Control-Allow-Methods", "GET"),
        ("Access-Control-Allow-Headers", "Authorization, Last-Event-ID"),
        ("Access-Control-Max-Age", "600"),
    ]
