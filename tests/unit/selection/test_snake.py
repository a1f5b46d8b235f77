"""The order of candidates on a path."""

from itertools import pairwise

from askew.selection.snake import snake


def test_neighbours_differ_in_one_parameter_by_one_step():
    grid = [{"mu": m, "tau": t, "C": c} for m in (3, 1, 2) for t in (0, 1) for c in (10, 20, 30)]
    path = [tuple(grid[i].values()) for i in snake(grid)]
    assert sorted(path) == sorted(tuple(c.values()) for c in grid)
    assert path[0] == (1, 0, 10)
    assert all(sum(a != b for a, b in zip(one, two, strict=True)) == 1 for one, two in pairwise(path))


def test_values_without_an_order_keep_theirs():
    grid = [{"class_weight": w, "C": c} for w in (None, {1: 5.0}, "balanced") for c in (1, 2)]
    order = snake(grid)
    assert sorted(order) == list(range(6))
    assert [grid[i]["class_weight"] for i in order[::2]] == [None, {1: 5.0}, "balanced"]


def test_candidates_may_have_different_parameters():
    assert sorted(snake([{"a": 1}, {"b": 2}, {"a": 0, "b": 1}])) == [0, 1, 2]
