"""How many guests one address may make: a bucket for each, in this process alone."""

import ipaddress
import time
from collections.abc import Callable, Mapping
from typing import Any

BURST_SECONDS = 20
ADDRESSES_MAX = 10_000
_IPV6_HOME = 64  # A household has so many bits of an IPv6 address for itself: it counts as one.

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Guests:
    """Buckets that fill with `rate` guests a second, up to BURST_SECONDS of it; 0: no limit."""

    def __init__(self, rate: int, proxies: str = "", now: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._proxies = [ipaddress.ip_network(each, strict=False)
                         for each in filter(None, map(str.strip, proxies.split(",")))]
        self._now = now
        self._full_at: dict[str, float] = {}
        """When the bucket of an address will be full again; one that is not here is full."""

    def admit(self, environ: Mapping[str, Any]) -> float:
        """0 when one more guest may come from where the request comes from, else the seconds until one may."""
        if not self._rate:
            return 0.0
        name, now = self.home(environ), self._now()
        full_at = max(now, self._full_at.get(name, now)) + 1 / self._rate
        if full_at - now > BURST_SECONDS:
            return full_at - now - BURST_SECONDS
        if len(self._full_at) >= ADDRESSES_MAX:
            self._full_at = {each: at for each, at in self._full_at.items() if at > now}
        if len(self._full_at) < ADDRESSES_MAX:  # With so many busy addresses a bucket each would not help either.
            self._full_at[name] = full_at
        return 0.0

    def home(self, environ: Mapping[str, Any]) -> str:
        """The address that counts: what a proxy of ours says, who else may say what he likes."""
        address = _address(environ.get("REMOTE_ADDR", ""))
        for said in reversed(environ.get("HTTP_X_FORWARDED_FOR", "").split(",")):
            if address is None or not any(address in network for network in self._proxies):
                break
            found = _address(said.strip())
            if found is None:
                break
            address = found
        if isinstance(address, ipaddress.IPv6Address):
            return str(ipaddress.ip_network((address, _IPV6_HOME), strict=False))
        return str(address)


def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
