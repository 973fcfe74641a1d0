"""Commands in a folder where nobody has played: each says what is missing, and none makes a key or a file."""

import os

import pytest
from click.testing import CliRunner

from services.cli import marias


@pytest.mark.parametrize(("words", "code", "told"), [
    (("log", "check"), 1, "There is no {data}/heads.jsonl"),
    (("archive", "list"), 1, "There is no folder {data}/archive"),
    (("archive", "verify"), 1, "There is no folder {data}/archive"),
    (("audit", "--all"), 2, "There is no store to work with"),
    (("export", "deals"), 2, "Name a table, or say --all."),
    (("export", "deals", "--all"), 1, "There is no store to work with"),
    (("status",), 1, "There is no store to work with"),
    (("dead", "list"), 1, "There is no store to work with"),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_what_is_missing_is_said(tmp_path, monkeypatch, words, code, told):
    for name in [name for name in os.environ if name.startswith("MARIAS_") or name.endswith("REDIS_URL")]:
        monkeypatch.delenv(name)
    data = tmp_path / "data"
    monkeypatch.setenv("MARIAS_DATA", str(data))
    ended = CliRunner().invoke(marias, words)
    assert ended.exit_code == code
    assert told.format(data=data) in ended.output
    assert not data.exists()
