"""A table becomes a detector: promises, blocks of any size, what calibration rows may touch, one model by any door."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from askew import Detector, MomentSVC, TablePreparation
from askew.datasets import Transactions
from askew.detection import METHODS
from askew.detection.hold_out import Plan, gather
from askew.detection.methods import Method
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.sources import FrameSource, open_source
from askew.summaries import draw_by_number
from askew.tables import take_survey


def silent(*_):
    pass


@pytest.fixture(scope="module")
def table():
    return Transactions(rare=0.03).sample(6000, random_state=0)


@pytest.fixture(scope="module")
def new():
    return Transactions(rare=0.03).sample(20_000, random_state=1)


@pytest.fixture(scope="module")
def detector(table):
    return Detector("moment", tolerance=0.02).fit(table, "is_fraud")


def test_the_promise_is_kept_on_new_rows(detector, new):
    scores, is_fraud = detector.decision_function(new), new["is_fraud"] == 1
    assert (scores[~is_fraud] > 0).mean() <= 0.02
    assert (scores[is_fraud] > 0).mean() > 0.7
    np.testing.assert_array_equal(detector.predict(new), scores > 0)
    assert detector.card_.promise.guaranteed_rate <= 0.02


def test_one_table_is_one_model_through_every_door(detector, table, new, tmp_path):
    frame = pd.DataFrame(table)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=500)
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "parts").mkdir()
    for k in range(7):
        frame.iloc[k * 900 : (k + 1) * 900].to_parquet(tmp_path / "parts" / f"{k}.parquet")
    pl = pytest.importorskip("polars")
    doors = {
        "blocks": FrameSource(table, block_rows=701),
        "pandas": frame,
        "polars": pl.DataFrame(frame),
        "arrow": pa.table(table),
        "file": tmp_path / "t.parquet",
        "csv": str(tmp_path / "t.csv"),
        "pattern": f"{tmp_path}/parts/*.parquet",
    }
    dask = pytest.importorskip("dask.dataframe")
    doors["dask"] = dask.from_pandas(frame, npartitions=3)
    expected = detector.decision_function(new)
    scale = np.abs(expected).max()
    for door, rows in doors.items():
        scores = Detector("moment", tolerance=0.02).fit(rows, target="is_fraud").decision_function(new)
        np.testing.assert_allclose(scores, expected, atol=1e-9 * scale, err_msg=door)


def test_a_detector_is_its_preparation_and_its_estimator(detector, table, new):
    """The pipeline of the same parts, fitted on the same training rows at the same C, ranks alike to rounding."""
    trains = draw_by_number(0, 6000, 0) >= 0.25
    rows = {name: values[trains] for name, values in table.items()}
    features = {name: values for name, values in rows.items() if name != "is_fraud"}
    same = make_pipeline(TablePreparation(), MomentSVC(**detector.card_.params)).fit(features, rows["is_fraud"])
    theirs = same.decision_function({name: new[name] for name in features})
    ours = detector.classifier_.estimator_.decision_function(detector.preparation_.transform(new))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def test_rows_that_place_the_threshold_choose_nothing(table):
    """Changing the features of every calibration negative leaves the preparation and the moments as they were."""
    plan = Plan(held_share=0.3, held_positive_share=0.3)
    source = FrameSource(table)

    def seen(source):
        trains = lambda start, n: draw_by_number(start, n, 0) >= 0.3  # noqa: E731
        survey = take_survey(source, TablePreparation(), "is_fraud", trains=trains, progress=silent)
        return survey, gather(source, survey, plan, silent)

    _, first = seen(source)
    is_held = (draw_by_number(0, 6000, 0) < 0.3) & (table["is_fraud"] == 0)
    assert first.held_negatives.shape[0] == is_held.sum()
    assert first.n_negatives + is_held.sum() == (table["is_fraud"] == 0).sum()
    changed = {**table, "amount": np.where(is_held, 1e6, table["amount"])}
    _, second = seen(FrameSource(changed))
    np.testing.assert_array_equal(first.moments.scatter, second.moments.scatter)
    np.testing.assert_array_equal(first.positives, second.positives)


def test_parts_keep_to_their_limits(table):
    source = FrameSource(table)
    trains = lambda start, n: draw_by_number(start, n, 0) >= 0.3  # noqa: E731
    survey = take_survey(source, TablePreparation(), "is_fraud", trains=trains, progress=silent)
    plan = Plan(held_share=0.3, held_positive_share=0.3, most_held=500, most_negatives=300, most_positives=50)
    found = gather(source, survey, plan, silent)
    assert found.held_negatives.shape[0] == pytest.approx(500, rel=0.2)
    assert found.negatives.shape[0] == pytest.approx(300, rel=0.2)
    assert found.positives.shape[0] == pytest.approx(50, rel=0.4)
    assert found.moments.n_samples == found.n_negatives > 3500


class Blind(LogisticRegression):
    """Knows nothing: its weights are drawn at random, other ones for each C."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.coef_ = np.random.default_rng(int(1e6 * self.C)).normal(size=self.coef_.shape)
        return self


