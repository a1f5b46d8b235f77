"""A fit that fails leaves the model as it was; what is wrong with a parameter is said before a row is read."""

import numpy as np
import pytest

from askew import MomentSVC, OneClassSVM
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.moments import Moments

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(200, 3)), RNG.normal(size=(20, 3)) + 2.0])
Y = np.repeat([0, 1], [200, 20])
INSIDE = np.vstack([RNG.normal(size=(200, 2)), RNG.normal(size=(60, 2))])  # no hyperplane has all positives beyond it
LABELS = np.repeat([0, 1], [200, 60])


def table(folder, columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def model():
    return MomentSVC(formulation="hard").fit(X, Y)


def assert_unchanged(model, before):
    assert list(vars(model)) == list(before)
    assert all(value is before[name] for name, value in vars(model).items())
    assert model.decision_function(X).shape == (220,)


def test_rows_that_admit_no_machine(model):
    before = dict(vars(model))
    with pytest.raises(InfeasibleError):
        model.fit(INSIDE, LABELS)
    assert_unchanged(model, before)


def test_rows_that_are_no_numbers(model):
    before, bad = dict(vars(model)), INSIDE.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, LABELS)
    assert_unchanged(model, before)


def test_a_source_that_admits_no_machine(model, tmp_path):
    path = table(tmp_path, {"a": INSIDE[:, 0], "b": INSIDE[:, 1], "fraud": LABELS})
    before = dict(vars(model))
    with pytest.raises(InfeasibleError):
        model.fit(path, target="fraud")
    assert_unchanged(model, before)


def test_moments_that_admit_no_machine(model):
    before = dict(vars(model))
    with pytest.raises(InfeasibleError):
        model.fit_from_moments(INSIDE[LABELS == 1], Moments.of(INSIDE[LABELS == 0]))
    assert_unchanged(model, before)


def test_a_batch_that_admits_no_machine_is_not_taken_in():
    model = MomentSVC(formulation="hard").partial_fit(X, Y, classes=[0, 1])
    before = dict(vars(model))
    with pytest.raises(InfeasibleError):
        model.partial_fit(np.full((1, 3), -50.0), [1])
    assert_unchanged(model, before)
    assert model.n_samples_seen_ == 220


def test_a_checkpoint_that_cannot_be_read(model, tmp_path):
    (tmp_path / "stream.npz").write_bytes(b"nothing of the kind")
    before = dict(vars(model))
    with pytest.raises(DataError, match="not a checkpoint"):
        model.load_stream(tmp_path / "stream.npz")
    assert_unchanged(model, before)


def test_another_fit_leaves_nothing_of_the_last(tmp_path):
    path = table(tmp_path, {"a": X[:, 0], "country": np.where(X[:, 1] > 0, "fr", "de"), "fraud": Y})
    model = MomentSVC(scale=True).fit(path, target="fraud")
    assert model.encoded_names_.tolist() == ["a", "country=de", "country=fr"]
    model.set_params(scale=False, kernel="rbf", rho=0.5).fit(X, Y)
    for name in ("scale_", "categories_", "encoded_names_", "feature_names_in_", "coef_", "_chose_by_name"):
        assert not hasattr(model, name)
    assert set(vars(model)) == set(vars(MomentSVC(kernel="rbf", rho=0.5).fit(X, Y)))


@pytest.mark.parametrize(
    "model", [MomentSVC(C=-1.0), OneClassSVM(nu=2.0, approximation="nystroem"), MomentSVC(covariance="round")]
)
def test_parameters_are_checked_before_a_source_is_opened(model):
    with pytest.raises(ParameterError, match="parameter of"):
        model.fit("no/such/file.parquet", target="fraud")
