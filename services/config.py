"""Every setting of the program, read once from the environment into one frozen value."""

import ipaddress
import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any


class BadSetting(Exception):
    """A variable of the environment that cannot be read; the message names it and says what is expected."""


def _whole(value: str) -> int:
    try:
        number = int(value)
    except ValueError:
        raise ValueError("must be a whole number") from None
    if number < 0:
        raise ValueError("must not be negative")
    return number


def _port(value: str) -> int:
    number = _whole(value)
    if number > 65535:
        raise ValueError("must be at most 65535")
    return number


def _hour(value: str) -> int | None:
    if value == "off":
        return None
    number = _whole(value)
    if number > 23:
        raise ValueError("must be from 0 to 23, or off")
    return number


def _partitions(value: str) -> int:
    number = _whole(value)
    if not 1 <= number <= 256:
        raise ValueError("must be from 1 to 256")
    return number


def _store(value: str) -> str:
    if not value.startswith(SCHEMES):
        raise ValueError(f"must begin with {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}")
    return value


def _queue(value: str) -> str:
    if value.startswith(("redis+cluster://", "rediss+cluster://")):
        raise ValueError("the queue of jobs (rq) cannot run on a cluster: give it a server of its own")
    return _store(value)


def _outside(value: str) -> str:
    scheme = value.partition(":")[0] if ":" in value else ""
    if scheme not in ("", "file"):
        raise ValueError("heads can be kept in a file only: a path, or file:///path")
    return value


def _networks(value: str) -> str:
    for part in filter(None, map(str.strip, value.split(","))):
        ipaddress.ip_network(part, strict=False)
    return value


def _level(value: str) -> str:
    if value.lower() not in LEVELS:
        raise ValueError(f"must be one of {', '.join(LEVELS)}")
    return value.lower()


def _fsync(value: str) -> str:
    if value not in ("always", "everysec"):
        raise ValueError("must be always or everysec")
    return value


DATA = Path("marias-data")
SCHEMES = (
    *("redis://", "rediss://", "unix://"),
    *("redis+sentinel://", "rediss+sentinel://", "redis+cluster://", "rediss+cluster://"),
)
LEVELS = ("debug", "info", "warning", "error")


