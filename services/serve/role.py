"""One role in this process: prepare it, wait for the store, run it."""

import gc
import importlib
import logging
import signal
import sys

from services.config import Config
from services.serve.addresses import NoQueue, without_password
from services.serve.errors import CannotServe

MODULES = {
    "front": "services.push",
    "push": "services.push",
    "api": "services.api",
    "worker": "services.worker",
    "projector": "services.projector",
    "jobs": "services.jobs",
}
GREEN = {"front", "push", "api"}  # These wait for many clients at once in one thread.
WITH_QUEUE = {"projector", "jobs"}
WARNS = {"worker", "api", "push"}  # What `serve` starts need not say it four times.
STORE_SECONDS_MAX = 30.0
QUIET_SECONDS_MAX = 2.0  # A store that starts beside us takes no longer; after that, say what we wait for.
COLLECT_AFTER = 10_000, 20, 20
"""How many new objects, and so on, begin a search for garbage: a batch of commands alone makes more than the usual 700,
and nearly all that we make is no garbage of that kind."""
LOG_FORMAT = "%(levelname)s %(name)s: %(message)s"


class StoreSilent(CannotServe):
    """The store did not answer for so long that waiting on would only hide it."""


def run_role(role: str, config: Config) -> None:
    """Run `role` until it is told to stop. Raises StoreSilent, UnfitStore or NoQueue when no store can be used."""
    if role in WITH_QUEUE and config.jobs_redis_url is None:
        raise NoQueue
    if role in GREEN:
        _patch()
    logging.basicConfig(level=config.log_level.upper(), format=LOG_FORMAT, stream=sys.stderr)
    signal.signal(signal.SIGTERM, _leave)
    module = importlib.import_module(MODULES[role])  # The long part; the store comes up meanwhile.
    _await_store(role, config)
    run = module.run_front if role == "front" else module.run
    _spare_collector()
    run(config)


def _spare_collector() -> None:
    """What is loaded by now stays: no search for garbage need look at it again, and fewer searches do."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def _patch() -> None:
    """Make sockets, threads and sleeps cooperative; must come before anything that uses them is imported."""
    from gevent import monkey

    monkey.patch_all()


def _leave(number: int, frame: object) -> None:
    sys.exit(0)


def _await_store(role: str, config: Config) -> None:
    from services.serve import own
    from services.store.connect import patiently
    from services.store.wire import StoreUnavailable

    assert config.redis_url is not None, "a role is run with the address of its store"
    url = config.redis_url
    where = without_password(url)

    def look() -> list[own.Facts]:
        """A store that still reads its log tells its facts, and may answer nothing else."""
        found = own.facts(url)
        for each in found:
            own.refuse(url, each)
        own.refuse_partitions(url, config.partitions)
        return found

    try:
        try:
            found = patiently(look, QUIET_SECONDS_MAX)
        except StoreUnavailable as error:
            logging.getLogger(__name__).warning(
                "waiting up to %.0f s for the store at %s: %s", STORE_SECONDS_MAX, where, error
            )
            found = patiently(look, STORE_SECONDS_MAX - QUIET_SECONDS_MAX)
    except StoreUnavailable as error:
        raise StoreSilent(f"The store at {where} does not answer: {error}\nStart it, or correct REDIS_URL.") from error
    if role in WARNS:
        for warning in dict.fromkeys(warning for each in found for warning in own.warnings(each)):
            logging.getLogger(__name__).warning(warning)
