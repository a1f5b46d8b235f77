"""Which array library a computation runs in, where its arrays live, and in what precision.

The outer loops of askew are written against the array API standard. ``namespace`` finds the library of the arrays at
hand through array-api-compat; what the standard lacks and every library has under another name stands here once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from array_api_compat import array_namespace as namespace
from array_api_compat import (
    device,
    is_cupy_array,
    is_dask_array,
    is_jax_array,
    is_numpy_array,
    is_torch_array,
    to_device,
)
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "FLOAT32_ARGUMENT_LIMIT",
    "Home",
    "answer",
    "assign",
    "distinct",
    "dtype_name",
    "fetched",
    "host",
    "is_cupy_array",
    "is_elsewhere",
    "is_numpy_array",
    "is_out_of_memory",
    "is_torch_array",
    "namespace",
    "row_precision",
    "smallest",
    "stack_rows",
    "take_rows",
    "transform",
]

FLOAT32_ARGUMENT_LIMIT = 1e3
"""Largest sum of terms a float32 kernel row may be computed from: its entries then keep about four digits."""


def row_precision(n: int, tol: float, argument_bound: float) -> Any:
    """Precision of the kernel rows a solver starts with.

    float32 halves the memory traffic that limits large problems. It is not worth its rounding for small problems, for
    tolerances near its resolution, or where the kernel's argument is a small difference of large numbers.
    """
    if n <= 1000 or tol < 1e-5 or argument_bound > FLOAT32_ARGUMENT_LIMIT:
        return np.float64
    return np.float32


def is_elsewhere(x: Any) -> bool:
    """Whether x is an array of another library, on whatever device, whose entries can be written: PyTorch, CuPy.

    Dask's are not in memory, and JAX's cannot be changed in place.
    """
    if isinstance(x, np.ndarray | np.generic | list | tuple) or sparse.issparse(x):
        return False
    if is_torch_array(x) or is_cupy_array(x):
        return True
    return hasattr(x, "__array_namespace__") and not (is_dask_array(x) or is_jax_array(x))


def host(x: Any) -> NDArray[Any]:
    """x as a NumPy array in the memory of the host."""
    if is_torch_array(x):
        return np.asarray(x.detach().cpu().numpy())
    if is_cupy_array(x):
        return np.asarray(x.get())
    if is_elsewhere(x):
        return np.from_dlpack(x)
    return np.asarray(x)


def fetched(x: Any) -> Any:
    """x, brought to the host if it is an array of another library; anything else as it is."""
    return host(x) if is_elsewhere(x) else x


def answer(x: Any, question: Any) -> Any:
    """x, brought to the host where the array that asked for it is NumPy's."""
    return host(x) if is_numpy_array(question) else x


