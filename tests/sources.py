"""The project's own files, for the tests that read them."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNTRACKED = {"__pycache__", "build", "dist", "marias-data", "marias.egg-info"}
PACKAGES = ("engine", "schemas", "services")


@cache
def tracked() -> tuple[Path, ...]:
    """Every file of the project that git knows or would take, in order; without git, all outside hidden folders."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )
    if listed.returncode == 0:
        names = sorted(listed.stdout.splitlines())
    else:
        found = (file.relative_to(ROOT) for file in sorted(ROOT.rglob("*")))
        names = [str(file) for file in found if not any(part[0] == "." or part in UNTRACKED for part in file.parts)]
    return tuple(ROOT / name for name in names if (ROOT / name).is_file())


@cache
def modules() -> dict[str, Path]:
    """The modules of the packages by their dotted names."""
    found = {}
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def tree(file: Path) -> ast.Module:
    """The file as Python reads it."""
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def imports(file: Path, module: str) -> list[str]:
    """Every dotted name a file imports, anywhere in it; imports for the type checker alone count too."""
    found: list[str] = []
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, file, module)
            found += [f"{base}.{alias.name}" if base else alias.name for alias in node.names]
    return found


def _absolute(node: ast.ImportFrom, file: Path, module: str) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])
