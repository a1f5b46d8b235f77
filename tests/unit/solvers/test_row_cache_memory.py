"""Memory of a closed row cache serves the next one, and can be given back."""

import numpy as np

from askew.kernels import RBF, Gram
from askew.solvers.working_set import rows as row_cache
from askew.solvers.working_set.rows import RowCache
from askew.threads import workers


def filled(n, budget=2**22):
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


def test_the_next_cache_takes_the_memory_of_the_last():
    row_cache.release_memory()
    first = filled(300)
    memory = first._memory
    first.close()
    second = filled(200)
    assert np.shares_memory(second._memory, memory)
    second.close()
    row_cache.release_memory()
    assert not np.shares_memory(filled(200)._memory, memory)


def test_two_caches_at_once_do_not_share():
    row_cache.release_memory()
    filled(300).close()
    first, second = filled(200), filled(250)
    assert not np.shares_memory(first._memory, second._memory)
