"""What the array API standard lacks, the same in every library as in NumPy."""

import numpy as np
import pytest
from array_libraries import everywhere, lives_with, put
from scipy import sparse

from askew.arrays import (
    Home,
    answer,
    assign,
    distinct,
    dtype_name,
    fetched,
    host,
    is_elsewhere,
    is_out_of_memory,
    smallest,
    stack_rows,
    take_rows,
    transform,
)

KINDS = [np.float64, np.float32, np.int64, np.bool_]


def _values(dtype=np.float64, shape=(7, 3), seed=0):
    return (4 * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def test_the_stand_in_for_a_device_refuses_what_a_gpu_refuses():
    x = put("device", _values())
    with pytest.raises(RuntimeError, match="NumPy"):
        np.asarray(x)
    with pytest.raises(ValueError, match="different devices"):
        x + put("strict", _values())


@everywhere
@pytest.mark.parametrize("dtype", KINDS)
def test_there_and_back(library, dtype):
    values = _values(dtype)
    x = put(library, values)
    back = host(x)
    assert type(back) is np.ndarray
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, values)
    np.testing.assert_array_equal(fetched(x), values)


def test_a_tensor_that_records_gradients_comes_back():
    x = put("torch", _values()).requires_grad_()
    np.testing.assert_array_equal(host(x), _values())


@everywhere
def test_what_is_elsewhere(library):
    assert is_elsewhere(put(library, _values()))
    for here in (_values(), np.float64(1.0), [[1.0]], ((1.0,),), sparse.csr_array(_values()), None, "rows.csv", 3):
        assert not is_elsewhere(here)
        assert fetched(here) is here


def test_arrays_of_dask_are_not_elsewhere():
    assert not is_elsewhere(pytest.importorskip("dask.array").ones((3, 2)))


@everywhere
@pytest.mark.parametrize("dtype", KINDS)
def test_a_home_takes_values_from_the_host(library, dtype):
    like = put(library, _values())
    home, values = Home(like), _values(dtype, seed=1)
    moved = home.put(values)
    assert not home.is_host
    assert lives_with(moved, like)
    assert moved.dtype == home.dtype(dtype)
    np.testing.assert_array_equal(host(moved), values)


@everywhere
def test_a_home_does_not_copy_what_is_there_and_casts_what_is_asked(library):
    x = put(library, _values())
    home = Home(x)
    assert home.put(x) is x
    assert home.put(x, np.float64) is x
    single = home.put(x, np.float32)
    assert lives_with(single, x)
    np.testing.assert_array_equal(host(single), _values().astype(np.float32))
    np.testing.assert_array_equal(host(home.put(_values(), np.float32)), _values().astype(np.float32))


@everywhere
def test_a_home_takes_read_only_and_strided_values_and_keeps_no_tie_to_them(library, recwarn):
    home, values = Home(put(library, _values())), _values().T[::2]
    values.flags.writeable = False
    moved = home.put(values)
    moved[0, 0] = 99.0
    assert values[0, 0] != 99.0
    np.testing.assert_array_equal(host(moved)[1:], values[1:])
    assert not recwarn.list


def test_a_home_brings_arrays_from_one_device_to_another():
    there, here = put("device", _values()), put("strict", _values())
    moved = Home(here).put(there)
    assert lives_with(moved, here)
    np.testing.assert_array_equal(host(moved), _values())


@everywhere
def test_the_host_is_a_home_too(library):
    home = Home()
    assert home.is_host
    values = _values()
    assert home.put(values) is values
    np.testing.assert_array_equal(home.put(put(library, values), np.float32), values.astype(np.float32))
    assert Home(values).is_host


@everywhere
def test_gather_and_fetch_come_to_the_host(library):
    vectors = [_values(shape=9, seed=s) for s in range(3)]
    like = put(library, vectors[0])
    home, indices = Home(like), np.array([4, 0, 7])
    for found, v in zip(home.gather([home.put(v) for v in vectors], home.put(indices)), vectors, strict=True):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, v[indices])
    np.testing.assert_array_equal(home.to_scratch(like), vectors[0])
    for found, v in zip(Home().gather(vectors, indices), vectors, strict=True):
        np.testing.assert_array_equal(found, v[indices])


