"""House style that a machine can check: sizes, leftovers, and words that belong to one machine only."""

import ast
import re
from pathlib import Path

import pytest

from tests import sources

FUNCTION_LINES_MAX = 70
MODULE_LINES_MAX = 300
TEXT = {".py", ".md", ".toml", ".lua", ".json", ".jsonl", ".yml", ".yaml", ".sh", ".html", ".js", ".css", ""}

# Spelt in pieces, so that this file does not find itself.
LEFTOVERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|NotImplemented" r"Error")
HOSTS = re.compile(r"py" r"pi\.org|pythonhosted" r"\.org|npm" r"js\.|deb\.deb" r"ian\.org|registry\.[a-z]+\.")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(wo" r"rk|ro" r"ot|ho" r"me|far" r"m|Us" r"ers)/")
ISSUES = re.compile(r"\b(issue|ticket|pull request|PR) ?#?\d+\b|(?<![\w&/#])#\d+\b", re.IGNORECASE)
UNEXPLAINED = re.compile(r"#\s*no" r"qa(?!:)|#\s*type:\s*ign" r"ore(?!\[)")

RULES = (
    ("a leftover", LEFTOVERS),
    ("the host of a registry", HOSTS),
    ("a path of one machine", MACHINE_PATHS),
    ("the number of an issue", ISSUES),
    ("silenced without a reason", UNEXPLAINED),
)
PYTHON = [file for file in sources.tracked() if file.suffix == ".py"]
PROGRAM = [file for file in PYTHON if file.relative_to(sources.ROOT).parts[0] != "tests"]
WRITTEN = [file for file in sources.tracked() if file.suffix in TEXT and "golden" not in file.parts]


def _name(file: object) -> str:
    return str(file.relative_to(sources.ROOT)) if isinstance(file, Path) else str(file)


@pytest.mark.parametrize("file", PYTHON, ids=_name)
def test_functions_fit_on_a_page(file):
    long = [
        f"{node.name} ({node.end_lineno - node.lineno + 1} lines)"
        for node in ast.walk(sources.tree(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES_MAX
    ]
    assert long == []


@pytest.mark.parametrize("file", PROGRAM, ids=_name)
def test_modules_stay_short_and_say_what_they_are(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MODULE_LINES_MAX
    assert ast.get_docstring(ast.parse(text)), "a module begins with a sentence that says what it is"


@pytest.mark.parametrize("file", WRITTEN, ids=_name)
def test_files_hold_no_leftovers_and_nothing_of_one_machine(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        for what, pattern in RULES:
            assert not pattern.search(line), f"{_name(file)}:{number}: {what}: {line.strip()}"


def test_names_say_what_a_file_is_about():
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "managers", "manager", "base"}
    assert [_name(file) for file in PYTHON if file.stem in vague] == []
