"""A summary says what the held-out scores say, in few points, and refuses what it cannot use."""

import json

import numpy as np
import pytest
from reports import promise, report_of

from askew.exceptions import DataError, ParameterError
from askew.metrics import RocCurve
from askew.report import summarise
from askew.tolerance import np_roc


def summary_of(negatives, positives, tolerance=0.01, promise=None, **more):
    told = {"title": "Cards", "event": "fraud", "tolerance": tolerance, "promise": promise, **more}
    return summarise(negative_scores=negatives, positive_scores=positives, **told)


def said(summary):
    return "".join(summary.headline).replace("\u00a0", " ")


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    return rng.normal(size=5000).round(2), rng.normal(2.5, size=200).round(2)


class TestOperatingPoints:
    @pytest.mark.parametrize("tolerance", [0.0003, 0.01, 0.29, 0.9])
    def test_measured_point_is_the_best_threshold_within_the_tolerance(self, scores, tolerance):
        negatives, positives = scores
        point = summary_of(negatives, positives, tolerance).point
        labels = np.repeat([0, 1], [len(negatives), len(positives)])
        curve = RocCurve.of(labels, np.concatenate([negatives, positives]))
        assert point.false_alarm_rate <= tolerance
        # Ties are at hundredths, so that the best threshold of the curve lies between two scores.
        assert point.recall == pytest.approx(curve.achieved_at(tolerance), abs=1e-12)

    def test_every_point_counts_what_lies_above_its_threshold(self, scores):
        negatives, positives = scores
        curve = summary_of(negatives, positives).measured
        assert (curve.false_alarms == (negatives[None] > curve.threshold[:, None]).sum(axis=1)).all()
        assert (curve.caught == (positives[None] > curve.threshold[:, None]).sum(axis=1)).all()
        assert (curve.false_alarms / len(negatives) <= curve.tolerance + 1e-12).all()
        assert curve.tolerance[0] == 0.0
        assert curve.caught[-1] == len(positives)

    def test_large_samples_become_few_points_and_bins(self):
        rng = np.random.default_rng(1)
        summary = summary_of(rng.normal(size=400_000), rng.normal(3.0, size=800), tolerance=1e-4)
        assert len(summary.measured.tolerance) <= 2000
        assert len(summary.histogram.negative) <= 100
        assert summary.measured.at(1e-4).false_alarms == 40

    def test_promised_threshold_is_held_against_the_rows_and_its_own_score_is_quiet(self):
        point = summary_of([0.0, 1.0, 2.0, 3.0], [2.0, 2.5], promise=promise(2.0)).point
        assert (point.false_alarms, point.caught, point.tolerance) == (1, 1, 0.01)

    def test_precision_and_alerts_follow_the_base_rate(self):
        point = summary_of(np.arange(100.0), [50.0, 98.5], tolerance=0.1).point
        recall, rate, base = 0.5, 0.1, 0.02
        assert point.alert_share(base) == pytest.approx(base * recall + (1 - base) * rate)
        assert point.precision(base) == pytest.approx(base * recall / (base * recall + (1 - base) * rate))

    def test_guaranteed_thresholds_of_an_np_roc_are_counted_on_the_held_out_rows(self, scores):
        negatives, positives = scores
        curve = np_roc(negatives[::2], positives)
        summary = summary_of(negatives[1::2], positives, np_roc=curve)
        point = summary.guaranteed.at(curve.tolerance[50])
        assert point.false_alarms == (negatives[1::2] > curve.threshold[50]).sum()
        assert summary.tolerance_range[0] == pytest.approx(curve.tolerance[0])

    def test_band_may_be_three_arrays(self, scores):
        summary = summary_of(*scores, np_roc=([0.01, 0.1], [0.2, 0.4], [0.5, 0.9]))
        assert summary.guaranteed is None
        assert summary.band.lower.tolist() == [0.2, 0.4]


class TestHistogram:
    @pytest.mark.parametrize("threshold", [1.0, 1.37, -4.0, 9.0])
    def test_bins_right_of_the_threshold_hold_the_alarms_exactly(self, scores, threshold):
        negatives, positives = scores
        histogram = summary_of(negatives, positives, promise=promise(threshold)).histogram
        above = histogram.edges[:-1] >= threshold
        assert histogram.negative[above].sum() == (negatives > threshold).sum()
        assert histogram.positive[above].sum() == (positives > threshold).sum()
        assert histogram.negative.sum() == len(negatives)
        assert histogram.positive.sum() == len(positives)

    def test_one_outlier_does_not_flatten_the_picture(self):
        negatives = np.append(np.random.default_rng(0).normal(size=10_000), -1e9)
        histogram = summary_of(negatives, [3.0]).histogram
        assert histogram.edges[0] > -10.0
        assert histogram.has_tails
        assert histogram.negative.sum() == len(negatives)


