"""Ids and the names of all keys; those of a partition share a hash tag, so that one script may touch them."""

import re
import secrets
from functools import lru_cache

PARTITIONS = 64
PARTITIONS_MAX = 256
HOUSE = "u-00-house"

_TABLE = re.compile(r"t-[0-9a-f]{2}-[0-9a-f]{12}")
_PLAYER = re.compile(r"u-[0-9a-f]{2}-[0-9a-f]{16}")


def all_partitions(count: int = PARTITIONS) -> list[str]:
    """The partitions of an installation, as in ids: "00", "01", …"""
    return [f"{number:02x}" for number in range(count)]


def new_table_id(partitions: int = PARTITIONS) -> str:
    """A fresh table id in a random partition, such as `t-1f-0a1b2c3d4e5f`."""
    return f"t-{secrets.randbelow(partitions):02x}-{secrets.token_hex(6)}"


def new_player_id(partitions: int = PARTITIONS) -> str:
    """A fresh player id in a random partition, such as `u-1f-0a1b2c3d4e5f6071`."""
    return f"u-{secrets.randbelow(partitions):02x}-{secrets.token_hex(8)}"


@lru_cache(maxsize=8192)
def is_table_id(text: str) -> bool:
    """Is `text` spelled as a table id? It need not exist."""
    return _TABLE.fullmatch(text) is not None


def is_player_id(text: str) -> bool:
    """Is `text` spelled as a player id? It need not exist."""
    return _PLAYER.fullmatch(text) is not None


def partition_of(aggregate: str) -> str:
    """The partition in which a table or an account lives: the two hex digits of its id."""
    return aggregate[2:4]


# Per partition.


def commands(partition: str) -> str:
    """Stream of accepted commands in intake order."""
    return f"m:{{p{partition}}}:cmd"


def bell(partition: str) -> str:
    """Channel that tells the partition's owner each new command."""
    return f"m:{{p{partition}}}:bell"


def push(partition: str) -> str:
    """Channel of what has just been applied, for live readers."""
    return f"m:{{p{partition}}}:push"


def log(partition: str) -> str:
    """Stream of pointers to the versions that some subscription cares for: the outbox."""
    return f"m:{{p{partition}}}:log"


def due(partition: str) -> str:
    """Sorted set of what the clock has to do, by milliseconds since the epoch."""
    return f"m:{{p{partition}}}:due"


def tables(partition: str) -> str:
    """Set of the tables that exist."""
    return f"m:{{p{partition}}}:tables"


def lease(partition: str) -> str:
    """String `<epoch>:<nonce>` of the owner; expires unless renewed."""
    return f"m:{{p{partition}}}:lease"


def state(partition: str) -> str:
    """Hash: `epoch` of the last lease, `cur`sor into the commands, `tries:<command>` of crashing ones."""
    return f"m:{{p{partition}}}:st"


def dead(partition: str) -> str:
    """Stream of commands that were given up, with their tracebacks."""
    return f"m:{{p{partition}}}:dlq"


def rates(partition: str) -> str:
    """Hash player -> how many commands he has sent in the running window; expires with it."""
    return f"m:{{p{partition}}}:rl"


def ended(partition: str) -> str:
    """Hash id of a dead letter -> how an operator ended it: retried or discarded, by whom and why."""
    return f"m:{{p{partition}}}:dlh"


def archived(partition: str) -> str:
    """Hash table -> `<version> <deal>`: up to where a table is archived and verified."""
    return f"m:{{p{partition}}}:arch"


def unarchived(partition: str) -> str:
    """Sorted set of the tables of which a deal is to be archived, by the version at which their last one ended."""
    return f"m:{{p{partition}}}:todo"


def unlogged(partition: str) -> str:
    """Sorted set of the tables of which a deal is to be logged, by the version at which their last one ended."""
    return f"m:{{p{partition}}}:unl"


# Per table; the first two also per account.


def reservations(aggregate: str) -> str:
    """Hash `<actor>/<key>` -> fingerprint; written by intake only."""
    return f"m:{{p{aggregate[2:4]}}}:in:{aggregate}"


def receipts(aggregate: str) -> str:
    """Hash `<actor>/<key>` -> receipt; written by apply only."""
    return f"m:{{p{aggregate[2:4]}}}:dd:{aggregate}"


def events(table: str) -> str:
    """Stream of what happened, one entry `<version>-0` per applied command: the truth."""
    return f"m:{{p{table[2:4]}}}:ev:{table}"


def feed(table: str) -> str:
    """Stream of what each seat may know of it, at the same versions."""
    return f"m:{{p{table[2:4]}}}:fd:{table}"


