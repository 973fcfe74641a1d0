"""The worker: folds tables, decides commands by the rules of the engine, and applies them."""

import os
import secrets
import signal
import socket

from services.archive import folder
from services.config import Config
from services.envelope import opener_of, sender_of
from services.intake import attach
from services.store import keys, leases
from services.store.connect import connect
from services.worker.handle import Desk, draw
from services.worker.loop import Worker
from services.worker.seal import make_auditor_keys, read_public_key, seal
from services.worker.watchdog import limit_memory


def run(config: Config) -> None:
    """Work until SIGTERM or Ctrl-C, then hand the partitions over at once."""
    assert config.redis_url is not None, "a worker needs the address of its store"
    stop: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stop.append(received))
    limit_memory(config.worker_memory)
    make_auditor_keys(config.keys)
    auditor = read_public_key(config.keys)
    redis = connect(config.redis_url, replicas=config.replicas)
    folder.attach(redis, config.archive)
    attach(redis, sender_of(config.keys))
    desk = Desk(redis, lambda: draw(lambda key: seal(auditor, key)), config.opening_chips, opener_of(config.keys))
    partitions = keys.all_partitions(config.partitions)
    if config.worker_name is not None:
        leases.bury(redis, partitions, config.worker_name)
    family = config.worker_name or f"{socket.gethostname()}-{os.getpid()}"
    Worker(desk, f"{family}.{secrets.token_hex(4)}", partitions).run(lambda: bool(stop))
    redis.close()
