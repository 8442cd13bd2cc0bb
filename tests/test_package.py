"""The house rules: rooms, light import, extras, the notice that kernels are compiled."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import labeltrick
from labeltrick._utils.extras import require

PACKAGE = Path(labeltrick.__file__).parent


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )


def test_the_root_holds_rooms_alone():
    files = {path.name for path in PACKAGE.glob("*.py")}
    assert files == {"__init__.py", "__main__.py"}
    for room in PACKAGE.iterdir():
        if room.is_dir() and room.name != "__pycache__":
            assert ast.get_docstring(ast.parse((room / "__init__.py").read_text())), room.name


def test_every_file_is_short_enough_to_read():
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, path


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


def test_a_missing_extra_is_one_line_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError) as caught:
        labeltrick.Graph.from_edges([0], [1]).to_edge_index("torch")
    assert str(caught.value) == (
        "to_edge_index(backend='torch') needs torch. "
        'Install it with: pip install "labeltrick[torch]"'
    )
    with pytest.raises(ImportError, match="no_such_module"):
        require("no_such_module", "a test")


def test_other_peoples_kernels_compile_as_ever():
    code = """
import numba
import labeltrick.graph
names = {}
exec("def f(x): return x + 1", names)  # a function without a module
assert numba.njit(names["f"])(1) == 2
"""
    result = run_python(code)
    assert "labeltrick" not in result.stderr


def test_a_machine_without_a_place_for_the_cache_compiles_all_the_same(monkeypatch):
    from labeltrick._utils import jit

    real = jit.njit

    def no_cache(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(jit, "njit", no_cache)
    assert jit.kernel()(lambda x: 2 * x)(4) == 8


def test_first_compilation_says_so_and_later_runs_load_it(tmp_path):
    code = "from labeltrick import Graph; Graph.from_edges([0], [1])"
    first = run_python(code, NUMBA_CACHE_DIR=str(tmp_path), LABELTRICK_QUIET="")
    assert first.stderr.count("compiling kernels") == 1
    second = run_python(code, NUMBA_CACHE_DIR=str(tmp_path), LABELTRICK_QUIET="")
    assert second.stderr == ""
    other = str(tmp_path / "other")
    quiet = run_python(code, NUMBA_CACHE_DIR=other, LABELTRICK_QUIET="1")
    assert quiet.stderr == ""
