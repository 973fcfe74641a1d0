"""From chips to what moved them: addresses of a deal's record and replay, and of the event itself."""


def links(table: str | None, deal: int | None, version: int | None) -> dict[str, str]:
    """What there is to follow: the `table`, `record` and `replay` of a deal, the `event` at a version of the table."""
    if table is None:
        return {}
    home = f"/v1/tables/{table}"
    found = {"table": home}
    if deal is not None:
        found |= {"record": f"{home}/deals/{deal}", "replay": f"{home}/deals/{deal}/replay"}
    if version is not None:
        found["event"] = f"{home}/versions/{version}"
    return found
