"""The pool of threads: BLAS is held at one thread while anything is computed, and left as it was."""

import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from askew import SVC
from askew.threads import for_each, workers


def blas():
    """Threads of every BLAS library of the process."""
    return [library.get_num_threads() for library in libraries()]


def libraries():
    return ThreadpoolController().select(user_api="blas").lib_controllers


def give(count):
    """Let BLAS have so many threads, as the environment would: no thread of Python stands for it."""
    for library in libraries():
        library.set_num_threads(count)
        getattr(library, "clear_controlling_thread", lambda force: None)(force=True)


@pytest.fixture(autouse=True)
def two():
    """BLAS with two threads, also on a machine with one core."""
    before = blas()
    give(2)
    if blas() != [2] * len(before) or not before:
        pytest.skip("the number of BLAS threads cannot be set here")
    yield
    give(max(before))


class Visitor(threading.Thread):
    """A thread that enters the pool, waits until it is told to leave, and tells what it saw meanwhile."""

    def __init__(self):
        super().__init__(daemon=True)
        self.has_entered, self.may_leave, self.count = threading.Event(), threading.Event(), None
        self.start()
        assert self.has_entered.wait(10)

    def run(self):
        with workers() as pool:
            self.count = pool.count
            self.has_entered.set()
            self.may_leave.wait(10)

    def leave(self):
        self.may_leave.set()
        self.join(10)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_blas_is_as_it_was_when_the_last_one_leaves(order):
    visitors = [Visitor() for _ in range(3)]
    for k, number in enumerate(order):
        assert blas() == [1] * len(blas()), f"lifted when {k} of 3 had left"
        visitors[number].leave()
    assert blas() == [2] * len(blas())
    assert visitors[0].count == 2


def test_blas_is_as_it_was_after_a_thread_that_stays_alive():
    """threadpoolctl ignores all threads but the one that set the limit, as long as that one is alive."""
    with ThreadPoolExecutor(2) as executor:
        may_leave, has_left = threading.Event(), threading.Event()

        def first():
            with workers():
                may_leave.wait(10)
            has_left.set()

        def last():
            with workers():
                may_leave.set()
                has_left.wait(10)

        early = executor.submit(first)
        while blas() != [1] * len(blas()):
            pass
        executor.submit(last).result()
        early.result()
        assert blas() == [2] * len(blas())
    with threadpool_limits(3, user_api="blas"):  # and nobody keeps the right to change it
        assert blas() == [3] * len(blas())
    assert blas() == [2] * len(blas())


def test_fits_in_threads_leave_blas_as_it_was():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X[:, 0] + rng.normal(size=300) > 0.5).astype(int)
    expected = SVC().fit(X, y).decision_function(X)
    for _ in range(5):
        with ThreadPoolExecutor(4) as executor:
            for found in executor.map(lambda _: SVC().fit(X, y).decision_function(X), range(8)):
                np.testing.assert_array_equal(found, expected)
        assert blas() == [2] * len(blas())


def test_errors_and_nested_use_leave_blas_as_it_was():
    with pytest.raises(KeyError), workers() as outer, workers() as inner:  # noqa: PT012
        assert inner is outer
        raise KeyError
    assert blas() == [2] * len(blas())
    seen = []
    for_each(lambda _: seen.append(blas()), [1, 2, 3])
    assert seen == [[1] * len(blas())] * 3
    assert blas() == [2] * len(blas())


def test_limits_set_by_the_user_are_kept():
    with threadpool_limits(1, user_api="blas"):
        with workers() as pool:
            assert pool.count == 1
        assert blas() == [1] * len(blas())
        visitor = Visitor()
        visitor.leave()
        assert blas() == [1] * len(blas())
    assert blas() == [2] * len(blas())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("is_inside", [False, True])
def test_a_forked_child_does_not_wait_for_the_threads_of_its_parent(is_inside):
    visitor = Visitor()

    def in_child():
        before = blas()
        with workers():
            within = blas()
        return bytes([*before, *within, *blas()])

    def told_by_child():
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking among threads, which is the point
            child = os.fork()
        if child == 0:
            os.write(writer, in_child())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            told = list(stream.read())
        os.waitpid(child, 0)
        return told

    n = len(blas())
    if is_inside:
        with workers():
            assert told_by_child() == [1] * 3 * n
    else:
        assert told_by_child() == [2] * n + [1] * n + [2] * n
    visitor.leave()
    assert blas() == [2] * n
