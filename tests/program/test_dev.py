"""The two commands of a checkout: they say what is missing, install once, and close with pytest's line."""

import importlib.util
import subprocess
import sys

import pytest

from tests import sources

spec = importlib.util.spec_from_file_location("dev", sources.ROOT / "deploy" / "dev.py")
assert spec is not None
assert spec.loader is not None
dev = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dev)


@pytest.fixture
def calls(monkeypatch):
    """What would have been run; the status of each command by the words it contains."""
    made: list[list[str]] = []
    statuses: dict[str, int] = {}

    def call(words, **_):
        made.append(words)
        return next((status for word, status in statuses.items() if word in words), 0)

    monkeypatch.setattr(dev.subprocess, "call", call)
    return made, statuses


def test_an_old_python_is_told_which_one_to_take(monkeypatch, capsys):
    monkeypatch.setattr(dev.sys, "version_info", (3, 10, 4))
    assert dev.main(["serve", "--port", "1"]) == 1
    assert "3.11, 3.12 or 3.13" in (told := capsys.readouterr().err)
    assert "deploy/dev.py serve --port 1" in told


@pytest.mark.parametrize("arguments", [[], ["play"], ["--help"]])
def test_without_a_known_command_the_two_are_explained(arguments, capsys):
    assert dev.main(arguments) == (0 if arguments == ["--help"] else 2)
    assert "dev.py serve" in capsys.readouterr().out


def test_a_python_that_cannot_make_environments_is_told_the_remedy(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(dev, "has", lambda module, python="": False)
    assert not dev.make_venv(str(tmp_path / "venv"))
    assert "apt install python3-venv" in capsys.readouterr().err


def test_without_ensurepip_the_pip_of_this_python_does(monkeypatch, tmp_path, calls):
    made, _ = calls
    monkeypatch.setattr(dev, "has", lambda module, python=sys.executable: module != "ensurepip" and python != "new")
    assert dev.make_venv(str(tmp_path / "venv"))
    assert "--without-pip" in made[-1]
    assert dev.install("new", "test")
    assert made[-1][:5] == [sys.executable, "-m", "pip", "--python", "new"]


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine").write_text("precious")
    assert not dev.make_venv(str(tmp_path))
    assert "MARIAS_VENV" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "precious"


def _environment(folder, version):
    folder.mkdir()
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}.4\n")


def test_pythons_of_two_versions_do_not_fight_for_one_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("MARIAS_VENV", raising=False)
    monkeypatch.setattr(dev, "ROOT", str(tmp_path))
    assert dev.venv_folder() == str(tmp_path / ".venv")
    _environment(tmp_path / ".venv", "3.99")
    assert dev.venv_folder() == str(tmp_path / f".venv-{dev.VERSION}")


def test_an_environment_may_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MARIAS_VENV", str(tmp_path / "elsewhere"))
    assert dev.venv_folder() == str(tmp_path / "elsewhere")


@pytest.fixture
def checkout(monkeypatch, tmp_path):
    """A checkout whose environment exists and works."""
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    _environment(tmp_path / ".venv", dev.VERSION)
    monkeypatch.delenv("MARIAS_VENV", raising=False)
    monkeypatch.setattr(dev, "ROOT", str(tmp_path))
    return tmp_path


def _installs(made):
    return [words[-1] for words in made if "install" in words]


def test_it_is_installed_once_for_each_need(checkout, calls):
    made, _ = calls
    for extra in ("", "", "test", "test", ""):
        assert dev.environment(extra) == str(checkout / ".venv" / "bin" / "python")
    assert _installs(made) == [str(checkout), f"{checkout}[test]"]


def test_it_is_installed_again_when_the_dependencies_change(checkout, calls):
    made, _ = calls
    dev.environment("")
    (checkout / "pyproject.toml").write_text("[project]\ndependencies = []\n")
    dev.environment("")
    assert len(_installs(made)) == 2


def test_a_failed_installation_is_not_taken_for_done(checkout, calls, capsys):
    made, statuses = calls
    statuses["install"] = 1
    assert dev.environment("") is None
    assert "lines above say why" in capsys.readouterr().err
    statuses["install"] = 0
    assert dev.environment("") is not None
    assert len(_installs(made)) == 2


@pytest.mark.parametrize(("each", "worst"), [
    ((0, 0, 0), 0), ((1, 0, 0), 1), ((0, 2, 0), 2), ((0, 0, 1), 1), ((1, 2, 5), 5),
])
def test_the_status_is_the_worst_and_pytest_comes_last(monkeypatch, calls, each, worst):
    made, statuses = calls
    monkeypatch.chdir(sources.ROOT)
    monkeypatch.setenv("MARIAS_CHECKS_FAILED", "")
    statuses.update(zip(("ruff", "mypy", "pytest"), each, strict=True))
    assert dev.test("python", []) == worst
    assert [words[2] for words in made] == ["ruff", "mypy", "pytest"]


def test_failed_checks_are_named_above_the_closing_line(monkeypatch, calls):
    _, statuses = calls
    monkeypatch.chdir(sources.ROOT)
    monkeypatch.setenv("MARIAS_CHECKS_FAILED", "")
    statuses.update(mypy=1)
    dev.test("python", [])
    assert dev.os.environ["MARIAS_CHECKS_FAILED"] == "mypy"


@pytest.mark.parametrize(("arguments", "alone"), [
    ([], False), (["-q"], False), (["tests/engine"], False),
    (["tests/test_style.py"], True), (["-x"], True), (["--pdb"], True), (["a.py::test_b"], True),
])
def test_a_whole_run_is_spread_over_two_processes(arguments, alone):
    assert (dev.spread(arguments) == []) is alone


def test_the_script_of_the_continuous_check_is_sound():
    script = sources.ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    assert "set -euo pipefail" in script.read_text()
