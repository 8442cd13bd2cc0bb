"""The files around the package agree with pyproject.toml."""

import re
import sys
from pathlib import Path

import pytest

import labeltrick

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [c.split()[-1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def parsed(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_workflows_run_targets_of_the_makefile_with_few_permissions():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    found = set()
    for path in WORKFLOWS:
        workflow = parsed(path)
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for job in workflow["jobs"].values():
            found |= {
                t
                for step in job["steps"]
                for t in re.findall(r"make ([\w-]+)", step.get("run", ""))
            }
    assert found == {"test", "test-minimum", "check", "docs", "wheel-check", "attack"}
    assert found <= targets


def test_every_python_is_tested_and_the_lowest_is_the_bound():
    matrix = parsed(".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_a_release_is_built_first_has_the_version_of_its_tag_and_needs_no_password():
    jobs = parsed(".github/workflows/release.yml")["jobs"]
    assert "GITHUB_REF_NAME#v" in jobs["wheel"]["steps"][-2]["run"]
    assert "permissions" not in jobs["wheel"]
    assert jobs["publish"]["needs"] == "wheel"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "with" not in jobs["publish"]["steps"][-1]  # a password would be there


def test_the_container_is_slim_and_its_user_is_not_root():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    images = {line.split()[1] for line in lines if line.startswith("FROM")}
    assert images <= {f"python:{version}-slim" for version in PYTHONS}
    assert len(images) == 1  # packages are copied from one stage into the other
    (user,) = (k for k, line in enumerate(lines) if line.startswith("USER "))
    assert lines[user] == "USER 1000"
    after = [line for line in lines[user:] if line.startswith(("RUN", "COPY"))]
    assert [line.split(" &&")[0] for line in after] == ["RUN labeltrick doctor --warm"]


def test_the_citation_names_this_version_and_the_paper():
    citation = parsed("CITATION.cff")
    assert citation["version"] == labeltrick.__version__
    day = citation.get("date-released", "unreleased")
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert f"\n## [{labeltrick.__version__}] - {day}\n" in changes
    page = (ROOT / "docs" / "project" / "citing.md").read_text()
    assert citation["preferred-citation"]["title"] in page
    for author in citation["preferred-citation"]["authors"]:
        assert f"{author['family-names']}, {author['given-names']}" in page


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    recipe = parsed("conda/recipe.yaml")
    assert recipe["context"]["version"] == labeltrick.__version__
    run = [line.replace(" ", "") for line in recipe["requirements"]["run"][1:]]
    # A package for every Python cannot have a dependency of only some of them.
    assert run == [line.split(";")[0] for line in PROJECT["dependencies"]]


def test_hooks_run_the_tools_of_make_check():
    hooks = [hook for repo in parsed(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    used = {Path(hook["entry"].split()[0]).name for hook in hooks}
    assert used == {"ruff", "mypy", "lint-imports"}


def test_every_dependency_has_a_lower_bound():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from minimum_versions import lower_bounds
    finally:
        sys.path.pop(0)
    found = lower_bounds()
    names = {re.split(r"[<>=; ]", line)[0] for line in PROJECT["dependencies"]}
    assert names <= set(found)
