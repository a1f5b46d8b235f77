"""Which class is positive is one rule through every door, and it is said where it was chosen."""

import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from behaviour.rare_rows import FEATURES, table
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from askew import MomentSVC, ToleranceClassifier
from askew.exceptions import ParameterError
from askew.findings import FindingWarning
from askew.moments import Moments
from askew.sources import FrameSource

WORDS = np.array(["ok", "fraud"])


@pytest.fixture(scope="module")
def frame():
    return table(n_negative=1500, n_positive=100)


@pytest.fixture(scope="module")
def numbered(frame):
    """The model of the labels 0 and 1."""
    return MomentSVC(rho=0.1).fit(frame[FEATURES], frame["fraud"])


def doors(frame, tmp_path):
    worded = frame.assign(fraud=WORDS[frame["fraud"]])
    worded.to_csv(tmp_path / "rows.csv", index=False)
    yield (worded[FEATURES], worded["fraud"]), {}
    yield (worded[FEATURES].to_numpy(), worded["fraud"].to_numpy()), {}
    for rows in (
        worded,
        pl.from_pandas(worded),
        pa.Table.from_pandas(worded),
        tmp_path / "rows.csv",
        dd.from_pandas(worded, npartitions=3),
    ):
        yield (rows,), {"target": "fraud"}


def test_the_rarer_of_two_names_is_modelled_by_its_points(frame, numbered, tmp_path):
    scores = numbered.decision_function(frame[FEATURES])
    for rows, options in doors(frame, tmp_path):
        with pytest.warns(FindingWarning, match="ASK104: 'fraud', the rarer of 'fraud' and 'ok'"):
            model = MomentSVC(rho=0.1).fit(*rows, **options)
        assert model.classes_.tolist() == ["fraud", "ok"]
        assert model.pos_label_ == "fraud"
        found = model.decision_function(
            frame[FEATURES] if hasattr(model, "feature_names_in_") else frame[FEATURES].to_numpy()
        )
        np.testing.assert_allclose(found, -scores, atol=1e-6 * np.abs(scores).max())  # scikit-learn's sign
        assert model.false_positive_bound_ == pytest.approx(numbered.false_positive_bound_)
        assert model.threshold_for(0.05) == pytest.approx(numbered.threshold_for(0.05))


