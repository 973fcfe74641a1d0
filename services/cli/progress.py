"""How far long work has come, on a terminal only: a pipe and a log are spared it."""

import sys
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import click

COUNTED_EVERY: Final = 500

T = TypeVar("T")


def show(text: str) -> None:
    """One line that takes the place of the one before; "" clears it."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)


def counted(deals: Iterable[T]) -> Iterator[T]:
    """The deals; where the output goes elsewhere than to the terminal, with a count of them."""
    shows = sys.stderr.isatty() and not sys.stdout.isatty()
    number = 0
    for number, deal in enumerate(deals, 1):
        yield deal
        if shows and number % COUNTED_EVERY == 0:
            click.echo(f"\r{number:,} deals", err=True, nl=False)
    if shows and number >= COUNTED_EVERY:
        click.echo(f"\r{number:,} deals", err=True)