def _setting(variable: str, read: Callable[[str], object], default: object, says: str) -> Any:
    return field(default=default, metadata={"variable": variable, "read": read, "says": says})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of one process; made with `Config.from_environment()`."""

    redis_url: str | None = _setting(
        "REDIS_URL", _store, None,
        "Your own Valkey or Redis: redis://, rediss:// or unix://, redis+sentinel://host:port,host:port/service or"
        " redis+cluster://host:port,host:port. Unset: `marias serve` starts its own.",
    )
    jobs_redis_url: str | None = _setting(
        "JOBS_REDIS_URL", _queue, None,
        "The store of the job queue. Unset: database 1 of the embedded server, else database 1 of REDIS_URL;"
        " a cluster has none, so there it must be set.",
    )
    audit_redis_url: str | None = _setting(
        "AUDIT_REDIS_URL", _store, None,
        "The login with which the projector reads sealed records for auditors. Unset: REDIS_URL.",
    )
    archive_redis_url: str | None = _setting(
        "ARCHIVE_REDIS_URL", _store, None,
        "The login with which the jobs archive finished deals. Unset: REDIS_URL.",
    )
    nightly_redis_url: str | None = _setting(
        "NIGHTLY_REDIS_URL", _store, None,
        "The login with which the nightly audit reads everything. Unset: REDIS_URL.",
    )
    audit_hour: int | None = _setting(
        "MARIAS_AUDIT_HOUR", _hour, 2,
        "From which hour (UTC, 0 to 23) on everything is audited each night; off: never.",
    )
    store_users: Path | None = _setting(  # noqa: RUF009  It is a field.
        "MARIAS_STORE_USERS", Path, None,
        "For `marias serve` with REDIS_URL: a file of `marias users`, so that each role logs in as its own user.",
    )
    replicas: int = _setting(
        "MARIAS_REPLICAS", _whole, 0,
        "How many replicas of the store must confirm what is written before it is answered or pushed. 0: none.",
    )
    data: Path = _setting(  # noqa: RUF009  It is a field.
        "MARIAS_DATA", Path, DATA,
        "The data folder: the embedded store, and the keys that sign tokens and seal deals.",
    )
    archive: Path | None = _setting(  # noqa: RUF009  It is a field.
        "MARIAS_ARCHIVE", Path, None,
        "The folder that finished deals are archived in before they leave the store; the same for every role."
        " `marias serve` takes <data>/archive. A role alone, without it: nothing is archived and nothing trimmed.",
    )
    heads: str | None = _setting(
        "MARIAS_HEADS", _outside, None,
        "Where the projector keeps the signed heads and leaves of the log of finished deals outside the store: a path,"
        " or file:///path; better on another disk or machine. Unset: <data>/heads.jsonl.",
    )
    host: str = _setting("MARIAS_HOST", str, "127.0.0.1", "The address to listen on.")
    port: int = _setting("MARIAS_PORT", _port, 8000, "The port to listen on; 0 takes a free one.")
    listen_fd: int | None = _setting(
        "MARIAS_LISTEN_FD", _whole, None,
        "A listening socket inherited from the parent, so that a restarted API refuses no connection. "
        "Set by `marias serve` for its children.",
    )
    worker_name: str | None = _setting(
        "MARIAS_WORKER_NAME", str, None,
        "A name that one worker at a time has: started again under it, a worker takes its partitions back at once"
        " instead of waiting for its old leases to run out.",
    )
    worker_memory: int = _setting(
        "MARIAS_WORKER_MEMORY", _whole, 1024,
        "MiB that a worker may use for itself (Linux): a command that asks for more is given up after three tries"
        " instead of taking the machine down. 0: no limit.",
    )
    partitions: int = _setting(
        "MARIAS_PARTITIONS", _partitions, 64,
        "How many partitions the tables are spread over. It is kept with the data when they begin; another number is"
        " refused.",
    )
    player_rate: int = _setting(
        "MARIAS_PLAYER_RATE", _whole, 200,
        "Commands a second that one player may send to one partition, twice as many at once; more are refused with"
        " 429 and Retry-After. Bots and the clock are not counted. 0: no limit.",
    )
    guest_rate: int = _setting(
        "MARIAS_GUEST_RATE", _whole, 20,
        "Guests a second that one address may make at one API process, twenty times as many at once. 0: no limit.",
    )
    trusted_proxies: str = _setting(
        "MARIAS_TRUSTED_PROXIES", _networks, "",
        "Addresses or networks of your proxies, such as 10.0.0.0/8, with commas between: from these, and only from"
        " these, X-Forwarded-For is believed.",
    )
    opening_chips: int = _setting(
        "MARIAS_OPENING_CHIPS", _whole, 10_000, "The chips a new account is opened with."
    )
    lobby_hours: int = _setting(
        "MARIAS_LOBBY_HOURS", _whole, 24,
        "A table at which nobody has started a deal or sat down for so many hours ends, and its chips go home."
        " 0: never.",
    )
    abandoned_days: int = _setting(
        "MARIAS_ABANDONED_DAYS", _whole, 30,
        "Who sits at a table without a clock where a deal has stood for so many days has left it: bots play it to its"
        " end, and the chips go home. 0: never.",
    )
    fsync: str = _setting(
        "MARIAS_FSYNC", _fsync, "always",
        "When the embedded store forces writes to the disk: always (an answered command survives a power cut)"
        " or everysec (a power cut may lose the last seconds; a killed process loses nothing either way).",
    )
    allowed_origins: str = _setting(
        "MARIAS_ALLOWED_ORIGINS", str, "",
        "Web pages of others that may call the API (CORS), such as https://example.org, with commas between; * is all.",
    )
    log_level: str = _setting(
        "MARIAS_LOG_LEVEL", _level, "warning", "The least that is logged: debug, info, warning or error."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", self.data.expanduser().resolve())  # The store changes its folder.
        if self.heads is not None and ":" not in self.heads:
            object.__setattr__(self, "heads", str(Path(self.heads).expanduser().resolve()))
        if self.archive is not None:
            object.__setattr__(self, "archive", self.archive.expanduser().resolve())

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Config":
        """Read every variable once. Raises BadSetting with the name of the first that cannot be read."""
        source = os.environ if environment is None else environment
        found: dict[str, Any] = {
            each.name: _read(each, source[variable])
            for each, variable in ((each, each.metadata["variable"]) for each in fields(cls))
            if source.get(variable)
        }
        return cls(**found)

    def given(self, **options: Any) -> "Config":
        """This with the options of a command line in place of the settings; None is an option not given."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})

    @property
    def keys(self) -> Path:
        """The folder of the keys: those that sign tokens and the pair that deals are sealed to."""
        return self.data / "keys"

    @property
    def heads_outside(self) -> str:
        """Where the heads of the log of finished deals are kept: as set, else in the data folder."""
        return self.heads or str(self.data / "heads.jsonl")

    @property
    def receipt_keys(self) -> Path:
        """The folder of the ring that signs receipts and the heads of the log of deals."""
        return self.keys / "receipts"

    @property
    def archive_beside(self) -> Path:
        """The folder of the archive: as set, else the one that `marias serve` keeps in the data folder."""
        return self.archive or self.data / "archive"

    def to_environment(self) -> dict[str, str]:
        """The variables from which a child process reads this same value."""
        values = ((each.metadata["variable"], getattr(self, each.name)) for each in fields(self))
        return {variable: str(value) for variable, value in values if value is not None}


def settings() -> list[tuple[str, str, str]]:
    """Rows of (variable, default as text, what it says), in order, for `marias settings` and the README."""
    return [
        (each.metadata["variable"], _default_text(each), each.metadata["says"])
        for each in fields(Config)
    ]


def _default_text(each: "Field[Any]") -> str:
    if isinstance(each.default, Path):
        return f"./{each.default.name}"
    return "" if each.default is None else str(each.default)


def _read(each: "Field[Any]", value: str) -> object:
    try:
        return each.metadata["read"](value)
    except ValueError as error:
        raise BadSetting(f"{each.metadata['variable']}={value!r}: {error}") from error
