"""`marias token`: a signed token on the standard output."""

import secrets
from pathlib import Path

import click

from services.cli.roles import with_store
from services.config import Config

ROLES = ("player", "auditor", "operator")


@click.command()
@click.option("--role", type=click.Choice(ROLES), required=True, help="What it may do.")
@click.option("--name", help="Whom it names; unset: the role.")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data folder (keys).")
def token(role: str, name: str | None, data: Path | None) -> None:
    """Print a token signed with the newest key of the data folder: keys/ for players, keys/staff/ for the others.

    \b
    player    plays and watches, like one made by POST /v1/players
    auditor   reads everything, commands nothing
    operator  reads operations, never cards

    \b
    Example:
      curl -H "Authorization: Bearer $(marias token --role auditor)" http://127.0.0.1:8000/v1/tables
    """
    from services.rings import NoSigner
    from services.store.keys import new_player_id
    from services.tokens import STAFF, KeyRing

    config = Config.from_environment().given(data=data)
    sub = new_player_id(config.partitions) if role == "player" else f"{role}-{secrets.token_hex(8)}"
    if role == "player":
        _open_account(config, sub, name or role)
    folder = config.keys if role == "player" else config.keys / STAFF
    if not any(folder.glob("*.pem")):
        click.echo(f"note: {folder} held no key; a new one is made, and only a server on this data folder "
                   "takes the token (--data DIR names another)", err=True)
    try:
        click.echo(KeyRing(config.keys).issue(role=role, sub=sub, name=name or role))
    except NoSigner as error:
        raise click.ClickException(f"{error}: make the token where the private half is kept (--data DIR)") from None


def _open_account(config: Config, player: str, name: str) -> None:
    """What POST /v1/players does besides the token; without a store only a word that it was not done."""
    from services.envelope import sender_of
    from services.intake import Submitted, attach, submit
    from services.store.connect import connect

    try:
        url = with_store(config).redis_url
    except click.ClickException:
        click.echo("note: no store is running, so the player has no account for bankroll tables", err=True)
        return
    assert url is not None
    with connect(url) as redis:
        attach(redis, sender_of(config.keys))
        submit(redis, Submitted(player, "system", name, "open", {"type": "open_account"}))
