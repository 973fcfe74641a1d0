"""One role in this process: prepare it, wait for the store, run it."""

import importlib
import logging
import signal
import sys
import time

from services.config import Config

MODULES = {
    "front": "services.push",
    "push": "services.push",
    "api": "services.api",
    "worker": "services.worker",
    "projector": "services.projector",
    "jobs": "services.jobs",
}
GREEN = {"front", "push", "api"}  # These wait for many clients at once in one thread.
STORE_SECONDS_MAX = 30.0
LOG_FORMAT = "%(levelname)s %(name)s: %(message)s"


class StoreSilent(Exception):
    """The store did not answer for so long that waiting on would only hide it."""


def run_role(role: str, config: Config) -> None:
    """Run `role` until it is told to stop. Raises StoreSilent when there is no store to work with."""
    if role in GREEN:
        _patch()
    logging.basicConfig(level=config.log_level.upper(), format=LOG_FORMAT, stream=sys.stderr)
    signal.signal(signal.SIGTERM, _leave)
    module = importlib.import_module(MODULES[role])  # The long part; the store comes up meanwhile.
    _await_store(config)
    run = module.run_front if role == "front" else module.run
    run(config)


def _patch() -> None:
    """Make sockets, threads and sleeps cooperative; must come before anything that uses them is imported."""
    from gevent import monkey

    monkey.patch_all()


def _leave(number: int, frame: object) -> None:
    sys.exit(0)


def _await_store(config: Config) -> None:
    from redis import Redis
    from redis.exceptions import RedisError

    assert config.redis_url is not None, "a role is run with the address of its store"
    redis = Redis.from_url(config.redis_url, socket_connect_timeout=2, socket_timeout=2, retry=None)
    end = time.monotonic() + STORE_SECONDS_MAX
    while True:
        try:
            redis.ping()
            break
        except (RedisError, OSError) as error:
            if time.monotonic() > end:
                raise StoreSilent(f"the store does not answer: {error}") from error
            time.sleep(0.02)
    redis.close()
