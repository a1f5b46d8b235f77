"""Distances and inner products of rows without cancellation, compiled.

Solves
    distances   ‖a − b‖² as a sum of squared differences: relative error at most (d + 2)ε, wherever the points lie.
    products    a'b by compensated summation, as if in twice the precision and rounded once.
    What the expansion ‖a‖² + ‖b‖² − 2a'b and a plain inner product lose where their terms are large and cancel.
Given
    Rows of two arrays, or the three arrays of two CSR matrices without duplicate entries.
Returns
    All pairs in ``out``, at about d operations a pair and without BLAS: for few rows, or where nothing else is right.
Reference
    Ogita, Rump, Oishi (2005), Accurate sum and dot product, SIAM J. Sci. Comput. 26:1955.
"""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled

_SPLIT = 134217729.0  # 2^27 + 1 cuts a float64 into two halves whose products are exact


@compiled()
def distances(A, B, out):  # type: ignore[no-untyped-def]
    """out[i, j] = ‖A_i − B_j‖²."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                difference = np.float64(A[i, k]) - np.float64(B[j, k])
                total += difference * difference
            out[i, j] = total


@compiled()
def distances_of_sparse(data, indices, indptr, other, other_indices, other_indptr, width, out):  # type: ignore[no-untyped-def]
    """out[i, j] = ‖A_i − B_j‖² for CSR rows of A against CSR rows of B."""
    row, seen = np.zeros(width), np.full(width, -1, np.int64)
    pair = 0
    for i in range(out.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            row[indices[k]] = data[k]
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(other_indptr[j], other_indptr[j + 1]):
                column = other_indices[k]
                difference = row[column] - np.float64(other[k])
                total += difference * difference
                seen[column] = pair
            for k in range(indptr[i], indptr[i + 1]):
                if seen[indices[k]] != pair:
                    total += np.float64(data[k]) * np.float64(data[k])
            out[i, j] = total
            pair += 1
        for k in range(indptr[i], indptr[i + 1]):
            row[indices[k]] = 0.0


@compiled()
def _add_product(total, rest, a, b):  # type: ignore[no-untyped-def]
    """total + ab, and what rounding took from it added to rest."""
    product = a * b
    c = _SPLIT * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = _SPLIT * b
    b_high = c - (c - b)
    b_low = b - b_high
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    added = total + product
    z = added - total
    return added, rest + (error + ((total - (added - z)) + (product - z)))


@compiled()
def products(A, B, out):  # type: ignore[no-untyped-def]
    """out[i, j] = A_i'B_j."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total, rest = 0.0, 0.0
            for k in range(A.shape[1]):
                total, rest = _add_product(total, rest, np.float64(A[i, k]), np.float64(B[j, k]))
            out[i, j] = total + rest


@compiled()
def products_of_sparse(data, indices, indptr, other, other_indices, other_indptr, width, out):  # type: ignore[no-untyped-def]
    """out[i, j] = A_i'B_j for CSR rows of A against CSR rows of B."""
    row = np.zeros(width)
    for i in range(out.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            row[indices[k]] = data[k]
        for j in range(out.shape[1]):
            total, rest = 0.0, 0.0
            for k in range(other_indptr[j], other_indptr[j + 1]):
                total, rest = _add_product(total, rest, row[other_indices[k]], np.float64(other[k]))
            out[i, j] = total + rest
        for k in range(indptr[i], indptr[i + 1]):
            row[indices[k]] = 0.0
