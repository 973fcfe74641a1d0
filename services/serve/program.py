"""`marias serve`: the data folder, the store, the listening socket and the children, put together."""

import errno
import hashlib
import os
import shutil
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

from services.config import Config, settings
from services.serve import embedded, folder, torn, users
from services.serve.addresses import NoQueue, jobs_url
from services.serve.binary import find_server
from services.serve.child import Child
from services.serve.errors import CannotServe
from services.serve.probe import Probe
from services.serve.supervise import Supervisor
from services.store.rights import OWNER

STOP_ORDER = (("front",), ("worker",), ("projector", "jobs"), ("store",))
BACKLOG = 1024


class PortTaken(CannotServe):
    """The address cannot be listened on; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """The one listening socket. It is ours, not the API's: while a dead API starts again, calls wait."""

    socket: socket.socket
    host: str
    port: int

    @property
    def reachable(self) -> tuple[str, int]:
        """The address as a client on this machine reaches it."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host), self.port

    @property
    def http(self) -> str:
        """`reachable` as it is written."""
        host, port = self.reachable
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(config: Config, *, workers: int, verbose: bool, say: Callable[[str], None]) -> None:
    """Run everything until a stop signal.

    Raises PortTaken, FolderInUse, NoServer, UnfitStore or CannotStart, each with the remedy in its message.
    """
    with ExitStack() as held:
        listening = listen(config.host, config.port)
        held.callback(listening.socket.close)
        folder.prepare(config.data)
        held.enter_context(folder.lock(config.data))
        stores, passwords, config = _store(config, held, verbose=verbose, say=say)
        config = replace(config, port=listening.port, listen_fd=listening.socket.fileno(),
                         archive=config.archive_beside, heads=config.heads_outside,
                         log_level=config.log_level if not verbose else "info")
        supervisor = Supervisor([*stores, *_roles(config, workers, passwords)], say, verbose=verbose)

        def when_ready() -> None:
            held.callback(folder.forget_running, config.data)
            folder.write_running(config.data, _running(config, listening, passwords))
            say(_greeting(config, listening))

        supervisor.run(Probe(listening.reachable), when_ready, STOP_ORDER)
    say("stopped; start again with the same data folder to go on where the tables are")


def listen(host: str, port: int) -> Listening:
    """Take the port, before anything else is started. Raises PortTaken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise PortTaken(
                f"Cannot listen on {host}:{port}: {error.strerror}.\n"
                "--host must be an address of this machine; 0.0.0.0 is all of them."
            ) from error
        raise PortTaken(
            f"Cannot listen on {host}:{port}: {error.strerror}.\n"
            f"Take another port (marias serve --port {port + 1 if 0 < port < 65535 else 8001}, "
            "or 0 for any free one), or stop what uses this one."
        ) from error
    return Listening(socket=listener, host=host, port=listener.getsockname()[1])


def _store(
    config: Config, held: ExitStack, *, verbose: bool, say: Callable[[str], None]
) -> tuple[list[Child], dict[str, str], Config]:
    """The child that is the embedded store, if there is one, its users, and the configuration that points at it."""
    if config.redis_url is not None:
        from services.serve import own  # The library of the store is slow to load, and only needed here.

        queue = config.jobs_redis_url or jobs_url(config.redis_url)
        if queue is None:
            raise NoQueue
        passwords = users.read_file(config.store_users) if config.store_users is not None else {}
        for warning in own.check(users.login(config.redis_url, "operator", passwords), config.replicas):
            say(f"warning: {warning}")
        return [], passwords, replace(config, jobs_redis_url=queue)
    server = find_server()
    path = folder.prepare_socket(config.data)
    acl, passwords = users.prepare(config.data)
    embedded.end_orphan(path, password=passwords[OWNER])
    kept = held.enter_context(folder.lock_store(config.data))
    store = Child(
        name="store",
        command=embedded.command(server, config.data / "store", path, fsync=config.fsync, verbose=verbose)
        + embedded.with_users(acl),
        environment=_environment(),
        keep=(kept.fileno(),),
        chatty=True,
        before=lambda: (
            embedded.end_orphan(path, password=passwords[OWNER]), torn.mend(server, config.data / "store")
        ),
    )
    return [store], passwords, replace(
        config, redis_url=embedded.url(path), jobs_redis_url=config.jobs_redis_url or embedded.url(path, 1)
    )


def _roles(config: Config, workers: int, passwords: Mapping[str, str]) -> list[Child]:
    """One child for each role. Only the front inherits the listening socket."""
    many = [f"worker-{number}" for number in range(1, workers + 1)] if workers > 1 else ["worker"]
    return [_role(name, config, passwords) for name in ("front", *many, "projector", "jobs")]


def _role(name: str, config: Config, passwords: Mapping[str, str]) -> Child:
    role = name.split("-", maxsplit=1)[0]
    front = role == "front"
    # A worker's name lets it take back at once what its killed predecessor held: we know that that one is dead.
    told = replace(users.told_to(role, config, passwords), listen_fd=config.listen_fd if front else None,
                   worker_name=f"{_installation(config)}-{name}" if role == "worker" else None)
    assert not front or told.listen_fd is not None
    return Child(
        name=name,
        command=[sys.executable, "-P", "-m", "services.cli", role],  # -P: the folder we stand in is not searched.
        environment={**_environment(), **told.to_environment()},
        keep=(told.listen_fd,) if told.listen_fd is not None else (),
    )


def _installation(config: Config) -> str:
    """Tells this data folder on this machine from every other that may share a store with it."""
    return hashlib.sha256(f"{socket.gethostname()}:{config.data}".encode()).hexdigest()[:12]


def _environment() -> dict[str, str]:
    """Ours but for the settings, which each child is told anew; this package can be found; nothing is buffered."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.pathsep.join(part for part in (here, os.environ.get("PYTHONPATH")) if part)
    told_anew = {variable for variable, *_ in settings()}
    kept = {name: value for name, value in os.environ.items() if name not in told_anew}
    return {**kept, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def _running(config: Config, listening: Listening, passwords: Mapping[str, str]) -> folder.Running:
    """Other commands on this folder get the login of the embedded store's owner, or of your store's operator."""
    assert config.redis_url is not None
    assert config.jobs_redis_url is not None
    user = OWNER if OWNER in passwords else "operator"
    return folder.Running(
        pid=os.getpid(), http=listening.http, redis_url=users.login(config.redis_url, user, passwords),
        jobs_redis_url=users.login(config.jobs_redis_url, user, passwords), heads=config.heads_outside,
    )


def _greeting(config: Config, listening: Listening) -> str:
    return (
        f"ready on {listening.http} (docs: {listening.http}/v1/docs)\n"
        f"see deals again: {listening.http}/replay; data in {config.data}; stop with Ctrl-C\n"
        f"try it: {_marias()} demo, or curl -s -X POST {listening.http}/v1/players "
        "-H 'Content-Type: application/json' -d '{\"name\": \"Ana\"}'"
    )


def _marias() -> str:
    """The command as it can be typed in another terminal: it may be installed where the PATH does not look."""
    installed = os.path.join(os.path.dirname(sys.executable), "marias")
    return "marias" if shutil.which("marias") or not os.path.exists(installed) else installed
