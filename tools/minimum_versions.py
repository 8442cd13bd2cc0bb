"""The lower bounds of the dependencies, as a constraints file for pip.

    python tools/minimum_versions.py > constraints.txt

They are read from pyproject.toml, for the package itself and for the libraries that the tests
exchange data with. What only runs the tests (pytest, hypothesis, …) may be of any version.
"""

from __future__ import annotations

import re
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]

ROOT = Path(__file__).resolve().parent.parent
WITH_TESTS = ("networkx", "igraph", "pandas", "pyarrow", "fastexcel")


def lower_bounds() -> dict[str, str]:
    """Smallest allowed version of each dependency, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    core = {_name(line): line for line in project["dependencies"]}
    wanted = {_name(line): line for some in extras.values() for line in some}
    wanted = {name: line for name, line in wanted.items() if name in WITH_TESTS} | core
    found = {name: re.search(r">=\s*([\w.]+)", line) for name, line in wanted.items()}
    missing = [name for name, match in found.items() if match is None]
    if missing:
        raise ValueError(f"dependencies must have a lower bound; {missing[0]} has none")
    return {name: match[1] for name, match in found.items() if match is not None}


def _name(line: str) -> str:
    return re.split(r"[<>=\[; ]", line)[0]


if __name__ == "__main__":
    print(*(f"{name}=={version}" for name, version in lower_bounds().items()), sep="\n")
