"""`python -m tests.faults.shim.send URL REPLICAS`: take commands in one by one, and print what was acknowledged."""

import sys
import time
import uuid

from services.intake import Submitted, submit
from services.store import keys
from services.store.connect import connect
from services.store.wire import StoreUnavailable

ACTOR = "u-00-0000000000000000"
PAUSE_SECONDS = 0.002  # Nobody works the queues off: they must have room for whatever a long cut lets through.


def main(url: str, replicas: int) -> None:
    """For ever. A command that was not acknowledged is given up: its outcome is unknown."""
    client = connect(url, replicas=replicas)
    while True:
        table, key = keys.new_table_id(), uuid.uuid4().hex
        try:
            taken = submit(client, Submitted(table, ACTOR, "Ana", key, {"type": "open", "game": "voleny"}))
        except StoreUnavailable as error:
            print("away", error, flush=True)
            time.sleep(0.05)
            continue
        assert taken.status in ("new", "dup"), taken
        print("taken", table, key, flush=True)
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
