"""The push process of these tests: `python -m tests.push.process <listening descriptor> <seconds of a beat>`.

A third number is how long a client may take nothing before it counts as gone, where a test cannot wait for that; a
fourth how long he has to say from where he resumes, where a test may be slow to. 0: as in service.
"""

import sys

from gevent import monkey

monkey.patch_all()

from dataclasses import replace  # noqa: E402

from services.config import Config  # noqa: E402
from services.push import connection, session  # noqa: E402
from services.push.program import serve_alone  # noqa: E402

if __name__ == "__main__":
    connection.STALLED_SECONDS_MAX = float(sys.argv[3]) or connection.STALLED_SECONDS_MAX
    session.FIRST_SECONDS_MAX = float(sys.argv[4]) or session.FIRST_SECONDS_MAX
    serve_alone(replace(Config.from_environment(), listen_fd=int(sys.argv[1])), beat_seconds=float(sys.argv[2]))
