"""One report: its page, text and JSON say the same, and a notebook shows it."""

import json
from html import unescape

import numpy as np
import pytest
from reports import NOTHING, promise, report_of
from sklearn.linear_model import LogisticRegression
from sklearn.svm import OneClassSVM

from askew import MomentSVC, ToleranceClassifier
from askew.datasets import make_two_gaussians
from askew.exceptions import DataError
from askew.findings import find
from askew.report import Report, summarise

DATA = make_two_gaussians(2000, rare=0.1, random_state=0)


def classifier(estimator=None, **options):
    model = ToleranceClassifier(estimator or LogisticRegression(), 0.05, random_state=0, **options)
    return model.fit(DATA.X, DATA.y)


@pytest.fixture(scope="module")
def report():
    return classifier().report()


def test_the_facts_of_the_promise_are_attributes(report):
    assert report.as_dict() == report.promise.as_dict()
    assert all(getattr(report, name) == value for name, value in report.as_dict().items())
    with pytest.raises(AttributeError, match="no attribute 'guaranteed'"):
        report.guaranteed  # noqa: B018


def test_page_text_and_json_say_the_same(report):
    pytest.importorskip("jinja2")
    told = json.loads(report.json())
    assert told["promise"]["guaranteed_rate"] == pytest.approx(report.guaranteed_rate, rel=1e-6)
    assert told["headline"].replace("\u00a0", " ") in " ".join(report.text().split())
    assert str(report) == report.text()
    assert str(report.promise).split("\n")[0] in report.text()
    assert report.promise.text in unescape(report.html())


def test_the_report_is_of_the_moment_it_was_asked_for():
    model = classifier()
    report = model.report()
    before = report.as_dict()
    model.retolerance(0.2)
    assert report.as_dict() == before
    assert report.summary.tolerance == 0.05
    assert report.summary.point.recall == before["tpr"]
    assert report.summary.point.false_alarm_rate == before["empirical_rate"]


@pytest.mark.parametrize("side", ["above", "below"])
def test_scores_of_the_page_are_distances_that_rise_with_suspicion(side):
    report = classifier(pos_label=1 if side == "above" else -1).report()
    assert report.alarm_side == side
    point = report.summary.point
    assert point.threshold == 0.0
    assert (point.recall, point.false_alarm_rate) == (report.tpr, report.empirical_rate)


def test_a_notebook_shows_the_page_in_a_frame(report):
    pytest.importorskip("jinja2")
    shown = report._repr_html_()
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in shown
    assert unescape(shown.split('srcdoc="')[1].split('" sandbox')[0]) == report.html()


def test_a_page_is_written_whole(report, tmp_path):
    pytest.importorskip("jinja2")
    page = report.html(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page
    with pytest.raises(DataError, match="does not exist"):
        report.html(tmp_path / "no" / "r.html")


def test_open_shows_a_file_in_a_browser(report, monkeypatch):
    pytest.importorskip("jinja2")
    seen = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    report.open()
    assert seen[0].startswith("file://")


def test_a_promise_without_held_out_rows_has_text_and_no_page():
    report = classifier(MomentSVC(), method="moments", positive_calibration=0.0).report()
    assert "for every distribution with the given moments" in report.text()
    assert json.loads(report.json())["promise"]["tolerance"] == 0.05
    with pytest.raises(DataError, match="nothing to draw"):
        report.html()
    assert report._repr_html_().startswith("<pre>")


def test_reports_of_detectors_and_of_groups():
    normal = DATA.X[DATA.y == -1]
    report = ToleranceClassifier(OneClassSVM(), 0.05, random_state=0).fit(normal).report()
    assert report.summary.point.recall is None
    groups = np.arange(len(DATA.y)) // 2
    model = ToleranceClassifier(LogisticRegression(), 0.1, random_state=0).fit(DATA.X, DATA.y, groups=groups)
    assert "A row on this page is a group" in model.report().text()


def test_findings_stand_on_the_page_and_in_the_text():
    pytest.importorskip("jinja2")
    finding = find("ASK102", n=12)
    report = report_of(
        summarise(
            title="t", event="e", positive_scores=[2.0], negative_scores=np.arange(10.0), tolerance=0.1,
            promise=promise(9.0), findings=[finding],
        )
    )  # fmt: skip
    assert finding.remedy in report.html()
    assert str(finding) in " ".join(report.text().split())
    assert json.loads(report.json())["findings"] == [finding.as_dict()]


def test_a_report_that_promises_nothing_says_why():
    assert "nothing: nothing was asked for" in Report(NOTHING).text()
    assert Report(NOTHING).guaranteed_rate is None
