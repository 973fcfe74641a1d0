"""The push process of these tests: `python -m tests.push.process <listening descriptor> <seconds of a beat>`.

A third number is how long a client may take nothing before it counts as gone, where a test cannot wait for that.
"""

import sys

from gevent import monkey

monkey.patch_all()

from dataclasses import replace  # noqa: E402

from services.config import Config  # noqa: E402
from services.push import connection  # noqa: E402
from services.push.program import serve_alone  # noqa: E402

if __name__ == "__main__":
    if len(sys.argv) > 3:
        connection.STALLED_SECONDS_MAX = float(sys.argv[3])
    serve_alone(replace(Config.from_environment(), listen_fd=int(sys.argv[1])), beat_seconds=float(sys.argv[2]))
