"""What the package says of itself: one version, one licence, one list of requirements in every file."""

from __future__ import annotations

import ast
import json
import re
import sys

import pytest

import netloom as nl

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.fixture(scope="module")
def project(paths):
    return tomllib.loads((paths.root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def workspace(paths):
    return tomllib.loads((paths.root / "Cargo.toml").read_text())["workspace"]["package"]


def test_there_is_one_version(paths, workspace):
    version = workspace["version"]
    assert nl.__version__ == version
    assert json.loads((paths.root / "codemeta.json").read_text())["version"] == version
    citation = (paths.root / "CITATION.cff").read_text()
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == version
    conda = (paths.root / "contrib" / "conda" / "recipe.yaml").read_text()
    assert f'version: "{version}"\n' in conda
    spack = (paths.root / "contrib" / "spack" / "package.py").read_text()
    assert f'version("{version}", tag="v{version}")' in spack


def test_there_is_one_licence_and_one_home(paths, project, workspace):
    assert project["license"] == workspace["license"] == "MIT OR Apache-2.0"
    codemeta = json.loads((paths.root / "codemeta.json").read_text())
    assert [url.rsplit("/", 1)[1] for url in codemeta["license"]] == ["MIT", "Apache-2.0"]
    assert codemeta["codeRepository"] == workspace["repository"]
    assert f'repository-code: "{workspace["repository"]}"' in (paths.root / "CITATION.cff").read_text()
    assert codemeta["description"] == project["description"]


def test_recipes_require_what_the_package_requires(paths, project):
    conda = (paths.root / "contrib" / "conda" / "recipe.yaml").read_text()
    spack = (paths.root / "contrib" / "spack" / "package.py").read_text()
    ast.parse(spack)
    optional = project["optional-dependencies"]
    for wanted in [*project["dependencies"], *optional["plot"], *optional["arrow"], *optional["scipy"]]:
        name, low, high = re.match(r"([a-z]+)>=([0-9.]+)(?:,<([0-9]+))?", wanted).groups()
        most = f",<{high}" if high else ""
        of_conda = {"matplotlib": "matplotlib-base"}.get(name, name)
        assert f"    - {of_conda} >={low}{most}\n" in conda
        most = str(int(high) - 1) if high else ""
        assert f'depends_on("py-{name}@{low}:{most}' in spack


def test_builds_use_one_version_of_rust(paths, workspace):
    assert f"RUST_NEEDED := {workspace['rust-version']}\n" in (paths.root / "Makefile").read_text()
    spack = (paths.root / "contrib" / "spack" / "package.py").read_text()
    assert f'depends_on("rust@{workspace["rust-version"]}:"' in spack
