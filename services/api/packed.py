"""Bodies packed by gzip, for callers who can unpack them."""

from flask import request


def takes_gzip() -> bool:
    """Does the caller take gzip? `gzip;q=0` says no."""
    return request.accept_encodings.quality("gzip") > 0

