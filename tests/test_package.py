"""The house rules: light import, imports that point one way, extras, the compile notice."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import labeltrick
from labeltrick._extras import require

PACKAGE = Path(labeltrick.__file__).parent

# Data flows downwards in this list; a module may import only those above its own line.
LAYERS = [
    ["_annotations", "_compressed", "_escape", "_last_resort"],
    ["_temporaries", "_space"],
    ["_stopped"],
    [
        "_extras",
        "_progress",
        "_check",
        "_jit",
        "_threads",
        "_atomic",
        "_json",
        "_fingerprint",
    ],
    ["_compute", "_layout", "_trail"],
    ["_archives", "_graphml"],
    ["_frame_errors"],
    ["_csr", "_buckets", "_gather", "_kernels", "_push", "_chebyshev"],
    ["_build", "_engine"],
    ["convert", "targets", "metrics", "_features"],
    ["calibration", "suspicious", "intervals"],
    ["graph_statistics"],
    ["normalized"],
    ["graph"],
    ["stored"],
    ["_local", "_columns"],
    ["_probe", "diagonal"],
    ["cluster"],
    ["_weighed"],
    ["propagation"],
    ["polynomials", "resolvent", "hops", "unfolded"],
    ["label_trick", "label_views", "harmonic", "_convex", "features"],
    ["objective", "audit", "nn", "_design"],
    ["_weights"],
    ["_label_problem"],
    ["_linear_training", "_label_mlp"],
    ["_node_inputs"],
    ["_estimator"],
    ["label_propagation"],
    ["trainable", "_feature_estimator"],
    ["_trained"],
    ["linear_gnn", "gnn"],
    ["correct_smooth"],
    ["boosting"],
    ["selection", "_model_parts"],
    ["_model_reader"],
    ["model_file"],
    ["auto"],
    ["datasets"],
    ["tables"],
    ["runs"],
    ["reproduction"],
    ["report"],
    ["quickstart"],
    ["commands"],
    ["cli"],
]


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )


def imported_modules(path):
    """Modules of this package that a file imports when it runs (not for type checkers only)."""
    tree = ast.parse(path.read_text())
    checking = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    depth = len(path.relative_to(PACKAGE).parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == depth and node not in checking:
            if node.module:
                yield node.module.split(".")[0]
            else:
                yield from (alias.name for alias in node.names if alias.name != "__version__")


def test_imports_point_one_way():
    level = {name: k for k, names in enumerate(LAYERS) for name in names}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if name == "__init__":
            continue
        assert name in level, f"{name} has no place in LAYERS"
        for other in imported_modules(path):
            assert level[other] < level[name], f"{name} imports {other}, which is not above it"


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
    from labeltrick import _jit

    real = _jit.njit

    def no_cache(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(_jit, "njit", no_cache)
    assert _jit.kernel()(lambda x: 2 * x)(4) == 8


def test_first_compilation_says_so_and_later_runs_load_it(tmp_path):
    code = "from labeltrick import Graph; Graph.from_edges([0], [1])"
    first = run_python(code, NUMBA_CACHE_DIR=str(tmp_path), LABELTRICK_QUIET="")
    assert first.stderr.count("compiling kernels") == 1
    second = run_python(code, NUMBA_CACHE_DIR=str(tmp_path), LABELTRICK_QUIET="")
    assert second.stderr == ""
    other = str(tmp_path / "other")
    quiet = run_python(code, NUMBA_CACHE_DIR=other, LABELTRICK_QUIET="1")
    assert quiet.stderr == ""
