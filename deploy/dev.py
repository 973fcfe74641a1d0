#!/usr/bin/env python3
"""The commands of a fresh checkout: `serve` plays, `test` tests, `faults` breaks. They make the environment first.

    python3 deploy/dev.py serve [options of marias serve]
    python3 deploy/dev.py test [options of pytest]
    python3 deploy/dev.py faults [--store embedded|sentinel|cluster] [--short|--night] [--seed N] [--seconds N]
                                 [--only NAME,...] [--report FILE]
    python3 deploy/dev.py run COMMAND ...      any other command of marias

Only the standard library is used, and this file itself is read by any Python 3.6 or later, so that a wrong
version is told what is wrong. The environment is .venv beside pyproject.toml; MARIAS_VENV names another.
"""

import hashlib
import os
import subprocess
import sys

OLDEST = (3, 11)
TESTED = ((3, 11), (3, 12), (3, 13))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VERSION = "{}.{}".format(*sys.version_info)
STAMP = "marias-installed"

WRONG_PYTHON = """\
Python 3.11, 3.12 or 3.13 is needed; {python} is {version}.
Run the same with one of those, for example:  python3.12 deploy/dev.py {arguments}
Debian, Ubuntu: apt install python3    Fedora: dnf install python3.12    macOS: brew install python@3.12"""

NO_VENV = """\
{python} cannot make a virtual environment: the part named `{part}` is missing.
Debian and Ubuntu package it apart:  apt install python3-venv    (then run this again)
Without root: use a Python of your own that has it, from pyenv, uv, conda or python.org."""

NO_INSTALL = """\
The installation failed; the lines above say why. Without a network, or behind a proxy, tell pip where
packages come from (PIP_INDEX_URL, PIP_PROXY or pip.conf), then run this again."""


def main(arguments):
    """Dispatch; the exit status."""
    if not arguments or arguments[0] not in ("serve", "test", "faults", "run"):
        print(__doc__.strip())
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if os.name == "nt":
        return fail("Linux or macOS is needed; on Windows, run this inside WSL.")
    words = " ".join(arguments)
    if sys.version_info < OLDEST:
        return fail(WRONG_PYTHON.format(python=sys.executable, version=VERSION, arguments=words))
    if sys.version_info[:2] not in TESTED:
        print(f"note: this is tested with Python 3.11, 3.12 and 3.13, not with {VERSION}", flush=True)
    command, rest = arguments[0], arguments[1:]
    python = environment("test" if command in ("test", "faults") else "")
    if python is None:
        return 1
    if command == "faults":
        os.chdir(ROOT)
        return os.execv(python, [python, "-m", "tests.faults", *rest])
    return test(python, rest) if command == "test" else become(python, command, rest)


def fail(message):
    """Say why on the error output; exit status 1."""
    sys.stderr.write(message + "\n")
    return 1


def become(python, command, rest):
    """Turn into the program, so that signals reach it; by default its data lies in the checkout."""
    os.environ.setdefault("MARIAS_DATA", os.path.join(ROOT, "marias-data"))
    words = ["serve"] if command == "serve" else []
    return os.execv(python, [python, "-m", "services.cli", *words, *rest])


# The environment.


def environment(extra):
    """The Python of an environment with this checkout and `extra`, or None after saying why not."""
    folder = venv_folder()
    python = os.path.join(folder, "bin", "python")
    done = installed(folder)
    if done is None or not works(python):
        if not make_venv(folder):
            return None
        done = []
    if extra in done:
        return python
    print(f"Installing into {folder} (a minute the first time) ...", flush=True)
    if not install(python, extra):
        fail(NO_INSTALL)
        return None
    with open(os.path.join(folder, STAMP), "w") as stamp:
        stamp.write("\n".join([fingerprint(), *sorted({*done, "", extra})]))
    return python


