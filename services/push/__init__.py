"""The live side: streams and sockets of tables, in one gevent process, alone or in front of the API."""

from services.config import Config


def run(config: Config) -> None:
    """Serve streams and sockets alone, until told to stop. The process must be monkey-patched."""
    from services.push.program import serve_alone

    serve_alone(config)


def run_front(config: Config) -> None:
    """Serve the API, streams and sockets on one port, until told to stop. The process must be monkey-patched."""
    from services.push.program import serve_with_api

    serve_with_api(config)
