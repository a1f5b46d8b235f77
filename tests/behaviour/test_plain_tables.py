"""``askew fit`` with the method left to askew ends with a model on plain tables, as long as one method can do it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from askew import AsymmetricSVC, Detector
from askew.cli.app import app
from askew.detection import METHODS
from askew.detection.contest import choose
from askew.detection.hold_out import Gathered
from askew.detection.methods import Method
from askew.exceptions import DataError
from askew.moments import CovarianceModel
from benchmarks.plain_tables import KINDS, plain_table


def silent(*_):
    pass


def chosen(methods, gathered, minutes=None):
    return choose(methods, gathered, 0.05, minutes, silent)


def fit(folder, table, *options):
    pd.DataFrame(table).to_csv(folder / "t.csv", index=False)
    command = ["fit", folder / "t.csv", "--target", "fraud", "-o", folder / "m.skops", "--json", *options]
    return CliRunner().invoke(app, [str(part) for part in command])


@pytest.fixture
def gathered():
    """Training rows of which 10 % are positives, with two features that tell and three that do not."""
    rng = np.random.default_rng(0)
    positives, negatives = rng.normal([1.5, 1.0, 0.0, 0.0, 0.0], size=(150, 5)), rng.normal(size=(1350, 5))
    moments = CovarianceModel("full").moments_of(negatives, None, streaming=True)
    none = np.empty((0, 5))
    return Gathered(positives, negatives, none, none, moments, len(positives), len(negatives))


class Memorising(LogisticRegression):
    """Fits up to ``MOST_ROWS`` rows, and runs out of memory on more."""

    MOST_ROWS = 1000

    def fit(self, X, y, sample_weight=None):
        if len(y) > self.MOST_ROWS:
            raise MemoryError
        return super().fit(X, y, sample_weight)


class Guessing(LogisticRegression):
    """Learns from labels in another order, so that every other method ranks better."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, np.random.default_rng(0).permutation(y), sample_weight)


class Recording(LogisticRegression):
    """Remembers which rows it was fitted on."""

    SEEN = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.SEEN.append(X.tobytes())
        return super().fit(X, y, sample_weight)


GUESS = Method("guess", "a guessing method", Guessing, {"C": [1.0]}, most_rows=10_000)
GREEDY = Method("greedy", "a greedy method", Memorising, {"C": [1.0]}, most_rows=10_000, search_rows=900)
WRONG = Method("wrong", "a wrong method", LogisticRegression, {"C": [-1.0]}, most_rows=10_000)
HASTY = Method("hasty", "a hasty method", lambda: AsymmetricSVC(max_iter=1), {"mu": [0.02]}, most_rows=10_000)


@pytest.mark.parametrize("kind", KINDS)
def test_auto_ends_with_a_model_on_few_rows(tmp_path, kind):
    result = fit(tmp_path, plain_table(500, 0.1, kind), "--tolerance", 0.1)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["promise"]["guaranteed_rate"] <= 0.1


def test_too_few_rows_for_the_tolerance_say_how_many_are_needed(tmp_path):
    result = fit(tmp_path, plain_table(500, 0.02, "both"))
    assert result.exit_code == 4
    assert "needs at least 299 negatives for calibration" in result.stderr
    assert not (tmp_path / "m.skops").exists()


@pytest.mark.parametrize("options", [(), ("-m", "asymmetric")])
def test_more_rows_than_the_search_takes(tmp_path, options):
    """The search for mu and tau sees 3,000 rows with another share of positives than the rows of the last fit."""
    result = fit(tmp_path, plain_table(9000, 0.02, "both"), *options)
    assert result.exit_code == 0, result.output
    card = json.loads(result.stdout)
    assert card["auc"] > 0.8
    if options:
        share = card["n_training_positives"] / (card["n_training_positives"] + card["n_training_negatives"])
        assert card["params"]["mu"] + card["params"]["tau"] <= share


@pytest.mark.parametrize("search_rows", [300, 500])
def test_mu_and_tau_follow_the_share_of_positives(gathered, search_rows):
    few = replace(METHODS["asymmetric"], search_rows=search_rows)
    tuned = chosen([few], gathered)
    assert tuned.params["mu"] + tuned.params["tau"] <= 0.1
    assert tuned.has_converged
    shares = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
    assert min(abs(tuned.params["mu"] / 0.1 - share * (1 - 1 / 1500)) for share in shares) < 2e-3


def test_methods_of_a_contest_are_judged_on_the_same_folds_of_the_same_rows(gathered, monkeypatch):
    monkeypatch.setattr(Recording, "SEEN", [])
    methods = [
        Method(name, name, Recording, {"C": [1.0]}, most_rows=900, search_rows=rows)
        for name, rows in (("one", 600), ("other", 700))
    ]
    chosen(methods, gathered)
    first, other = Recording.SEEN[:3], Recording.SEEN[3:6]
    assert len(set(first)) == 3
    assert first == other


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (GREEDY, "ASK207: a greedy method left the contest: its fit on all training rows failed: MemoryError"),
        (WRONG, "ASK207: a wrong method left the contest: 3 of the search's 3 fits failed"),
        (HASTY, "ASK207: a hasty method left the contest: .* did not converge"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_method_that_fails_leaves_the_contest_and_says_so(gathered, method, why):
    with pytest.warns(UserWarning, match=why) as said:
        best = chosen([GUESS, method], gathered)
    assert best.method.name == "guess"
    assert len(said) == 1


def test_a_method_out_of_time_says_so(gathered):
    with pytest.warns(UserWarning, match=r"SVC, balanced left the contest: its share of the 1e-05 minutes was over"):
        best = chosen([METHODS["moment"], METHODS["svc"]], gathered, 1e-5)
    assert best.method.name == "moment"


def test_the_first_error_is_raised_where_no_method_is_left(gathered):
    with pytest.raises(DataError, match="fits failed"):
        chosen([WRONG, GREEDY], gathered)


def test_a_comparison_goes_on_without_a_method_that_fails(monkeypatch):
    table = plain_table(2500, 0.1, "numbers")  # 1,875 training rows, 1,250 of them in a fold's part
    monkeypatch.setitem(METHODS, "greedy", GREEDY)
    monkeypatch.setitem(METHODS, "guess", GUESS)
    detector = Detector(tolerance=0.05)
    detector.compare(table, "fraud", ["guess", "greedy"])
    assert [row.note for row in detector.card_.methods] == ["", "failed: MemoryError"]
    monkeypatch.setattr(Memorising, "MOST_ROWS", 1500)
    with pytest.warns(UserWarning, match="a greedy method left the contest: its fit on all training rows failed"):
        detector.compare(table, "fraud", ["guess", "greedy"])
    assert detector.card_.method == "guess"
    assert [finding.code for finding in detector.card_.findings] == ["ASK207"]
