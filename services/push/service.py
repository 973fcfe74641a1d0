"""What all streams and sockets of one process share."""

import gevent
from redis import Redis

from services.config import Config
from services.pressure import Pressure, Rates
from services.push.commands import Commands
from services.push.live import Live, Subscriber
from services.push.pulse import BEAT_SECONDS, Pulse
from services.push.reads import Reads
from services.push.replay import catcher
from services.push.together import Together
from services.signing import Signer
from services.store.feed import Feed
from services.tokens import KeyRing


class Service:
    """Made once per process, over connections that are its alone or the API's as well."""

    def __init__(
        self, redis: Redis, feed: Feed, ring: KeyRing, config: Config, *, beat_seconds: float = BEAT_SECONDS
    ) -> None:
        self.redis = redis
        self.feed = feed
        self.ring = ring
        self.signer = Signer(config.receipt_keys)
        # The web pages of others that may read the answers.
        self.origins = frozenset(filter(None, map(str.strip, config.allowed_origins.split(","))))
        self.pressure = Pressure(redis)
        self.reads = Reads(redis)
        self.catch_up = catcher(self.reads)
        self.live = Live(feed, self.catch_up)
        self.pulse = Pulse(beat_seconds)
        self.intake = Together(redis, Rates(config.player_rate))
        self.commands = Commands(self.intake, self.reads, feed)

    def start(self) -> None:
        """Start what runs beside the connections."""
        self.feed.start()
        for run in (self.pulse.run, self.intake.run, self.commands.look_after):
            gevent.spawn(run)

    def gone(self, subscriber: Subscriber) -> None:
        """The connection of `subscriber` is closed."""
        self.live.leave(subscriber)
        self.pulse.remove(subscriber)
