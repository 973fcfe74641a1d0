"""What commands of `marias` take and say in the same way: names of tables, and how many there are of something."""

import click


def a_table(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The callback of a parameter that names a table. Raises click.BadParameter."""
    from services.store.keys import is_table_id

    if value is not None and not is_table_id(value):
        raise click.BadParameter("A table is named as in t-1f-0a1b2c3d4e5f.", param=parameter)
    return value


def amount(count: int, thing: str, things: str = "") -> str:
    """How many things there are.

    >>> amount(1, "deal"), amount(2_000, "deal"), amount(0, "entry", "entries")
    ('1 deal', '2,000 deals', '0 entries')
    """
    return f"{count:,} {thing if count == 1 else things or f'{thing}s'}"