def test_candidates_that_know_nothing_keep_the_promise(monkeypatch):
    """Were the threshold's rows to choose among them, the luckiest on these rows would win and break the promise."""
    for k in range(2):
        blind = Method(f"blind {k}", f"blind {k}", Blind, {"C": [k + 0.1 * j for j in range(1, 5)]}, 1000, 1000)
        monkeypatch.setitem(METHODS, blind.name, blind)
    rates = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = {"y": rng.random(700) < 0.1, **{f"x{j}": rng.normal(size=700) for j in range(3)}}
        fresh = {f"x{j}": rng.normal(size=20_000) for j in range(3)}
        detector = Detector(tolerance=0.1, confidence=0.9, random_state=seed)
        detector.compare(rows, "y", ["blind 0", "blind 1"])
        rates.append(detector.predict(fresh).mean())
    # each breaks its promise with probability at most 0.1: more than 8 of 30 would be one chance in 500
    assert (np.array(rates) > 0.1).sum() <= 8
    assert np.mean(rates) > 0.03


def test_too_few_negatives_for_the_promise(table):
    with pytest.raises(InfeasibleError, match="needs at least 29,956"):
        Detector("moment", tolerance=0.0001).fit(table, "is_fraud")
    without = Detector("moment", tolerance=0.0001, guarantee="empirical").fit(table, "is_fraud")
    assert without.card_.promise.guaranteed_rate is None


def test_more_negatives_are_held_out_where_few_are_enough():
    rng = np.random.default_rng(0)
    y = rng.random(160) < 0.2
    detector = Detector("moment", tolerance=0.05).fit({"x": rng.normal(size=160) + 3 * y, "y": y}, "y")
    assert 59 <= detector.card_.promise.n_calibration <= 0.6 * (~y).sum()
    assert detector.card_.n_training_positives > 0.6 * y.sum()


def test_the_promise_from_moments_needs_no_calibration(table, new):
    detector = Detector("moment", tolerance=0.01, guarantee="moments").fit(table, "is_fraud")
    assert (detector.decision_function(new)[new["is_fraud"] == 0] > 0).mean() <= 0.01


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tolerance": 0.0}, "tolerance must lie between 0 and 1"),
        ({"hold_out": 1.0}, "hold_out must lie between 0 and 1"),
        ({"guarantee": "luck"}, "guarantee must be"),
        ({"method": "momnt"}, "Did you mean 'moment'"),
        ({"method": "svdd"}, "not for two-class data"),
        ({"method": "svc", "guarantee": "moments"}, "is for --method moment"),
        ({"preparation": TablePreparation(drop=["amont"])}, "Did you mean 'amount'"),
        ({"preparation": TablePreparation(kinds={"amont": "category"})}, "Did you mean 'amount'"),
    ],
)
def test_wrong_parameters(table, wrong, message):
    with pytest.raises(ParameterError, match=message):
        Detector(**wrong).fit(table, "is_fraud")


def test_a_fit_that_fails_leaves_the_detector_as_it_was(table, new):
    detector = Detector("logistic", tolerance=0.05).fit(table, "is_fraud")
    before, card = detector.decision_function(new), detector.card_
    with pytest.raises(ParameterError, match="Did you mean 'is_fraud'"):
        detector.fit(table, "is_frad")
    np.testing.assert_array_equal(detector.decision_function(new), before)
    assert detector.card_ == card


def test_too_few_events():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="at least 2 are needed"):
        Detector("moment", tolerance=0.05).fit({"x": rng.normal(size=2000), "y": np.arange(2000) == 5}, "y")


@pytest.mark.parametrize("method", ["logistic", "one-class", "svdd"])
def test_other_methods_keep_the_promise(table, new, method):
    is_one_class = method != "logistic"
    rows = np.flatnonzero(table["is_fraud"] == 0) if is_one_class else np.arange(6000)
    data = {k: v[rows] for k, v in table.items() if not (is_one_class and k == "is_fraud")}
    detector = Detector(method, tolerance=0.03).fit(data, None if is_one_class else "is_fraud")
    assert (detector.decision_function(new)[new["is_fraud"] == 0] > 0).mean() <= 0.03
    assert detector.report().summary.point.threshold == 0.0


