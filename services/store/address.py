"""The address of a store, read as text: one server, a service that sentinels watch, or a cluster."""

from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

SENTINEL_PORT, CLUSTER_PORT = 26379, 6379

Kind = Literal["server", "sentinel", "cluster"]


class BadAddress(ValueError):
    """The address cannot be read; the message says what is wrong with it, without the password."""


class Address(NamedTuple):
    """What an address says. `nodes` are the sentinels, or some nodes of the cluster; for one server only `kind`
    is filled in. `options` are what stands behind the question mark."""

    kind: Kind
    nodes: tuple[tuple[str, int], ...] = ()
    user: str | None = None
    password: str | None = None
    service: str = ""
    database: int = 0
    is_encrypted: bool = False
    options: tuple[tuple[str, str], ...] = ()


def kind_of(url: str) -> Kind:
    """What kind of store `url` is the address of."""
    scheme = url.partition(":")[0]
    if scheme.endswith("+sentinel"):
        return "sentinel"
    return "cluster" if scheme.endswith("+cluster") else "server"


def read(url: str) -> Address:
    """The parts of `url`. Raises BadAddress."""
    kind = kind_of(url)
    if kind == "server":
        return Address(kind)
    parts = urlsplit(url)
    login, _, hosts = parts.netloc.rpartition("@")
    name, _, word = login.partition(":")
    port = SENTINEL_PORT if kind == "sentinel" else CLUSTER_PORT
    nodes = tuple(_node(host, port) for host in hosts.split(",") if host)
    if not nodes:
        raise BadAddress("names no host")
    service, database = _path(kind, parts.path.strip("/"))
    return Address(
        *(kind, nodes, unquote(name) or None, unquote(word) or None, service, database),
        parts.scheme.startswith("rediss"),
        tuple(parse_qsl(parts.query)),
    )


def _node(text: str, usual: int) -> tuple[str, int]:
    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        host, port = text, str(usual)
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise BadAddress(f"{text!r} is no host:port")
    return host.strip("[]"), int(port)


def _path(kind: Kind, path: str) -> tuple[str, int]:
    """The service and the database that a path names."""
    service, _, database = path.partition("/") if kind == "sentinel" else ("", "", path)
    if kind == "sentinel" and not service:
        raise BadAddress("names no service: redis+sentinel://host:port,host:port/service")
    if database and not (database.isascii() and database.isdigit()):
        raise BadAddress(f"{database!r} is no number of a database")
    if kind == "cluster" and int(database or 0) != 0:
        raise BadAddress("a cluster has database 0 only")
    return unquote(service), int(database or 0)
