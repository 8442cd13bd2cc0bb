"""The house rules: rooms, short files, where tests are, light import, public names."""

import ast
from pathlib import Path

import pytest

import labeltrick
from tests.support.processes import run_python

PACKAGE = Path(labeltrick.__file__).parent


def test_the_root_holds_rooms_alone():
    files = {path.name for path in PACKAGE.glob("*.py")}
    assert files == {"__init__.py", "__main__.py"}
    for room in PACKAGE.iterdir():
        if room.is_dir() and room.name != "__pycache__":
            assert ast.get_docstring(ast.parse((room / "__init__.py").read_text())), room.name


def test_every_file_is_short_enough_to_read():
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, path


# Tests of what holds for many files of a room at once; all others are named after what they test.
CROSS_CUTTING = {
    "app/report/test_names.py",
    "app/test_cli_names.py",
    "app/test_kills.py",
    "graph/stored/test_folders.py",
    "io/tables/test_fuzz.py",
    "io/test_damaged_files.py",
    "models/test_estimators.py",
    "models/test_leak_net.py",
    "app/runs/test_giveaways.py",
    "app/runs/test_texts_and_dates.py",
    "models/test_names.py",
    "models/test_node_order.py",
    "models/test_noise_labels.py",
    "models/test_out_of_fold.py",
    "propagation/engine/test_cluster_failures.py",
    "propagation/test_kinds.py",
}


# Folders that are not named after a room: stories of users, shared parts and attacks.
OTHER_FOLDERS = {"attack", "docs", "experiments", "people", "support"}


def test_folders_of_tests_are_rooms_or_listed():
    folders = {path.parent.name for path in Path(__file__).parent.glob("*/__init__.py")}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders - rooms == OTHER_FOLDERS


def test_tests_are_named_after_what_they_test():
    tests = Path(__file__).parent
    rooms = [path for path in tests.iterdir() if (PACKAGE / path.name).is_dir()]
    others = set()
    for path in (found for room in rooms for found in room.rglob("test_*.py")):
        folder = PACKAGE / path.parent.relative_to(tests)
        name = path.stem.removeprefix("test_")
        has_source = (folder / f"{name}.py").is_file() or (folder / name).is_dir()
        if not has_source and name != folder.name:  # the latter: what a whole folder has in common
            others.add(path.relative_to(tests).as_posix())
    assert others == CROSS_CUTTING


def test_import_is_light_and_torch_free():
    code = """
import sys
import labeltrick
from labeltrick import Graph, Resolvent, datasets
for heavy in ("torch", "sklearn", "polars", "plotly", "rich", "lightgbm", "pandas"):
    assert heavy not in sys.modules, heavy
Resolvent(Graph.from_edges([0], [1]), 0.5) @ [1.0, 0.0]
assert "torch" not in sys.modules
"""
    assert run_python(code).returncode == 0
    bare = "import sys; import labeltrick; print(*[m for m in sys.modules if 'numba' in m])"
    assert run_python(bare).stdout.strip() == ""


def test_nn_is_reached_as_an_attribute():
    pytest.importorskip("torch")
    assert labeltrick.nn.propagate.__name__ == "propagate"


def test_public_names_exist():
    for name in labeltrick.__all__:
        assert getattr(labeltrick, name) is not None
    assert set(labeltrick.__all__) <= set(dir(labeltrick))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        labeltrick.nonsense
