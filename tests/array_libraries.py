"""Array libraries beside NumPy that the tests run on, on machines without a GPU too.

========  =========================================================================================================
torch     PyTorch on the CPU; skipped where it is not installed
strict    array_api_strict: nothing but the array API standard
device    the same on a device of its own. As on a GPU, turning such an array into one of NumPy's unasked is an error,
          and so is combining it with an array that is not there
========  =========================================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

NAMES = ("torch", "strict", "device")
everywhere = pytest.mark.parametrize("library", NAMES)


def put(library: str, values: Any) -> Any:
    """The values as an array of a library."""
    values = np.asarray(values)
    if library == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")
        return torch.asarray(values.copy())
    import array_api_strict

    device = array_api_strict.Device("device1" if library == "device" else "CPU_DEVICE")
    return array_api_strict.asarray(values.copy(), device=device)


def lives_with(x: Any, like: Any) -> bool:
    """Whether x is an array of the library of another one, on its device."""
    return type(x) is type(like) and x.device == like.device
