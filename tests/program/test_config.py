"""Settings are read once, refused by name, and handed on to children unchanged."""

import tomllib

import pytest
from click.testing import CliRunner

from services.cli import marias
from services.cli.words import amount
from services.config import BadSetting, Config, settings
from tests import sources


def test_without_any_variable_every_default_holds(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    config = Config.from_environment({})
    assert (config.redis_url, config.host, config.port) == (None, "127.0.0.1", 8000)
    assert config.data == tmp_path / "marias-data"
    assert config.keys == tmp_path / "marias-data" / "keys"


@pytest.mark.parametrize(("variable", "value", "says"), [
    ("MARIAS_PORT", "eighty", "MARIAS_PORT='eighty'"),
    ("MARIAS_PORT", "70000", "at most 65535"),
    ("MARIAS_PORT", "-1", "not be negative"),
    ("MARIAS_PARTITIONS", "0", "from 1 to 256"),
    ("MARIAS_FSYNC", "no", "always or everysec"),
    ("MARIAS_PORT", "x", "a whole number"),
    ("REDIS_URL", "localhost:6379", "begin with redis://"),
    ("MARIAS_LOG_LEVEL", "loud", "debug, info, warning, error"),
])
def test_a_setting_that_cannot_be_read_is_refused_by_name(variable, value, says):
    with pytest.raises(BadSetting, match=says):
        Config.from_environment({variable: value})


def test_an_empty_variable_counts_as_unset():
    assert Config.from_environment({"REDIS_URL": ""}).redis_url is None


def test_a_child_reads_the_value_that_its_parent_had(tmp_path):
    config = Config(redis_url="unix:///run/s.sock?db=0", data=tmp_path, port=9000, listen_fd=7, fsync="everysec")
    assert Config.from_environment(config.to_environment()) == config


def test_a_relative_data_folder_is_made_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert Config.from_environment({"MARIAS_DATA": "here"}).data == tmp_path / "here"


def test_options_of_the_command_line_go_before_settings_unless_not_given(tmp_path):
    config = Config.from_environment({"MARIAS_PORT": "9000"}).given(port=None, host="0.0.0.0", data=tmp_path)
    assert (config.port, config.host, config.data) == (9000, "0.0.0.0", tmp_path)


def test_the_readme_tells_every_setting():
    readme = (sources.ROOT / "README.md").read_text(encoding="utf-8")
    assert [variable for variable, *_ in settings() if f"`{variable}`" not in readme] == []


def test_the_program_says_its_version():
    told = tomllib.loads((sources.ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert CliRunner().invoke(marias, ["--version"]).output == f"marias {told}\n"


@pytest.mark.parametrize(("count", "words"), [(0, "0 entries"), (1, "1 entry"), (2_000, "2,000 entries")])
def test_amounts_in_words(count, words):
    assert amount(count, "entry", "entries") == words