def test_svmlight_rows(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.1
    X = sparse.csr_matrix(np.where(rng.random((3000, 12)) < 0.3, rng.normal(size=(3000, 12)) + 2 * y[:, None], 0))
    dump_svmlight_file(X, np.where(y, 1, -1), str(tmp_path / "t.svm"), zero_based=True)
    found = Detector(tolerance=0.05).fit(str(tmp_path / "t.svm"), "label")
    assert found.card_.method == "moment"
    assert found.evaluate(str(tmp_path / "t.svm")).figures()["auc"] > 0.8
    with pytest.raises(DataError, match="no numbered features"):
        found.decision_function(pa.table({"a": [1.0]}))


def test_reasons_are_the_columns_that_push_up(detector, table):
    X = detector.preparation_.transform({k: v[:50] for k, v in table.items()})
    weights = dict(detector.weights())
    for row, text in zip(X, detector.reasons(X, top=1), strict=True):
        sums = {}
        names = detector.preparation_.get_feature_names_out()
        for name, column, value, mean in zip(
            names, detector.preparation_.sources_out_, row, detector.preparation_.means_out_, strict=True
        ):
            sums[column] = sums.get(column, 0.0) + weights[name] * (value - mean)
        best = max(sums, key=sums.get)
        assert text.startswith(f"{best} {sums[best]:+.2f}")


def test_scores_in_a_file_are_those_of_the_detector(detector, new, tmp_path):
    path = str(tmp_path / "s.parquet")
    counts = detector.write_scores(FrameSource(new, block_rows=999), path, keep=["amount"])
    read = pa.concat_tables(open_source(path).blocks())
    np.testing.assert_allclose(read["score"].to_numpy(), detector.decision_function(new), atol=1e-9)
    assert read["row"].to_pylist() == list(range(20_000))
    np.testing.assert_array_equal(read["amount"].to_numpy(), new["amount"])
    assert sum(read["alarm"].to_pylist()) == counts.n_alarms
    has_reason = np.array([reason is not None for reason in read["reasons"].to_pylist()])
    np.testing.assert_array_equal(has_reason, read["alarm"].to_numpy())
    assert detector.score_rows(new, keep=["amount"]).drop(["score"]).equals(read.drop(["score"]))


def test_drift_is_seen(detector, new):
    kept = detector.evaluate(new)
    assert not kept.drift.drifted
    figures = kept.figures()
    assert figures["fpr"] == (detector.decision_function(new)[new["is_fraud"] == 0] > 0).mean()
    assert kept.report().summary.point.false_alarm_rate == figures["fpr"]
    moved = {**new, "amount": new["amount"] * 30}
    assert detector.evaluate(moved).report().summary.is_broken
    with pytest.raises(ParameterError, match="a report needs the labels"):
        detector.evaluate({k: v for k, v in new.items() if k != "is_fraud"})


def test_a_column_that_gives_the_target_away_is_a_finding_everywhere(table):
    leaky = {**table, "chargeback": table["is_fraud"] * 100.0 + np.random.default_rng(0).normal(size=6000)}
    with pytest.warns(UserWarning, match="ASK101"):
        found = Detector("moment", tolerance=0.02).fit(leaky, "is_fraud")
    (finding,) = (each for each in found.card_.findings if each.code == "ASK101")
    assert "'chargeback'" in finding.sentence
    assert finding.sentence in json.loads(found.report().json())["findings"][0]["sentence"]


def test_comparison_ranks_and_promises(table):
    detector = Detector(tolerance=0.02)
    report = detector.compare(table, "is_fraud", ["moment", "logistic"])
    rows = detector.card_.methods
    assert {row.name for row in rows} == {"MomentSVC", "logistic regression"}
    assert all(0.9 < row.auc <= 1 for row in rows)
    assert rows[0].tolerance_auc >= rows[1].tolerance_auc
    assert detector.card_.title == rows[0].name
    assert report.summary.methods == rows
    assert report.summary.n_importances == len(detector.card_.features)
    assert "t-AUC" in report.text()


def test_time_is_kept(table):
    detector = Detector(tolerance=0.02, minutes=0.001)
    detector.compare(table, "is_fraud", ["moment", "svc"])
    assert detector.card_.method == "moment"
    assert [row.note for row in detector.card_.methods if row.name == "SVC, balanced"] == ["out of time"]