def test_a_named_class_and_a_standard_pair_are_not_remarked(frame):
    X, y = frame[FEATURES], frame["fraud"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        assert MomentSVC(pos_label="ok").fit(X, WORDS[y]).pos_label_ == "ok"
        for labels in ([0, 1], [-1, 1], [False, True], ["0", "1"], ["False", "True"]):
            model = MomentSVC().fit(X, np.array(labels)[1 - y])  # the larger is the common one
            assert model.pos_label_ == labels[1]
        assert MomentSVC(pos_label="1").fit(X, y).pos_label_ == 1  # another spelling of the same label
        assert not hasattr(MomentSVC().fit(X, y + (frame["x0"] > 5)), "pos_label_")
    with pytest.raises(ParameterError, match=r"pos_label='frad' is not among.*Did you mean 'fraud'"):
        MomentSVC(pos_label="frad").fit(X, WORDS[y])


def test_weights_that_balance_the_classes_leave_the_choice_to_the_rows(frame):
    X, y = frame[FEATURES], WORDS[frame["fraud"]]
    balanced = np.where(y == "fraud", 15.0, 1.0)
    with pytest.warns(FindingWarning, match="ASK104"):
        assert MomentSVC().fit(X, y, sample_weight=balanced).pos_label_ == "fraud"
    with pytest.warns(FindingWarning, match="ASK104: 'ok'"):  # a row of weight 100 stands for 100 rows
        assert MomentSVC().fit(X, y, sample_weight=np.where(y == "fraud", 100.0, 1.0)).pos_label_ == "ok"


def test_texts_with_leading_zeros_are_labels_of_their_own(frame):
    X, y = frame[FEATURES], frame["fraud"].to_numpy()
    with pytest.warns(FindingWarning, match="ASK104"):
        model = MomentSVC().fit(X, np.array(["1", "01"])[y])
    assert model.classes_.tolist() == ["01", "1"]
    assert model.pos_label_ == "01"
    spelled = np.array(["0", "1"], dtype=object)[y]
    spelled[::2] = np.array(["0.0", "1.0"], dtype=object)[y[::2]]
    assert MomentSVC().fit(X, spelled).classes_.tolist() == ["0", "1"]
    assert MomentSVC().fit(X.assign(y=spelled), target="y").classes_.tolist() == ["0", "1"]


def test_streams_and_moments_keep_the_class_they_began_with(frame, numbered, tmp_path):
    X, y = frame[FEATURES].to_numpy(), WORDS[frame["fraud"]]
    stream = MomentSVC(rho=0.1)
    with pytest.warns(FindingWarning, match="ASK104: 'fraud'"):
        stream.partial_fit(X[:300], y[:300], classes=WORDS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        stream.partial_fit(X[300:], y[300:])
        stream.save_stream(tmp_path / "stream.npz")
        resumed = MomentSVC(rho=0.1).load_stream(tmp_path / "stream.npz")
        moments = Moments.of(X[y == "ok"])
        named = MomentSVC(rho=0.1).fit_from_moments(X[y == "fraud"], moments, classes=("ok", "fraud"))
    expected = -numbered.decision_function(frame[FEATURES])
    for model in (stream, resumed, named):
        assert model.pos_label_ == "fraud"
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("method", ["order_statistic", "moments"])
def test_a_tolerance_stands_on_alarms_for_the_rare_class(frame, method):
    X, y = frame[FEATURES], WORDS[frame["fraud"]]
    with pytest.warns(FindingWarning, match="ASK104: 'fraud'"):
        model = ToleranceClassifier(MomentSVC(), 0.05, method=method, random_state=0).fit(X, y)
    assert model.pos_label_ == "fraud"
    assert model.alarm_side_ == "below"
    assert (model.predict(X)[y == "ok"] == "fraud").mean() <= 0.06
    assert (model.predict(X)[y == "fraud"] == "fraud").mean() > 0.2
    assert ((model.decision_function(X) > 0) == (model.predict(X) == "ok")).mean() > 0.999


def test_a_fitted_estimator_says_which_class_its_alarms_are_for(frame):
    X, y = frame[FEATURES].to_numpy(), WORDS[frame["fraud"]]
    fitted = make_pipeline(StandardScaler(), MomentSVC(pos_label="fraud")).fit(X, y)
    some = np.concatenate([np.flatnonzero(y == "fraud"), np.flatnonzero(y == "ok")[:90]])  # fraud is not rare here
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        model = ToleranceClassifier(fitted, 0.1, calibration="prefit").fit(X[some], y[some])
    assert model.pos_label_ == "fraud"
    plain = LogisticRegression().fit(X, y)
    with pytest.warns(FindingWarning, match="ASK104: 'fraud'"):  # negatives alone will do
        alone = ToleranceClassifier(plain, 0.1, calibration="prefit").fit(X[y == "ok"], y[y == "ok"])
    assert alone.pos_label_ == "fraud"
    spelled = ToleranceClassifier(LogisticRegression().fit(X, frame["fraud"]), 0.1, calibration="prefit")
    assert spelled.fit(X, frame["fraud"].astype(str)).pos_label_ == 1


def test_pandas_nullable_labels_are_read(frame):
    rows = frame.assign(fraud=pd.array(frame["fraud"], dtype="boolean"))
    assert MomentSVC().fit(rows, target="fraud").classes_.tolist() == [False, True]


def test_spellings_that_stand_in_different_blocks_are_one_class(frame, numbered):
    spelled = np.array(["0", "1"], dtype=object)[frame["fraud"]]
    spelled[800:] = np.array(["0.0", " 1"], dtype=object)[frame["fraud"][800:]]
    rows = frame.assign(fraud=spelled)
    expected = numbered.decision_function(frame[FEATURES])
    for source in (FrameSource(rows, block_rows=100), dd.from_pandas(rows, npartitions=5)):
        model = MomentSVC(rho=0.1).fit(source, target="fraud")
        assert model.classes_.tolist() == ["0", "1"]
        found = model.decision_function(frame[FEATURES])
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