def view(table: str) -> str:
    """Hash of the table's current view: `v`ersion, `p` what moves change, `q` the rest; parts end in zero bytes."""
    return f"m:{{p{table[2:4]}}}:vw:{table}"


def snapshot(table: str) -> str:
    """Hash of the whole state, taken when no deal runs."""
    return f"m:{{p{table[2:4]}}}:sn:{table}"


# Accounts of players.


def account(player: str) -> str:
    """Hash of an account: balance and version."""
    return f"m:{{p{player[2:4]}}}:acct:{player}"


def transfers(player: str) -> str:
    """Hash transfer id -> posting."""
    return f"m:{{p{player[2:4]}}}:tr:{player}"


def postings(player: str) -> str:
    """Stream of the account's postings: the truth of its chips."""
    return f"m:{{p{player[2:4]}}}:post:{player}"


def buy_ins(partition: str) -> str:
    """Hash `<player>|<transfer>` -> ms: chips that left an account for a table which is not known to have them."""
    return f"m:{{p{partition}}}:buys"


# Processes: what reacts to the log, and how far it got.


def handled(partition: str) -> str:
    """Hash process -> id of the last log entry that it has handled."""
    return f"m:{{p{partition}}}:hd"


def stuck(partition: str) -> str:
    """Hash `<process>/<table>/<version>` -> error: what a process could not handle and tries again."""
    return f"m:{{p{partition}}}:stuck"


# Projections: may be dropped and rebuilt.


def fold(table: str) -> str:
    """Hash: version up to which a table is projected, and what must be remembered of it."""
    return f"pj:{{p{table[2:4]}}}:fold:{table}"


def frozen(partition: str) -> str:
    """Hash table -> error that stopped its projection."""
    return f"pj:{{p{partition}}}:frozen"


def bank(table: str) -> str:
    """Projection: the standing of a table and the payments of its deals."""
    return f"pj:{{p{table[2:4]}}}:bank:{table}"


def records(table: str) -> str:
    """Projection: hash of deal records as the public and each seat may know them."""
    return f"pj:{{p{table[2:4]}}}:rec:{table}"


def sealed_records(table: str) -> str:
    """Projection: hash of whole deal records, for auditors only."""
    return f"pj:{{p{table[2:4]}}}:sec:{table}"


def score(player: str) -> str:
    """Projection: sorted set of the places of a player's postings, in the order of their time."""
    return f"pj:{{p{player[2:4]}}}:score:{player}"


def balance(player: str) -> str:
    """Projection: hash of a player's score and his postings at free tables by id."""
    return f"pj:{{p{player[2:4]}}}:bal:{player}"


def lobby() -> str:
    """Projection: hash of the public tables that are not finished."""
    return "pj:{lobby}:tables"


def lobby_order() -> str:
    """Projection: sorted set of the places of those tables, in the order of their opening."""
    return "pj:{lobby}:order"


def lobby_versions() -> str:
    """Projection: hash of the versions at which the rows of tables changed last, also of those that are gone."""
    return "pj:{lobby}:versions"


def checkpoint(slot: str) -> str:
    """Hash source partition -> id of the last log entry that is in the outputs of this slot."""
    return f"pj:{{{slot}}}:cp"


def hold(slot: str) -> str:
    """String, expires: who has stopped the projections of this slot to compare them."""
    return f"pj:{{{slot}}}:hold"


def scratch(key: str) -> str:
    """Where a projection's key is written afresh, beside the live one and in its slot."""
    return "pjx" + key.removeprefix("pj")


def live(key: str) -> str:
    """The key in whose place a scratch one is written."""
    return "pj" + key.removeprefix("pjx")


# Beside the partitions.


def installation() -> str:
    """Hash of what was decided when the data began: the number of `partitions`."""
    return "m:{installation}"


def workers() -> str:
    """Sorted set of live workers by the milliseconds of their last heartbeat."""
    return "m:{workers}:live"


def workers_seen() -> str:
    """String: when a worker was last seen, ms by the store's clock."""
    return "m:{workers}:seen"


def workers_gaps() -> str:
    """List, the latest first: `<ms> <ms>`, between which no worker was seen."""
    return "m:{workers}:gaps"


def tallies() -> str:
    """Hash of what all processes have counted since the data began: `<role>.<what>` -> number."""
    return "m:{workers}:sum"


def workers_bell() -> str:
    """Channel that tells workers that one has come or gone."""
    return "m:{workers}:bell"


def receipt_field(actor: str, key: str) -> str:
    """The field of a command in the reservations and receipts of its table."""
    return f"{actor}/{key}"
