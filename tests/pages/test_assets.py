"""What the pages are made of comes with the package, whoever installs it."""

import tomllib

import pytest

from services.pages.assets import assets
from tests import sources

PACKAGE = sources.ROOT / "services" / "pages"
PARTS = sorted(file for file in PACKAGE.rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc"))


@pytest.mark.parametrize("file", PARTS, ids=lambda file: file.name)
def test_every_part_is_data_of_the_package(file):
    project = tomllib.loads((sources.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["services.pages"]
    assert any(file.relative_to(PACKAGE).match(pattern) for pattern in patterns)


def test_the_parts_are_small_on_their_way():
    assert sum(len(asset.packed) for asset in assets().by_name.values()) < 40_000
    for name in ("page.css", "replay.js", "german.svg"):
        assert len(assets().by_name[name].packed) * 2 < len(assets().by_name[name].body)
