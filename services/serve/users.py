"""The users of the store: one for each role, with passwords of this start, each told to its own child alone."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from services import private_files
from services.config import Config
from services.serve.errors import CannotServe
from services.store.rights import OWNER, ROLES, new_password, nobody, rule

QUEUES = ("projector", "jobs")
"""Who works with the queue of jobs."""


class BadUsers(CannotServe):
    """The file of users cannot be used; the message says why."""


def owner_password(data: Path) -> str:
    """The password of the embedded store's owner: kept, so that a later start can end a store that was left behind."""
    path = data / "keys" / "store-owner"
    try:
        return private_files.read(path).decode()
    except FileNotFoundError:
        password = new_password()
        private_files.replace(path, password.encode())
        return password


def prepare(data: Path) -> tuple[Path, dict[str, str]]:
    """A fresh ACL file for the embedded store, and the passwords in it by user."""
    passwords = {OWNER: owner_password(data)} | {role: new_password() for role in ROLES}
    path = data / "store" / "users.acl"
    private_files.replace(path, acl(passwords).encode())
    return path, passwords


def acl(passwords: Mapping[str, str]) -> str:
    """The text of an ACL file with these users, and nothing for a caller without a name."""
    return "".join(f"{line}\n" for line in (nobody(), *(rule(*each) for each in passwords.items())))


def read_file(path: Path) -> dict[str, str]:
    """The passwords by user in a file of lines `user password`. Raises BadUsers."""
    try:
        rows = [line.split() for line in private_files.read(path).decode().splitlines() if line.strip()]
        found: dict[str, str] = dict(rows)
    except (OSError, ValueError) as error:
        raise BadUsers(f"{path} is no file of `user password` lines: {error}") from error
    if missing := sorted(ROLES.keys() - found.keys()):
        raise BadUsers(f"{path} lacks the users {', '.join(missing)}: make it with `marias users --file {path}`.")
    return found


def make_file(path: Path) -> dict[str, str]:
    """A new file of users with random passwords, readable by its owner alone; one that exists stays as it is."""
    if not path.exists():
        private_files.replace(path, "".join(f"{role} {new_password()}\n" for role in ROLES).encode())
    return read_file(path)


def login(url: str, user: str, passwords: Mapping[str, str]) -> str:
    """`url` with the name and password of `user`; as it is where no users are known."""
    if user not in passwords:
        return url
    parts = urlsplit(url)
    where = f"{user}:{passwords[user]}@{parts.netloc.rpartition('@')[2]}"
    if parts.scheme == "unix":
        # Spelt by hand: the standard library drops the slashes of a unix address.
        return f"unix://{where}{parts.path}{f'?{parts.query}' if parts.query else ''}"
    return urlunsplit(parts._replace(netloc=where))


def told_to(role: str, config: Config, passwords: Mapping[str, str]) -> Config:
    """`config` as the child of this role gets it: the logins that it needs, and no others."""
    assert config.redis_url is not None
    if not passwords:
        return config
    queue = login(config.jobs_redis_url, role, passwords) if config.jobs_redis_url and role in QUEUES else None
    audit = login(config.audit_redis_url or config.redis_url, "auditor", passwords) if role == "projector" else None
    archive = login(config.archive_redis_url or config.redis_url, "archive", passwords) if role == "jobs" else None
    nightly = login(config.nightly_redis_url or config.redis_url, "audit", passwords) if role == "jobs" else None
    return replace(
        config, redis_url=login(config.redis_url, role, passwords), jobs_redis_url=queue, audit_redis_url=audit,
        archive_redis_url=archive, nightly_redis_url=nightly, store_users=None,
    )
