"""The push process: its one server, what runs beside it, and how both come to an end."""

import resource
import signal
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import gevent

from services.config import Config
from services.envelope import sender_of
from services.http.server import Application, Server, StartResponse, listen
from services.intake import attach
from services.push.pulse import BEAT_SECONDS
from services.push.server import Front
from services.push.service import Service
from services.store.connect import connect
from services.store.feed import Feed
from services.tokens import KeyRing

SILENT_BEATS_MAX = 5
"""A client that owes us the rest of a request, or keeps a connection for the next, may be silent for so long."""

STOP_SECONDS_MAX = 0.8  # The parent waits a second before it kills.


def serve_alone(config: Config, *, beat_seconds: float = BEAT_SECONDS) -> None:
    """Streams and sockets only; a proxy sends everything else to the API."""
    _serve(config, _nothing_here, _service(config, beat_seconds))


def serve_with_api(config: Config) -> None:
    """Everything on one port."""
    from services.api.app import create_app  # Push alone does not need Flask.
    from services.api.backend import EXTENSION, Backend

    service = _service(config, BEAT_SECONDS)
    app = create_app(service.redis, config, feed=service.feed, ring=service.ring, signer=service.signer)
    backend: Backend = app.extensions[EXTENSION]
    app.extensions[EXTENSION] = replace(backend, intake=service.intake.submit)
    _serve(config, app.wsgi_app, service)


def _service(config: Config, beat_seconds: float) -> Service:
    if config.redis_url is None:
        sys.exit("REDIS_URL is not set: the push process needs the store of the tables.")
    redis = attach(connect(config.redis_url, replicas=config.replicas), sender_of(config.keys))
    feed = Feed(redis, config.partitions)
    return Service(redis, feed, KeyRing(config.keys), config, beat_seconds=beat_seconds)


def _serve(config: Config, application: Application, service: Service) -> None:
    _raise_limit_of_files()
    silent_seconds_max = SILENT_BEATS_MAX * service.pulse.seconds
    server = Server(
        listen(config.host, config.port, config.listen_fd), Front(application, service),
        silent_seconds_max=silent_seconds_max,
    )
    service.start()
    gevent.signal_handler(signal.SIGTERM, _stop, server, service)
    server.serve_forever(stop_timeout=STOP_SECONDS_MAX)


def _stop(server: Server, service: Service) -> None:
    """Take no more connections, let what was asked be answered, and send the clients elsewhere."""
    server.close()
    service.pulse.finish()
    server.stop(STOP_SECONDS_MAX)


def _raise_limit_of_files() -> None:
    """Each client is an open file; the usual soft limit of 1024 would be a limit of clients."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _nothing_here(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    if environ["PATH_INFO"] == "/v1/health/live":
        start_response("200 OK", [("Content-Type", "application/json")])
        return [b'{"status":"ok"}']
    start_response("404 Not Found", [("Content-Type", "application/problem+json")])
    return [b'{"type":"/v1/problems/not_found","title":"Not found","status":404,"code":"not_found"}']
