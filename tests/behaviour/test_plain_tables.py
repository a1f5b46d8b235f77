"""``askew fit`` with the method left to askew ends with a model on plain tables, as long as one method can do it."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from askew import AsymmetricSVC
from askew.cli.app import app
from askew.detection import Request
from askew.detection.comparison import compare_methods
from askew.detection.gathering import Gathered
from askew.detection.methods import METHODS, Method
from askew.detection.training import best_of
from askew.detection.tuning import Clock, tune
from askew.exceptions import DataError
from askew.moments import CovarianceModel
from askew.sources import FrameSource
from benchmarks.plain_tables import KINDS, plain_table

REQUEST = Request(target="fraud", tolerance=0.05, minutes=5.0)


def silent(*_):
    pass


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


GREEDY = Method("greedy", "a greedy method", Memorising, {"C": [1.0]}, most_rows=10_000, search_rows=900)
WRONG = Method("wrong", "a wrong method", LogisticRegression, {"C": [-1.0]}, most_rows=10_000)
HASTY = Method("hasty", "a hasty method", lambda: AsymmetricSVC(max_iter=1), {"mu": ["auto"]}, most_rows=10_000)


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
    tuned = tune(few, gathered, 0.1, Clock(), silent)
    assert tuned.params["mu"] + tuned.params["tau"] <= 0.1
    assert tuned.has_converged
    shares = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
    assert min(abs(tuned.params["mu"] / 0.1 - share * (1 - 1 / 1500)) for share in shares) < 2e-3


def test_methods_of_a_contest_are_judged_at_one_tolerance(gathered):
    """Scores at different tolerances do not compare: the method whose search has fewest rows would win by that."""
    few = [METHODS["moment"], replace(METHODS["svc"], search_rows=600, grid={"C": [1.0]})]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = best_of(few, gathered, REQUEST, silent)
    alone = [tune(method, gathered, REQUEST.tolerance, Clock(), silent).tolerance for method in few]
    assert alone[0] < alone[1] == best.tolerance


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (GREEDY, "a greedy method left the contest: MemoryError"),
        (WRONG, "a wrong method left the contest: 3 of the search's 3 fits failed"),
        (HASTY, "a hasty method left the contest: .* did not converge"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_method_that_fails_leaves_the_contest_and_says_so(gathered, method, why):
    with pytest.warns(UserWarning, match=why) as said:
        best = best_of([METHODS["moment"], method], gathered, REQUEST, silent)
    assert best.method.name == "moment"
    assert len(said) == 1


def test_a_method_out_of_time_says_so(gathered):
    with pytest.warns(UserWarning, match=r"SVC, balanced left the contest: .*--minutes 1e-05"):
        best = best_of([METHODS["moment"], METHODS["svc"]], gathered, replace(REQUEST, minutes=1e-5), silent)
    assert best.method.name == "moment"


def test_the_first_error_is_raised_where_no_method_is_left(gathered):
    with pytest.raises(DataError, match="fits failed"):
        best_of([WRONG, GREEDY], gathered, REQUEST, silent)


def test_a_comparison_goes_on_without_a_method_that_fails(monkeypatch):
    source = FrameSource(plain_table(2500, 0.1, "numbers"))  # 1,775 training rows, 1,183 of them in a fold's part
    monkeypatch.setitem(METHODS, "greedy", GREEDY)
    found = compare_methods(source, REQUEST, ["moment", "greedy"], silent, silent)
    assert [row.note for row in found.rows] == ["", "failed: MemoryError"]
    monkeypatch.setattr(Memorising, "MOST_ROWS", 1500)
    with pytest.warns(UserWarning, match="a greedy method failed on all training rows: MemoryError"):
        found = compare_methods(source, REQUEST, ["greedy", "moment"], silent, silent)
    assert found.detector.card["method"] == "moment"
