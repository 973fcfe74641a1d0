"""`marias users`: the users of a store of your own, one for each role."""

from pathlib import Path

import click


@click.command()
@click.option("--file", "file", type=click.Path(dir_okay=False, path_type=Path),
              help="Lines `user password`; made with random passwords if it is not there.")
def users(file: Path | None) -> None:
    """Print an ACL file for a store of your own: each role's user may do what that role needs, and nothing else.

    The rules hold the SHA-256 of the passwords. The passwords themselves are in --file; without one they are shown
    here, as comments on the standard error. A caller without a name may only PING: keep an administrator of yours.

    \b
    Examples:
      marias users --file marias-users > users.acl      then, at the server: aclfile …/users.acl
      MARIAS_STORE_USERS=marias-users REDIS_URL=redis://host:6379/0 marias serve
      REDIS_URL=redis://worker:PASSWORD@host:6379/0 marias worker
    """
    from services.serve.users import acl, make_file
    from services.store.rights import ROLES, new_password

    passwords = make_file(file) if file is not None else {role: new_password() for role in ROLES}
    if file is None:
        for role, password in passwords.items():
            click.echo(f"# {role} {password}", err=True)
    click.echo(acl({role: passwords[role] for role in ROLES}), nl=False)
