"""One pass over a source: what it keeps, whatever the blocks, and how often the rows are read."""

import numpy as np
import pytest

from askew.moments import CovarianceModel
from askew.sources import FrameSource, Source
from askew.summaries import Stream, gather, open_labelled, tally_classes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
Y = (RNG.random(3000) < 0.1).astype(int)


@pytest.fixture
def passes(monkeypatch):
    """The passes over a source so far."""
    found, reduce_blocks = [], Source.map_reduce

    def counted(self, *args, **options):
        found.append(self)
        return reduce_blocks(self, *args, **options)

    monkeypatch.setattr(Source, "map_reduce", counted)
    return found


def tally(labels, pos_label=None, most=100_000, order=slice(None)):
    frame = {f"x{j}": X[order, j] for j in range(3)} | {"y": np.asarray(labels)[order]}
    source, layout = open_labelled(FrameSource(frame), None, "y", None)
    return tally_classes(source, layout, CovarianceModel(), pos_label, most, 10)


def test_one_pass_gives_the_evidence_of_rows(passes):
    found = tally(Y)
    assert len(passes) == 1
    assert found.classes == [0, 1]
    np.testing.assert_allclose(found.weights, np.bincount(Y))
    [evidence] = found.stream(CovarianceModel(), 1, 1.0).evidence()
    [expected] = gather(X, Y[:, None] == 1, np.ones(3000), CovarianceModel())
    np.testing.assert_array_equal(evidence.X, expected.X)
    np.testing.assert_array_equal(evidence.rows, expected.rows)
    np.testing.assert_allclose(evidence.moments.scatter, expected.moments.scatter, rtol=1e-12)


def test_a_second_pass_only_where_the_positive_class_was_not_the_likely_one(passes):
    assert set(tally(np.where(Y, "fraud", "ok")).kept) == {"fraud"}
    assert len(passes) == 2
    assert set(tally(np.where(Y, "fraud", "ok"), pos_label="fraud").kept) == {"fraud"}
    assert len(passes) == 3


def test_the_rows_that_stand_for_a_class_depend_on_their_content_alone():
    order = RNG.permutation(3000)
    first, other = tally(Y, most=50), tally(Y, most=50, order=order)
    assert first.drawn == {1: int(Y.sum())}
    [few], [again] = (each.stream(CovarianceModel(), 1, 1.0).evidence() for each in (first, other))
    assert few.X.shape == (50, 3)
    assert few.weight.sum() == pytest.approx(Y.sum())
    np.testing.assert_array_equal(np.sort(few.X, axis=0), np.sort(again.X, axis=0))
    spread = first.spread(("x0", "x1", "x2"))
    np.testing.assert_allclose(spread.variance, X.var(axis=0), rtol=1e-9)


def test_batches_of_a_stream_are_the_rows_in_one():
    whole = Stream.empty(CovarianceModel(), 2, 1, 1.0).plus(X, Y, np.ones(3000))
    parts = Stream.empty(CovarianceModel(), 2, 1, 1.0)
    before = parts
    for first in range(0, 3000, 700):
        parts = parts.plus(X[first : first + 700], Y[first : first + 700], np.ones(len(X[first : first + 700])))
    assert (before.n_seen, before.kept, before.is_ready) == (0, (), False)
    [a], [b] = whole.evidence(), parts.evidence()
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_allclose(a.moments.scatter, b.moments.scatter, rtol=1e-12)
