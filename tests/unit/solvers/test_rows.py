"""Rows of K are kept, and their memory serves the next cache without being withheld from the system."""

import mmap
import sys
from pathlib import Path

import numpy as np
import pytest

from askew.kernels import RBF, Gram
from askew.methods import c_svc
from askew.solvers import prepare, solve
from askew.solvers.working_set import rows
from askew.solvers.working_set.rows import RowCache
from askew.threads import workers

MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def _empty_reserve(monkeypatch):
    monkeypatch.setattr(rows, "_reserve", rows._Reserve())
    monkeypatch.setattr(rows, "_SMALLEST", 2**16)


def filled(n, budget=4 * MEGABYTE):
    X = np.random.default_rng(n).normal(size=(n, 3))
    gram = Gram(RBF(0.5), X)
    cache = RowCache(gram, np.float32, budget)
    g, steps = np.zeros(n), np.ones(n)
    with workers() as pool:
        for part in np.array_split(np.arange(n), 7):
            cache.add_product(g, part, steps[part], pool)
            cache.add_product(g, part, -0.5 * steps[part], pool)
    np.testing.assert_allclose(g, 0.5 * gram.matvec(steps), rtol=1e-4)
    return cache


def shares(cache, memory):
    return np.shares_memory(np.frombuffer(cache._memory, np.uint8), np.frombuffer(memory, np.uint8))


@pytest.mark.skipif(not hasattr(mmap, "MADV_FREE"), reason="memory cannot be offered to this system")
def test_the_next_cache_takes_the_memory_of_the_last():
    first = filled(300)
    memory = first._memory
    first.close()
    second = filled(200)
    assert shares(second, memory)
    third = filled(250)
    assert not shares(third, memory)
    second.close()
    assert not shares(filled(500), memory)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_memory_of_a_closed_cache_is_the_systems_to_take():
    """Linux counts such pages as LazyFree: they are given to whoever needs them, and written to no disk."""

    def offered():
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("LazyFree:")) / 1024

    X = np.random.default_rng(0).normal(size=(4000, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    before = offered()
    solve(c_svc.formulate(Gram(RBF(2.0), X), y, np.ones(4000)), memory=64 * MEGABYTE)
    assert offered() > before + 2


def test_rows_are_computed_once_for_all_problems_on_a_prepared_matrix():
    X = np.random.default_rng(1).normal(size=(1500, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0)
    matrix = Gram(RBF(0.5), X)
    with prepare(matrix) as prepared:
        found = [prepared.solve(c_svc.formulate(matrix, y, np.full(1500, C))) for C in (1.0, 1.1)]
        kept = prepared._kept.rows
        assert kept.rows_computed <= 1500
        assert kept.matrix is matrix
        alone = solve(c_svc.formulate(matrix, y, np.full(1500, 1.1)))
        assert found[1].objective == pytest.approx(alone.objective, rel=1e-6)
        prepared.turn_to(Gram(RBF(1.0), X))
        assert prepared._kept.rows is None
