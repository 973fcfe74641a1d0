"""The tour of the README is run as it stands, and its answers have the shapes that it shows."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import sources
from tests.program.running import Running

FENCE = re.compile(r"^```(\w+)( tour)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8000"
MORE = "…"


class Step(NamedTuple):
    """A block of the tour, and the answer it shows: its language and text, or empty."""

    commands: str
    language: str
    shown: str


def steps() -> list[Step]:
    """The blocks marked `tour`, each with the block of another language that follows it at once."""
    blocks = FENCE.findall((sources.ROOT / "README.md").read_text(encoding="utf-8"))
    found = []
    for number, (_, tour, text) in enumerate(blocks):
        if tour:
            after = blocks[number + 1] if number + 1 < len(blocks) else ("", "", "")
            shows = after[0] in ("json", "text")
            found.append(Step(text, after[0] if shows else "", after[2] if shows else ""))
    return found


STEPS = steps()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """What each block of the tour printed, run in one shell against a real server."""
    data = tmp_path_factory.mktemp("tour") / "marias-data"
    with Running(data) as server:
        yield _walk(server.http, data)


def _walk(http: str, data: Path) -> list[str]:
    """Run the tour in one shell with a `marias` and a `python3` of this environment; the output of each block."""
    programs = data.parent / "bin"
    programs.mkdir()
    for name, words in (("marias", "-m services.cli"), ("python3", "")):
        shim = programs / name
        shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
        shim.chmod(0o755)
    lines = ["set -u", f"export MARIAS_DATA={shlex.quote(str(data))} PYTHONPATH={shlex.quote(str(sources.ROOT))}"]
    for number, step in enumerate(STEPS):
        commands = step.commands.replace(ADDRESS, http).replace("$PWD/.venv/bin", shlex.quote(str(programs)))
        commands = commands.replace("--max-time 1 ", "--max-time 4 ")  # A busy machine takes a second for itself.
        lines.append(f"{{\n{commands}\n}} > {shlex.quote(str(data.parent))}/{number}.out")
    done = subprocess.run(["bash", "-c", "\n".join(lines)], cwd=sources.ROOT, capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return [(data.parent / f"{number}.out").read_text() for number in range(len(STEPS))]


@pytest.mark.slow
@pytest.mark.xdist_group("tour")  # One tour for all its blocks.
@pytest.mark.server
@pytest.mark.parametrize("number", [number for number, step in enumerate(STEPS) if step.language],
                         ids=lambda number: STEPS[number].commands.strip().splitlines()[-1][:60])
def test_an_answer_looks_as_the_readme_shows_it(answers, number):
    step = STEPS[number]
    if step.language == "json":
        assert_same_shape(json.loads(step.shown), json.loads(answers[number]), "$")
    else:
        for line in step.shown.splitlines():
            assert any(got.startswith(line) for got in answers[number].splitlines()), f"{line!r} is not in the answer"


def assert_same_shape(shown: object, got: object, where: str) -> None:
    """`…` as a key allows further keys; null stands for anything; of a list the first element is compared."""
    match shown:
        case None:
            return
        case dict():
            assert isinstance(got, dict), f"{where} is {got!r}"
            wanted = shown.keys() - {MORE}
            assert wanted <= got.keys(), f"{where} lacks {sorted(wanted - got.keys())}: {got}"
            assert MORE in shown or wanted == got.keys(), f"{where} also has {sorted(got.keys() - wanted)}"
            for key in wanted:
                assert_same_shape(shown[key], got[key], f"{where}.{key}")
        case [first, *_]:
            assert isinstance(got, list), f"{where} is {got!r}"
            assert got, f"{where} is empty"
            assert_same_shape(first, got[0], f"{where}[0]")
        case _:
            assert type(shown) is type(got), f"{where} is {got!r}, the README shows {shown!r}"


@pytest.mark.parametrize(("shown", "got", "same"), [
    ({"a": 1}, {"a": 2}, True),
    ({"a": 1}, {"a": "2"}, False),
    ({"a": 1}, {"a": True}, False),
    ({"a": 1}, {"a": 1, "b": 2}, False),
    ({"a": 1, MORE: MORE}, {"a": 1, "b": 2}, True),
    ({"a": 1}, {}, False),
    ([{"a": 1}], [{"a": 1}, {}], True),
    ([1], [], False),
    ([], [], True),
    ({"a": None}, {"a": [1]}, True),
])
def test_shapes_are_compared_strictly(shown, got, same):
    if same:
        assert_same_shape(shown, got, "$")
    else:
        with pytest.raises(AssertionError):
            assert_same_shape(shown, got, "$")


def test_the_tour_tells_its_main_points():
    text = "".join(step.commands for step in STEPS)
    for word in ("/players", "/tables", "/commands", "Idempotency-Key", "Prefer: wait", "/stream", "/receipts/",
                 "/bank", "/ledger", "/deals/1"):
        assert word in text, word
