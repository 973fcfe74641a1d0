"""The names of the keys of the log of finished deals: one for all partitions, in one slot."""


def state() -> str:
    """Hash: `n` leaves; the last `head` and its `size` and time `at`; `wrong`: why no other is signed;
    `listed:<partition>`: its tables were put on the list once."""
    return "m:{deals}:st"


def leaves() -> str:
    """Stream of the leaves, `<index + 1>-0`."""
    return "m:{deals}:leaves"


def table(id_: str) -> str:
    """Hash of what is logged of a table: the last `d`eal, the `v`ersion at which it ended, the `h`ash there; and the
    leaf's index by deal."""
    return f"m:{{deals}}:of:{id_}"


def nodes(level: int, block: int) -> str:
    """String of hashes, 32 bytes each: the full sub-trees of 2^level leaves, 65,536 of them to a block."""
    return f"m:{{deals}}:n:{level}:{block}"


def stuck() -> str:
    """Hash table -> why its finished deals cannot be logged."""
    return "m:{deals}:stuck"
