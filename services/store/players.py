"""Who has an account or a score: asked of the whole store, for exports."""

from redis import Redis

from services.store import keys
from services.store.topology import masters
from services.store.wire import ask

PAGE = 500


def all_players(redis: Redis) -> list[str]:
    """The players who have an account or have played at a free table, in order; houses are none."""
    found = set()
    for master in masters(redis):
        for pattern in (keys.account("*"), keys.balance("*")):
            # The tag of a key is made of the player's id, and stands before it.
            cursor = b"0"
            while True:
                cursor, page = ask(master, "SCAN", cursor, "MATCH", _any_tag(pattern), "COUNT", PAGE)
                found |= {name.decode().rpartition(":")[2] for name in page}
                if cursor == b"0":
                    break
    return sorted(filter(keys.is_player_id, found))


def _any_tag(name: str) -> str:
    kind, _, rest = name.partition("{")
    return f"{kind}{{p??}}{rest.partition('}')[2]}"
