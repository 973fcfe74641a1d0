"""What a store may lose of what was answered, in words for its operator: at the start and in every look at it."""

from collections.abc import Iterator, Mapping

UNTOLD = None
"""Of a setting that the server does not tell."""


def keeps_log(info: Mapping[str, str]) -> bool:
    """Has a server an append-only file, by its INFO? While it reads one, it says that it has none."""
    return info.get("aof_enabled") != "0" or info.get("loading") == "1"


def power_cut(*, aof: bool, fsync: str | None) -> Iterator[str]:
    """What a restart of a server or a power cut may cost. `fsync` UNTOLD: nobody can know; "": we may not ask, and
    whoever made the users knows."""
    if not aof:
        yield (
            "the store keeps no append-only file: a restart of it loses every command since its last dump. "
            "Set: appendonly yes, appendfsync always"
        )
    elif fsync is UNTOLD:
        yield "the store does not tell its appendfsync: unless it is `always`, a power cut loses commands"
    elif fsync not in ("always", ""):
        yield (
            f"the store's appendfsync is {fsync}: a power cut may lose the last seconds of answered commands, and "
            "WAITAOF does not mend that. Set: appendfsync always"
        )


def fail_over(*, connected: int, wanted: int, watched: bool) -> Iterator[str]:
    """What a fail-over may cost, or what stops all answers, where `connected` replicas follow a master and `wanted`
    must confirm. `watched`: by sentinels."""
    if connected and not wanted:
        yield (
            "the store has replicas, but nobody waits for them: a fail-over may lose what was answered just before. "
            "Set: MARIAS_REPLICAS=1"
        )
    elif connected < wanted:
        yield too_few(connected, wanted)
    elif connected and connected == wanted:
        yield f"all {wanted} replicas must confirm: while one of them is away, nothing is answered" + (
            "; of one that is gone for good tell the sentinels: SENTINEL RESET" if watched
            else ", and none is left when one becomes the master. Have one more"
        )


def too_few(connected: int, wanted: int) -> str:
    """Why nothing is answered."""
    return f"{wanted} replicas must confirm each write, and a master has {connected}: until it has more, it answers 503"
