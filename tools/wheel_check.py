"""Build the wheel and the source archive, and try them in environments of their own.

    python tools/wheel_check.py            # dist/, and a fresh environment without torch
    python tools/wheel_check.py --all      # also the code of the README, with all extras

The wheel must run `labeltrick quickstart` and a fit of two tables without torch. The tests must run
from the source archive.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def run(*command: str | Path, folder: Path) -> None:
    print(
        "$", *(Path(part).name if isinstance(part, Path) else part for part in command), flush=True
    )
    begin = time.perf_counter()
    # The checkout must not be found instead of the installed package.
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run([str(part) for part in command], cwd=folder, check=True, env=environment)
    print(f"  {time.perf_counter() - begin:.0f} s", flush=True)


def build() -> tuple[Path, Path]:
    """(the wheel, the source archive)."""
    for old in [*DIST.glob("labeltrick-*.whl"), *DIST.glob("labeltrick-*.tar.gz")]:
        old.unlink()
    run(Path(sys.executable), "-m", "build", "--outdir", DIST, ROOT, folder=ROOT)
    (wheel,), (archive,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(Path(sys.executable), "-m", "twine", "check", "--strict", wheel, archive, folder=ROOT)
    return wheel, archive


def fresh(folder: Path, *packages: str) -> Path:
    """The programs of a new environment with some packages."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(programs / "python", *install, *packages, folder=folder)
    return programs


def two_tables(folder: Path) -> None:
    """A ring of 200 nodes, two thirds of which are labeled by their half."""
    rows = [
        (k, f"{(k % 7) / 7:.3f}", ["left", "right"][k >= 100] if k % 3 else "") for k in range(200)
    ]
    nodes = "\n".join(["id,x,side", *(",".join(map(str, row)) for row in rows)])
    edges = "\n".join(["from,to", *(f"{k},{(k + 1) % 200}" for k in range(200))])
    (folder / "nodes.csv").write_text(nodes + "\n", encoding="utf-8")
    (folder / "edges.csv").write_text(edges + "\n", encoding="utf-8")


def check_core(wheel: Path, folder: Path) -> None:
    programs = fresh(folder / "core", str(wheel))
    no_torch = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is not None)"
    run(programs / "python", "-c", no_torch, folder=folder)
    two_tables(folder)
    run(programs / "labeltrick", "--version", folder=folder)
    run(programs / "labeltrick", "quickstart", folder=folder)
    fit = ("fit", "--edges", "edges.csv", "--nodes", "nodes.csv", "--target", "side")
    run(programs / "labeltrick", *fit, "--out", "run", folder=folder)
    if not (folder / "run" / "report.html").exists():
        raise FileNotFoundError("`labeltrick fit` must write a report; there is none")


def check_archive(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (source,) = folder.glob("labeltrick-*")
    programs = fresh(folder / "source", str(source), "pytest", "hypothesis", "pandas", "networkx")
    tests = ("tests/propagation", "tests/self_exclusion/test_labels.py")
    run(programs / "python", "-m", "pytest", "-q", *tests, folder=source)


def check_readme(wheel: Path, folder: Path) -> None:
    extras = (f"{wheel}[all]", "networkx", "pandas", "pytest", "hypothesis")
    programs = fresh(folder / "all", *extras)
    shutil.copytree(ROOT / "tests", folder / "tests")
    shutil.copy(ROOT / "README.md", folder)
    # Its links lead to files of the checkout; they are tested there.
    blocks = "tests/test_docs.py::test_python_blocks_of_pages_run_in_order[README.md]"
    run(programs / "python", "-m", "pytest", "-q", blocks, folder=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="also the README with all extras")
    given = parser.parse_args()
    wheel, archive = build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_core(wheel, folder)
        check_archive(archive, folder)
        if given.all:
            check_readme(wheel, folder)
    print(f"checked: {wheel.name}, {archive.name}")


if __name__ == "__main__":
    main()
