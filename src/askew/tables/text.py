"""Free text as hashed character n-grams: nothing is learnt, so any block gives the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
GRAM_SIZES = (3, 4)
_FACTOR, _MIXER = np.uint64(0x100000001B3), np.uint64(0x9E3779B97F4A7C15)


def hashed(text: Any, n_columns: int) -> Vector:
    """Counts of the character n-grams of each text, hashed with a sign to ``n_columns``, each row of length 1.

    Upper and lower case count as one, and a blank stands at both ends; a missing text is a row of zeros.

    Parameters
    ----------
    text : pyarrow array of strings
    n_columns : int

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = hashed(pa.array(["rent March", "Rent  marsh", None]), 64)
    >>> rows.shape, bool(rows[0] @ rows[1] > 0.5), bool(rows[2].any())
    ((3, 64), True, False)
    """
    import pyarrow.compute as pc

    found = text.dictionary_encode()
    words = pc.replace_substring_regex(pc.utf8_lower(found.dictionary), r"\s+", " ")
    of_each = _hashed([f" {word.strip()} " for word in words.to_pylist()], n_columns)
    codes = found.indices.fill_null(len(of_each)).to_numpy(zero_copy_only=False)
    return np.vstack([of_each, np.zeros((1, n_columns))])[codes]


def _hashed(texts: list[str], n_columns: int) -> Vector:
    """The texts stand one behind the other as code points; a window that reaches into the next text does not count."""
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32).astype(np.uint64)
    lengths = np.array(list(map(len, texts)), dtype=np.int64)
    rows = np.repeat(np.arange(len(texts)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(points))  # characters from here to the end of a text
    sums = np.zeros(len(texts) * n_columns)
    hashes = np.zeros(len(points), np.uint64)
    for size in range(1, max(GRAM_SIZES) + 1):
        reach = len(points) - size + 1
        if reach < 1:
            break
        hashes = hashes[:reach] * _FACTOR + points[size - 1 :] + np.uint64(1)
        if size in GRAM_SIZES:
            whole = np.flatnonzero(left[:reach] >= size)
            mixed = (hashes[whole] ^ (hashes[whole] >> np.uint64(29))) * _MIXER
            column = ((mixed >> np.uint64(33)) % np.uint64(n_columns)).astype(np.int64)
            sign = 1.0 - 2.0 * ((mixed >> np.uint64(32)) & np.uint64(1)).astype(np.float64)
            sums += np.bincount(rows[whole] * n_columns + column, sign, minlength=len(sums))
    found = sums.reshape(len(texts), n_columns)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    return np.divide(found, norms, out=np.zeros_like(found), where=norms > 0)
