"""The request headers that say under which conditions a request is meant: keys, versions and patience."""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from services.api.problems import Problem

Environ: TypeAlias = Mapping[str, Any]
"""Of a WSGI request."""

WAIT_SECONDS_MAX = 30

_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VERSION = re.compile(r'"(0|[1-9][0-9]{0,14})"')
_WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?0*([0-9]+)"?\s*(?=[,;]|$)', re.IGNORECASE)
_SIGNED = re.compile(r'(?:^|[,;])\s*receipt\s*=\s*"?signed"?\s*(?=[,;]|$)', re.IGNORECASE)
_TAG = re.compile(r'(?:W/)?("[^"]*")')


def idempotency_key(environ: Environ) -> str:
    """The header Idempotency-Key. Raises Problem if it is missing or not 1–64 of `A-Za-z0-9_-`."""
    key: str | None = environ.get("HTTP_IDEMPOTENCY_KEY")
    if not key:
        raise Problem("idempotency_key_missing")
    if _KEY.fullmatch(key) is None:
        raise Problem("malformed", errors={"Idempotency-Key": ["Must be 1 to 64 of A-Z a-z 0-9 _ -."]})
    return key


def is_key(text: str) -> bool:
    """Is `text` spelled as an idempotency key?"""
    return _KEY.fullmatch(text) is not None


def version_expected(environ: Environ) -> int | None:
    """The one version that If-Match asks for; None if there is no such condition, or if any version will do (`*`)."""
    header = environ.get("HTTP_IF_MATCH")
    if header is None or header.strip() == "*":
        return None
    match = _VERSION.fullmatch(header.strip())
    if match is None:
        raise Problem("malformed", errors={"If-Match": ['Must be one version as in the header ETag: "17".']})
    return int(match[1])


def wait_seconds(environ: Environ) -> int | None:
    """The seconds of `Prefer: wait=<n>` (RFC 7240), at most WAIT_SECONDS_MAX; None if the caller does not wait."""
    header = environ.get("HTTP_PREFER")
    match = _WAIT.search(header) if header else None
    if match is None:
        return None
    return WAIT_SECONDS_MAX if len(match[1]) > len(str(WAIT_SECONDS_MAX)) else min(int(match[1]), WAIT_SECONDS_MAX)


def wants_signature(environ: Environ) -> bool:
    """Does the caller ask for a receipt that he can keep, by `Prefer: receipt=signed`?"""
    header = environ.get("HTTP_PREFER")
    return header is not None and _SIGNED.search(header) is not None


def is_known(environ: Environ, tag: str) -> bool:
    """Does If-None-Match name `tag`, compared weakly (RFC 9110 §13.1.2)? `tag` comes with its quotes."""
    header = environ.get("HTTP_IF_NONE_MATCH")
    if header is None:
        return False
    return header == tag or header.strip() == "*" or tag in _TAG.findall(header)