class TestSentences:
    def test_promise(self):
        summary = summary_of(np.arange(1000.0), [999.5, 5.0], promise=promise(990.0))
        assert said(summary) == (
            "Catches 50 % of fraud at no more than 1 false alarm in 100; that limit is promised with 95 % confidence."
        )

    def test_certificate_says_the_limit_and_the_confidence(self):
        summary = summary_of(np.arange(1000.0), [999.5], promise=promise(990.0))
        assert "at most 1 in 100 raises" in summary.certificate.replace("\u00a0", " ")
        assert "95 % of the time" in summary.certificate.replace("\u00a0", " ")
        certain = summary_of(np.arange(1000.0), [999.5], promise=promise(990.0, confidence=1.0))
        assert "of the time" not in certain.certificate

    def test_nothing_promised(self):
        assert said(summary_of(np.arange(1000.0), [999.5])).endswith("nothing is promised.")

    def test_no_positive_rows(self):
        summary = summary_of(np.arange(1000.0), [], promise=promise(990.0, confidence=1.0))
        assert said(summary).startswith("Raises at most 1 false alarm in 100; that limit is promised for any data")
        assert "not known" in summary.evidence
        assert summary.point.recall is None

    def test_new_data_that_contradict_the_promise_take_the_first_sentence(self):
        drift = {"n_new": 1000, "n_alarms": 50, "p_value": 1e-9, "level": 0.01, "drifted": True}
        curve = np_roc(np.arange(1000.0), [999.5])
        summary = summary_of(np.arange(1000.0), [999.5], promise=promise(990.0), drift=drift, np_roc=curve)
        assert "contradict" in said(summary)
        assert "1 in 20" in said(summary)
        assert "promised with" not in said(summary)
        assert summary.guaranteed is None
        assert "Calibrate again" in summary.drift_verdict

    def test_new_data_that_agree_leave_the_promise(self):
        drift = {"n_new": 1000, "n_alarms": 3, "p_value": 0.9, "drifted": False}
        summary = summary_of(np.arange(1000.0), [999.5], promise=promise(990.0), drift=drift)
        assert "promised with" in said(summary)
        assert "agrees" in summary.drift_verdict

    def test_equal_scores_are_said_to_be_equal(self):
        assert "same score" in summary_of(np.zeros(50), np.zeros(5)).evidence
        assert "same score" not in summary_of(np.zeros(50), [0.0, 1.0]).evidence

    def test_text_says_what_the_summary_says(self):
        summary = summary_of(
            np.arange(1000.0), [999.5, 5.0], promise=promise(990.0), command="askew fit x.csv", notes=["Slow."]
        )
        text = " ".join(report_of(summary).text().split())
        for part in (
            said(summary)[:40],
            "9 of 1,000 normal rows",
            "FPR <= 0.01 with confidence 0.95",
            "askew fit x.csv",
            "Slow.",
        ):
            assert part in text
        assert "Methods" not in text


class TestPlainData:
    def test_is_json_even_with_infinite_scores(self):
        summary = summary_of([-np.inf, 0.0, 1.0, np.inf], [np.inf, 2.0], settings={"C": np.float32(2), "f": len})
        parsed = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
        assert parsed["settings"]["C"] == 2.0
        assert parsed["headline"].startswith("Caught")

    def test_importances_are_sorted_by_magnitude_and_cut(self):
        importances = [(f"x{j}", (-1) ** j * j) for j in range(200)]
        summary = summary_of([0.0], [1.0], importances=importances)
        assert summary.importances[0] == ("x199", -199.0)
        assert len(summary.importances) == 50
        assert summary.n_importances == 200

    def test_base_rate_and_volume_are_told_or_taken_from_the_rows(self):
        seen = summary_of(np.zeros(90), np.ones(10))
        assert (seen.base_rate, seen.is_base_rate_measured, seen.is_volume_given) == (0.1, True, False)
        told = summary_of(np.zeros(90), np.ones(10), base_rate=0.001, volume_per_day=500)
        assert (told.base_rate, told.volume_per_day, told.is_base_rate_measured) == (0.001, 500.0, False)


class TestRefusals:
    @pytest.mark.parametrize(
        ("wrong", "error", "message"),
        [
            ({"negatives": []}, DataError, "at least one held-out negative"),
            ({"negatives": [[0.0, 1.0]]}, DataError, "one score per row"),
            ({"positives": [1.0, np.nan]}, DataError, "1 NaN of 2"),
            ({"tolerance": 1.5}, ParameterError, "tolerance=1.5"),
            ({"tolerance": 0.0}, ParameterError, "tolerance=0.0"),
            ({"base_rate": -0.1}, ParameterError, "base_rate=-0.1"),
            ({"volume_per_day": 0}, ParameterError, "volume_per_day=0"),
            ({"np_roc": ([0.1], [0.2])}, DataError, "three vectors"),
            ({"np_roc": ([0.1, 0.1], [0, 0], [1, 1])}, DataError, "increase"),
        ],
    )
    def test_says_what_is_wrong(self, wrong, error, message):
        with pytest.raises(error, match=message):
            summary_of(**{"negatives": [0.0, 1.0], "positives": [2.0], **wrong})
