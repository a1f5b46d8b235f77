"""From a source to a detector: promises, independence of blocks, what calibration rows may touch."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from askew.datasets import Transactions
from askew.detection import Request, train
from askew.detection.comparison import compare_methods
from askew.detection.evaluation import evaluate_source
from askew.detection.gathering import Plan, gather
from askew.detection.importance import importances
from askew.detection.scoring import score_source
from askew.detection.warning_signs import warning_signs
from askew.estimators.table_preparation import TablePreparation
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.sources import FrameSource, open_source
from askew.summaries import draw_by_number
from askew.tables import take_survey


def trains(start, n):
    return draw_by_number(start, n, 0) >= 0.3


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
    return train(FrameSource(table), Request(target="is_fraud", method="moment", tolerance=0.02))


def test_the_promise_is_kept_on_new_rows(detector, new):
    scores, is_fraud = detector.score(new), new["is_fraud"] == 1
    assert (scores[~is_fraud] > 0).mean() <= 0.02
    assert (scores[is_fraud] > 0).mean() > 0.7
    assert detector.card["promise"]["guaranteed_rate"] <= 0.02


def test_blocks_do_not_matter(detector, table, new):
    request = Request(target="is_fraud", method="moment", tolerance=0.02)
    other = train(FrameSource(table, block_rows=701), request)
    np.testing.assert_allclose(other.score(new), detector.score(new), atol=1e-8)


def test_calibration_rows_teach_nothing(table):
    """Changing the features of every calibration negative leaves the preparation and the moments as they were."""
    plan = Plan(held_share=0.3)
    source = FrameSource(table)

    def seen(source):
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
    survey = take_survey(source, TablePreparation(), "is_fraud", trains=trains, progress=silent)
    plan = Plan(held_share=0.3, most_held=500, most_negatives=300, most_positives=50)
    found = gather(source, survey, plan, silent)
    assert found.held_negatives.shape[0] == pytest.approx(500, rel=0.2)
    assert found.negatives.shape[0] == pytest.approx(300, rel=0.2)
    assert found.positives.shape[0] == pytest.approx(50, rel=0.4)
    assert found.moments.n_samples == found.n_negatives > 5000


def test_too_few_negatives_for_the_promise(table):
    with pytest.raises(InfeasibleError, match="needs at least 29,956"):
        train(FrameSource(table), Request(target="is_fraud", method="moment", tolerance=0.0001))
    without = Request(target="is_fraud", method="moment", tolerance=0.0001, guarantee="empirical")
    assert train(FrameSource(table), without).card["promise"]["guaranteed_rate"] is None


def test_the_promise_from_moments_needs_no_calibration(table, new):
    request = Request(target="is_fraud", method="moment", tolerance=0.01, guarantee="moments")
    scores = train(FrameSource(table), request).score(new)
    assert (scores[new["is_fraud"] == 0] > 0).mean() <= 0.01


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tolerance": 0.0}, "tolerance must lie between 0 and 1"),
        ({"guarantee": "luck"}, "guarantee must be"),
        ({"method": "momnt"}, "Did you mean 'moment'"),
        ({"method": "svdd"}, "not for two-class data"),
        ({"method": "svc", "guarantee": "moments"}, "is for --method moment"),
        ({"target": "is_frad"}, "Did you mean 'is_fraud'"),
        ({"drop": ("amont",)}, "Did you mean 'amount'"),
    ],
)
def test_wrong_requests(table, wrong, message):
    with pytest.raises(ParameterError, match=message):
        train(FrameSource(table), Request(**{"target": "is_fraud", **wrong}))


def test_too_few_events():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="at least 2 are needed"):
        train(
            FrameSource({"x": rng.normal(size=2000), "y": np.arange(2000) == 5}),
            Request(target="y", tolerance=0.05, method="moment"),
        )


@pytest.mark.parametrize("method", ["logistic", "one-class", "svdd"])
def test_other_methods_keep_the_promise(table, new, method):
    is_one_class = method != "logistic"
    rows = np.flatnonzero(table["is_fraud"] == 0) if is_one_class else np.arange(6000)
    data = {k: v[rows] for k, v in table.items() if not (is_one_class and k == "is_fraud")}
    request = Request(target=None if is_one_class else "is_fraud", method=method, tolerance=0.03)
    scores = train(FrameSource(data), request).score(new)
    assert (scores[new["is_fraud"] == 0] > 0).mean() <= 0.03


def test_svmlight_rows(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.1
    X = sparse.csr_matrix(np.where(rng.random((3000, 12)) < 0.3, rng.normal(size=(3000, 12)) + 2 * y[:, None], 0))
    dump_svmlight_file(X, np.where(y, 1, -1), str(tmp_path / "t.svm"), zero_based=True)
    found = train(open_source(str(tmp_path / "t.svm")), Request(target="label", tolerance=0.05))
    assert found.card["method"] == "moment"
    check = evaluate_source(found, open_source(str(tmp_path / "t.svm"), n_features=12), None, None, silent)
    assert check.figures()["auc"] > 0.8
    with pytest.raises(DataError, match="no numbered features"):
        found.score(pa.table({"a": [1.0]}))


def test_reasons_are_the_columns_that_push_up(detector, table):
    X = detector.preparation.transform({k: v[:50] for k, v in table.items()})
    weights = dict(detector.weights())
    for row, text in zip(X, detector.reasons(X, top=1), strict=True):
        sums = {}
        names = detector.preparation.get_feature_names_out()
        for name, column, value, mean in zip(
            names, detector.preparation.sources_out_, row, detector.preparation.means_out_, strict=True
        ):
            sums[column] = sums.get(column, 0.0) + weights[name] * (value - mean)
        best = max(sums, key=sums.get)
        assert text.startswith(f"{best} {sums[best]:+.2f}")


def test_scores_in_a_file_are_those_of_the_detector(detector, new, tmp_path):
    path = str(tmp_path / "s.parquet")
    counts = score_source(detector, FrameSource(new, block_rows=999), path, keep=["amount"], progress=silent)
    read = pa.concat_tables(open_source(path).blocks())
    np.testing.assert_allclose(read["score"].to_numpy(), detector.score(new), atol=1e-9)
    assert read["row"].to_pylist() == list(range(20_000))
    np.testing.assert_array_equal(read["amount"].to_numpy(), new["amount"])
    assert sum(read["alarm"].to_pylist()) == counts.n_alarms
    has_reason = np.array([reason is not None for reason in read["reasons"].to_pylist()])
    np.testing.assert_array_equal(has_reason, read["alarm"].to_numpy())


def test_drift_is_seen(detector, new):
    kept = evaluate_source(detector, FrameSource(new), None, None, silent)
    assert not kept.drift.drifted
    figures = kept.figures()
    assert figures["fpr"] == (detector.score(new)[new["is_fraud"] == 0] > 0).mean()
    moved = {**new, "amount": new["amount"] * 30}
    assert evaluate_source(detector, FrameSource(moved), None, None, silent).drift.drifted
    with pytest.raises(ParameterError, match="a report needs the labels"):
        evaluate_source(detector, FrameSource({k: v for k, v in new.items() if k != "is_fraud"}), None, None, silent)


def test_a_column_that_gives_the_target_away_is_suspected(table):
    leaky = {**table, "chargeback": table["is_fraud"] * 100.0 + np.random.default_rng(0).normal(size=6000)}
    found = train(FrameSource(leaky), Request(target="is_fraud", method="moment", tolerance=0.02))
    assert any("'chargeback'" in sign for sign in warning_signs(found))


def test_comparison_ranks_and_promises(table):
    request = Request(target="is_fraud", tolerance=0.02)
    found = compare_methods(FrameSource(table), request, ["moment", "logistic"], silent, silent)
    assert {row.method.name for row in found.rows} == {"moment", "logistic"}
    assert all(row.is_complete and 0.9 < row.auc <= 1 for row in found.rows)
    assert found.rows[0].tolerance_auc >= found.rows[1].tolerance_auc
    assert found.detector.card["method"] == found.rows[0].method.name
    ranked, kind = importances(found.detector, found.sample)
    assert kind
    assert len(ranked) == len(found.detector.card["features"])


def test_time_is_kept(table):
    request = Request(target="is_fraud", tolerance=0.02, minutes=0.001)
    found = compare_methods(FrameSource(table), request, ["moment", "svc"], silent, silent)
    assert found.detector.card["method"] == "moment"
    assert [row.note for row in found.rows if row.method.name == "svc"] == ["out of time"]
