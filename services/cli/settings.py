"""`marias settings`: what may be set, and what it is when it is not."""

import textwrap

import click

from services import config


@click.command()
def settings() -> None:
    """Every variable of the environment that the program reads, its default, and what it does."""
    for variable, default, says in config.settings():
        click.secho(f"{variable}{f' = {default}' if default else ''}", bold=True)
        click.echo(textwrap.indent(textwrap.fill(says, 90), "    "))