def venv_folder():
    """MARIAS_VENV, else .venv; when that belongs to another version of Python, .venv-<version> beside it."""
    chosen = os.environ.get("MARIAS_VENV")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    usual = os.path.join(ROOT, ".venv")
    if not os.path.isdir(usual) or venv_version(usual) == VERSION:
        return usual
    return usual + "-" + VERSION


def venv_version(folder):
    """The version, such as 3.12, of the Python in an environment, or None when there is none."""
    try:
        with open(os.path.join(folder, "pyvenv.cfg")) as lines:
            facts = dict(line.strip().split(" = ", 1) for line in lines if " = " in line)
    except (OSError, ValueError):
        return None
    return ".".join(facts.get("version", facts.get("version_info", "")).split(".")[:2])


def installed(folder):
    """The extras installed for this very pyproject.toml and place; None without an environment."""
    if venv_version(folder) != VERSION:
        return None
    try:
        with open(os.path.join(folder, STAMP)) as stamp:
            lines = stamp.read().split("\n")
    except OSError:
        return []
    return lines[1:] if lines[0] == fingerprint() else []


def fingerprint():
    """Changes when the dependencies or the place of the checkout change."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as project:
        return hashlib.sha256(project.read() + ROOT.encode()).hexdigest()


def works(python):
    """Whether the environment's Python still starts; an updated system may have taken it away."""
    try:
        return subprocess.call([python, "-c", ""]) == 0
    except OSError:
        return False


def make_venv(folder):
    """Make the environment, by whatever this Python has: venv with pip, venv and our pip, or virtualenv."""
    missing = [part for part in ("venv", "ensurepip") if not has(part)]
    if not missing:
        command = ["-m", "venv", "--clear", folder]
    elif missing == ["ensurepip"] and has("pip"):
        command = ["-m", "venv", "--clear", "--without-pip", folder]
    elif has("virtualenv"):
        command = ["-m", "virtualenv", "--quiet", "--clear", folder]
    else:
        return not fail(NO_VENV.format(python=sys.executable, part=missing[0]))
    if os.path.isdir(folder) and os.listdir(folder) and venv_version(folder) is None:
        return not fail(f"{folder} is no environment of Python; set MARIAS_VENV to another folder.")
    status = subprocess.call([sys.executable, *command])
    return status == 0 or not fail(f"{folder} could not be made; the lines above say why.")


def has(module, python=sys.executable):
    """Whether a Python, this one unless told otherwise, can import a module."""
    null = subprocess.DEVNULL
    return subprocess.call([python, "-c", "import " + module], stdout=null, stderr=null) == 0


def install(python, extra):
    """Install this checkout so that its files are used where they are; quiet unless it fails."""
    target = ROOT + (f"[{extra}]" if extra else "")
    pip = ["-m", "pip"]
    command = [python, *pip] if has("pip", python) else [sys.executable, *pip, "--python", python]
    options = ["-qq", "--disable-pip-version-check", "--no-input"]
    return subprocess.call([*command, "install", *options, "--editable", target]) == 0


# The tests.


def test(python, arguments):
    """Ruff, mypy and pytest, in this order and all of them; the exit status is the worst of the three."""
    os.chdir(ROOT)
    checks = [["ruff", "check", "."], ["mypy"]]
    statuses = [step(python, check) for check in checks]
    failed = [check[0] for number, check in enumerate(checks) if statuses[number]]
    os.environ["MARIAS_CHECKS_FAILED"] = ", ".join(failed)  # For pytest to repeat, above its closing line.
    statuses.append(step(python, ["pytest", *spread(arguments), *arguments]))
    return max(abs(status) for status in statuses)


def step(python, words):
    """Run one module of the environment and return its exit status."""
    print("$ " + " ".join(words), flush=True)
    return subprocess.call([python, "-m", *words])


def spread(arguments):
    """Two processes for a whole run; one when the caller asks for something special."""
    special = any(word.startswith(("-n", "--pdb", "-x", "--co")) or word.endswith(".py") or "::" in word
                  for word in arguments)
    return [] if special else ["-n", "2", "--dist", "loadgroup"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
