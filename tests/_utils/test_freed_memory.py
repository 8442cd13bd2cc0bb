"""Memory that is kept between the steps of a training on a Dask worker."""

import sys

import pytest

from tests.support.processes import run_python

PROGRAM = """
import resource
import numpy as np
from labeltrick._utils.freed_memory import keep_freed_memory
print(keep_freed_memory())
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def step():
    return np.ones(1_000_000).sum()
step()
before = faults()
for _ in range(20):
    step()
print(faults() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a setting of glibc")
def test_arrays_of_a_worker_use_memory_again():
    kept, n_faults = run_python(PROGRAM, MALLOC_TRIM_THRESHOLD_="65536").stdout.split()
    assert kept == "True"
    assert int(n_faults) < 500  # each array has 2000 pages
    chosen = run_python(PROGRAM, MALLOC_TRIM_THRESHOLD_="70000").stdout.split()
    assert chosen[0] == "False"
