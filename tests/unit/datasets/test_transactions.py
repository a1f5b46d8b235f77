"""Generated transactions: what is said to be known about them is true."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from askew.datasets import Transactions, write_transactions
from askew.estimators.table_preparation import TablePreparation
from askew.exceptions import ParameterError


@pytest.fixture(scope="module")
def drawn():
    truth = Transactions(rare=0.05, separation=2.0)
    return truth, truth.sample(60_000, random_state=0)


def test_the_bayes_score_is_the_log_odds(drawn):
    truth, columns = drawn
    probability = 1.0 / (1.0 + np.exp(-truth.bayes_score(columns)))
    is_fraud = columns["is_fraud"] == 1
    edges = np.quantile(probability, [0.9, 0.95, 0.98, 0.99])
    for low, high in zip(edges, [*edges[1:], 1.1], strict=True):
        rows = (probability >= low) & (probability < high)
        error = np.sqrt((probability[rows] * (1 - probability[rows])).sum()) / rows.sum()
        assert abs(is_fraud[rows].mean() - probability[rows].mean()) < 4 * error


def test_no_linear_score_beats_it(drawn):
    truth, columns = drawn
    table = {name: values for name, values in columns.items() if name != "is_fraud"}
    X = TablePreparation().fit_transform(table)
    fitted = LogisticRegression(max_iter=500).fit(X, columns["is_fraud"]).decision_function(X)
    best = roc_auc_score(columns["is_fraud"], truth.bayes_score(columns))
    assert 0.9 < roc_auc_score(columns["is_fraud"], fitted) <= best + 1e-3


def test_the_share_of_frauds_and_the_seed(drawn):
    truth, columns = drawn
    assert columns["is_fraud"].mean() == pytest.approx(0.05, abs=0.004)
    again = truth.sample(60_000, random_state=0)
    assert all((again[name] == columns[name]).all() for name in columns)


def test_a_file_holds_the_same_rows(tmp_path):
    told = []
    n_frauds = write_transactions(tmp_path / "t.parquet", 250_000, rare=0.01, random_state=3, progress=told.append)
    table = pq.read_table(tmp_path / "t.parquet")
    assert told == [100_000, 200_000, 250_000]
    assert sum(table["is_fraud"].to_pylist()) == n_frauds
    blocks = list(Transactions(rare=0.01).blocks(250_000, random_state=3))
    np.testing.assert_array_equal(np.concatenate([b["amount"] for b in blocks]), table["amount"].to_numpy())


def test_impossible_requests(tmp_path):
    with pytest.raises(ParameterError, match="rare must lie in"):
        Transactions(rare=0.0)
    with pytest.raises(ParameterError, match="n_samples must be at least 1"):
        write_transactions(tmp_path / "t.parquet", 0)
