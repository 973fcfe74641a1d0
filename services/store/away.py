"""Which failures mean `not now`: the request may be repeated with the same ids, and nobody was refused."""

import re

from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)

_AWAY = (BusyLoadingError, ReadOnlyError, OutOfMemoryError, AskError, TryAgainError, ClusterDownError)
_WORDS = (
    *("LOADING", "READONLY", "OOM", "ASK", "MOVED", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN"),
    *("NOREPLICAS", "MISCONF", "BUSY", "UNBLOCKED", "UNKILLABLE"),
)
_FIRST = re.compile(rf"-?(?:{'|'.join(_WORDS)})\b")
# Where the server quotes what a command said inside a script, the word stands in the middle, by version with a minus.
_QUOTED = re.compile(rf"(?:@user_script|running script|user_function).*?(?:: |-)-?(?:{'|'.join(_WORDS)})\b", re.DOTALL)
# While a slot moves, or has just moved, a script finds that a key which it did not declare is elsewhere.
_SCRIPT_STRAYED = re.compile(
    r"(?:Script a|A)ttempted to access a non local key|"
    r"(?:Script attempted to execute|Can not execute) a (?:write )?command .*?while the cluster is down"
)


class StoreUnavailable(Exception):
    """The store cannot answer now; the request may have taken effect. Repeat it with the same ids."""


def is_away(error: Exception) -> bool:
    """Is this the server's word that it cannot do it now, rather than that the request is wrong?"""
    if isinstance(error, _AWAY):
        return True
    text = str(error)
    return bool(_FIRST.match(text) or _QUOTED.search(text) or _SCRIPT_STRAYED.search(text))


def was_not_executed(error: Exception) -> bool:
    """Does the word say that a cluster has not begun with the request, and that it can be asked elsewhere or again?"""
    return isinstance(error, AskError | TryAgainError) or (
        isinstance(error, ResponseError) and _SCRIPT_STRAYED.search(str(error)) is not None
    )


def named(error: Exception) -> Exception:
    """A wrong password does not heal by waiting; everything else about a connection may."""
    cause = error.__cause__
    if isinstance(error, AuthenticationError):
        return error
    if isinstance(cause, AuthenticationError):
        return cause
    return StoreUnavailable(f"{type(error).__name__}: {error}")