@everywhere
def test_assign_to_scattered_places(library):
    like = put(library, _values(shape=9))
    home, indices, new = Home(like), np.array([8, 1, 5]), np.array([1.0, 2.0, 3.0])
    expected = _values(shape=9)
    expected[indices] = new
    changed = assign(like, home.put(indices), home.put(new))
    assert lives_with(changed, like)
    np.testing.assert_array_equal(host(changed), expected)
    marks = assign(home.put(np.zeros(9, dtype=bool)), home.put(indices), True)
    np.testing.assert_array_equal(np.flatnonzero(host(marks)), np.sort(indices))


def test_assign_on_the_host_is_in_place():
    x = np.zeros(4)
    assert assign(x, np.array([2]), 5.0) is x
    assert x[2] == 5.0


@everywhere
def test_distinct_values_are_sorted(library):
    x = put(library, np.array([5, 1, 5, 3, 1]))
    assert host(distinct(x)).tolist() == [1, 3, 5]
    assert lives_with(distinct(x), x)
    assert distinct(np.array([5, 1, 5])).tolist() == [1, 5]


@pytest.mark.parametrize("library", ["numpy", "torch", "strict", "device"])
@pytest.mark.parametrize("count", [0, 1, 4, 19, 20, 30])
def test_the_smallest_values(library, count):
    values = _values(shape=20)
    values[[3, 11]] = np.inf
    x = values if library == "numpy" else put(library, values)
    indices = host(smallest(x, count))
    assert len(set(indices.tolist())) == len(indices) == min(count, 20)
    np.testing.assert_array_equal(np.sort(values[indices]), np.sort(values)[:count])


@pytest.mark.parametrize("library", ["numpy", "csr", "torch", "strict", "device"])
def test_take_rows(library):
    values, indices = _values(), np.array([6, 0, 6])
    x = {"numpy": lambda: values, "csr": lambda: sparse.csr_array(values)}.get(library, lambda: put(library, values))()
    taken = take_rows(x, indices)
    np.testing.assert_array_equal(taken.toarray() if library == "csr" else host(taken), values[indices])


@pytest.mark.parametrize("library", ["numpy", "torch", "strict", "device"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "arguments"), [("exp", ()), ("tanh", ()), ("pow", (3,)), ("pow", (2.5,)), ("minimum", (0,))]
)
def test_transform_is_in_place(library, dtype, name, arguments):
    values = np.abs(_values(dtype)) if arguments == (2.5,) else _values(dtype)
    expected = getattr(np, name)(values.astype(np.float64), *arguments)
    x = values.copy() if library == "numpy" else put(library, values)
    transform(name, x, *arguments)
    assert host(x).dtype == dtype
    np.testing.assert_allclose(host(x), expected, rtol=1e-5 if dtype == np.float32 else 1e-14)


class OutOfMemoryError(Exception):
    """Named as PyTorch and CuPy name theirs."""


def test_no_memory_left_is_known_by_its_name():
    assert is_out_of_memory(OutOfMemoryError())
    assert is_out_of_memory(RuntimeError("CUDA error: out of memory"))
    assert is_out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"))
    for other in (RuntimeError("shapes differ"), ValueError("CUDA error: out of memory"), MemoryError()):
        assert not is_out_of_memory(other)


def test_no_memory_left_in_the_words_of_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")
    assert is_out_of_memory(torch.OutOfMemoryError("no memory"))


@everywhere
def test_an_answer_lives_where_the_question_does(library):
    x = put(library, _values())
    assert answer(x, x) is x
    assert type(answer(x, np.zeros(1))) is np.ndarray
    np.testing.assert_array_equal(answer(x, np.zeros(1)), _values())


@everywhere
@pytest.mark.parametrize("dtype", KINDS)
def test_a_precision_has_one_name_everywhere(library, dtype):
    values = _values(dtype)
    assert dtype_name(values) == dtype_name(put(library, values)) == np.dtype(dtype).name


def test_rows_are_stacked_dense_or_sparse():
    X = _values()
    np.testing.assert_array_equal(stack_rows([X[:2], X[2:3], X[3:]]), X)
    assert stack_rows([X]) is X
    stacked = stack_rows([sparse.csc_array(X[:4]), sparse.csr_array(X[4:])])
    assert stacked.format == "csr"
    np.testing.assert_array_equal(stacked.toarray(), X)
