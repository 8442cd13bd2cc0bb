"""Kernels: the notice that they are compiled, their cache, and other people's kernels."""

from tests.support.processes import run_python


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
