"""The API as a process of its own: its connections, its server and its end."""

import signal
import sys

import gevent
from flask import Flask

from services.api.app import create_app
from services.config import Config
from services.envelope import sender_of
from services.http.server import Server, listen
from services.intake import attach
from services.store.connect import connect
from services.store.feed import Feed

STOP_SECONDS_MAX = 5.0


def app_of(config: Config) -> Flask:
    """The application with connections and a feed of its own, as `config` says."""
    if config.redis_url is None:
        sys.exit("REDIS_URL is not set: the API needs the store of the tables.")
    redis = attach(connect(config.redis_url, replicas=config.replicas), sender_of(config.keys))
    return create_app(redis, config, feed=Feed(redis, config.partitions).start())


def run(config: Config) -> None:
    """Serve until told to stop; requests under way are answered. The process must be monkey-patched."""
    server = Server(listen(config.host, config.port, config.listen_fd), app_of(config))
    signal.signal(signal.SIGTERM, lambda number, frame: gevent.spawn(server.stop, STOP_SECONDS_MAX))
    server.serve_forever(stop_timeout=STOP_SECONDS_MAX)

