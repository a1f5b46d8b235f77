"""A score of 0 is positive, for one machine as for pairs of classes."""

import numpy as np

from askew.fitting import votes_of_pairs
from askew.methods.expansion import positive_side


def test_zero_is_positive_whatever_its_sign():
    assert positive_side(np.array([-1e-300, -0.0, 0.0, 1e-300, np.nan])).tolist() == [False, True, True, True, False]


def test_a_pair_at_zero_votes_for_its_positive_class():
    votes = votes_of_pairs(np.array([[0.0, -1.0, 0.0], [-1.0, -1.0, -1.0]]), 3)  # (0, 1), (0, 2), (1, 2)
    assert votes.tolist() == [[1, 1, 1], [0, 1, 2]]