class Home:
    """Where the arrays of one computation live: a library and a device.

    Parameters
    ----------
    like : array, optional
        Lives there. Without it: NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> here = Home()
    >>> here.put(np.arange(3.0)), here.is_host
    (array([0., 1., 2.]), True)
    """

    def __init__(self, like: Any = None) -> None:
        self.is_host = like is None or is_numpy_array(like)
        self.xp: Any = np if self.is_host else namespace(like)
        self.device = None if self.is_host else device(like)
        self._own = threading.local()  # what a thread keeps to itself: folds of a search share a home

    def put(self, values: Any, dtype: Any = None) -> Any:
        """The values as an array here; what is here already is not copied."""
        if self.is_host:
            return np.asarray(values if isinstance(values, np.ndarray) else host(values), dtype=dtype)
        if is_elsewhere(values) and namespace(values) == self.xp:
            moved = to_device(values, self.device)
            return moved if dtype is None else self.xp.astype(moved, self.dtype(dtype), copy=False)
        values = np.ascontiguousarray(host(values), dtype=dtype)
        if not values.flags.writeable:
            values = values.copy()
        return self.xp.asarray(values, device=self.device)

    def dtype(self, dtype: Any) -> Any:
        """NumPy's dtype under its name here."""
        return np.dtype(dtype) if self.is_host else getattr(self.xp, np.dtype(dtype).name)

    def lane(self) -> AbstractContextManager[Any]:
        """Within it, the calling thread's work runs beside that of other threads, where the device has such lanes."""
        if self.is_host or self.xp.__name__ != "array_api_compat.torch" or self.device.type != "cuda":
            return nullcontext()
        import torch

        return torch.cuda.stream(torch.cuda.Stream(self.device))

    def finish(self) -> None:
        """Wait for all work on the device."""
        if not self.is_host and getattr(self.device, "type", "") == "cuda":
            import torch

            torch.cuda.synchronize(self.device)

    def to_scratch(self, x: Any) -> NDArray[Any]:
        """x on the host, in memory that this thread's next call writes over: fresh memory costs more than the way."""
        if not is_torch_array(x) or x.device.type != "cuda":
            return host(x)
        landing = getattr(self._own, "landing", None)
        if landing is None or landing.numel() < x.numel() or landing.dtype != x.dtype:
            landing = self._own.landing = self.xp.empty(x.numel(), dtype=x.dtype, pin_memory=True)
        landing = landing[: x.numel()].view(x.shape)
        landing.copy_(x)
        return np.asarray(landing.numpy())

    def gather(self, vectors: Sequence[Any], indices: Any) -> list[NDArray[np.float64]]:
        """Float64 vectors at the given indices, as arrays of the host, in one transfer."""
        if self.is_host:
            return [v[indices] for v in vectors]
        return list(host(self.xp.stack([self.xp.take(v, indices, axis=0) for v in vectors])))


def take_rows(X: Any, indices: NDArray[np.int64]) -> Any:
    """X[indices] for a matrix of any library, sparse ones of SciPy included."""
    if not is_elsewhere(X):
        return X[indices]
    home = Home(X)
    return home.xp.take(X, home.put(indices), axis=0)


def stack_rows(parts: Sequence[Any]) -> Any:
    """Rows of several arrays, or of several sparse matrices, as one: a lone part as it is, sparse ones as CSR."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def dtype_name(x: Any) -> str:
    """The precision of an array of any library under NumPy's name: "float32", "int64"."""
    return str(x.dtype).rpartition(".")[2]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device had no memory left, in the words of any library."""
    if type(error).__name__ == "OutOfMemoryError":
        return True
    said = str(error)  # what CUDA itself refuses comes without a name: a handle of cuBLAS, memory for a transfer
    return isinstance(error, RuntimeError) and ("CUDA" in said and ("out of memory" in said or "ALLOC_FAILED" in said))


def smallest(values: Any, count: int) -> Any:
    """Indices of the ``count`` smallest values, in no particular order."""
    n = values.shape[0]
    xp = namespace(values)
    if count >= n:
        return xp.arange(n) if is_numpy_array(values) else xp.arange(n, device=device(values))
    if is_numpy_array(values) or is_cupy_array(values):
        return xp.argpartition(values, count)[:count]
    if is_torch_array(values):
        return values.topk(count, largest=False, sorted=False).indices
    return xp.argsort(values)[:count]


def distinct(values: Any) -> Any:
    """The distinct values, sorted."""
    if is_numpy_array(values):
        return np.unique(values)
    xp = namespace(values)
    return xp.sort(xp.unique_values(values))


def assign(target: Any, indices: Any, values: Any) -> Any:
    """``target`` with ``target[indices] = values`` done, in place where the library allows it."""
    try:
        target[indices] = values
    except IndexError:  # the standard has no assignment at scattered places
        changed = host(target).copy()
        changed[host(indices)] = host(values) if is_elsewhere(values) else values
        return Home(target).put(changed)
    return target


def transform(name: str, x: Any, *arguments: Any) -> None:
    """x = name(x, *arguments) element by element, in place: ``exp``, ``tanh``, ``pow``, ``minimum``."""
    if is_numpy_array(x):
        getattr(np, name)(x, *arguments, out=x)
    elif is_torch_array(x):
        in_place = {"minimum": "clamp_max_"}.get(name, f"{name}_")
        getattr(x, in_place)(*arguments)
    else:
        xp = namespace(x)
        x[...] = getattr(xp, name)(x, *(xp.asarray(a, dtype=x.dtype, device=device(x)) for a in arguments))
