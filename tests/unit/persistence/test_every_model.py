"""Every public estimator and search comes back from a file with the same scores, by names that no move can break."""

import json
import re
import zipfile

import numpy as np
import pytest

pytest.importorskip("skops")
import skops.io
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import askew
from askew import (
    SVC,
    SVDD,
    AsymmetricSVC,
    CovarianceOneClassSVM,
    GaussianDescription,
    KernelScaledSVC,
    KNNDescription,
    MomentSVC,
    OneClassSVM,
    ParzenDescription,
    ToleranceClassifier,
)
from askew.estimators import MomentSVCCV
from askew.exceptions import DataError
from askew.moments import Moments
from askew.persistence.registry import _FORMAT_1, _HOMES, type_named
from askew.selection import ArtificialOutlierSearchCV, ConsistencySearchCV, ToleranceSearchCV

rng = np.random.default_rng(0)
Y = (rng.random(120) < 0.3).astype(int)
X = rng.normal(size=(120, 3)) + 1.5 * Y[:, None]
THREE = rng.integers(0, 3, 120)
NORMAL = X[Y == 0]
TABLE = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "u", "v"), "t": Y}


def tolerant(estimator, **options):
    return ToleranceClassifier(estimator, tolerance=0.1, random_state=0, **options)


def updated():
    model = tolerant(SVC()).fit(X, Y)
    model.update(model.score_samples(NORMAL[:5]))
    return model


MODELS = {
    **{f"SVC {kernel}": lambda k=kernel: SVC(kernel=k).fit(X, Y) for kernel in ("linear", "rbf", "poly", "sigmoid")},
    "SVC of three classes": lambda: SVC().fit(X, THREE),
    "SVC of sparse rows": lambda: SVC().fit(sparse.csr_array(X), Y),
    "SVC not fitted": lambda: SVC(C=3.0),
    **{
        f"MomentSVC {kernel} {covariance}": lambda k=kernel, c=covariance: MomentSVC(
            kernel=k, covariance=c, n_factors=2
        ).fit(X, Y)
        for kernel, covariance in (
            ("linear", "full"),
            ("linear", "diagonal"),
            ("linear", "factor"),
            ("linear", "shrunk"),
            ("linear", "sparse_inverse"),
            ("rbf", "full"),
            ("rbf", "factor"),
            ("rbf", "diagonal"),
            ("poly", "full"),
            ("sigmoid", "full"),
        )
    },
    "MomentSVC of sparse rows": lambda: MomentSVC().fit(sparse.csr_array(X), Y),
    "MomentSVC of three classes": lambda: MomentSVC().fit(X, THREE),
    "MomentSVC of a table": lambda: MomentSVC().fit(TABLE, target="t"),
    "MomentSVC of a stream": lambda: MomentSVC().partial_fit(X, Y, classes=[0, 1]),
    "MomentSVCCV": lambda: MomentSVCCV().fit(X, Y),
    **{
        f"KernelScaledSVC {scaling}": lambda s=scaling: KernelScaledSVC(scaling=s).fit(X, Y)
        for scaling in ("asymmetric", "symmetric", "support", "adaptive", "boundary")
    },
    "KernelScaledSVC of three classes": lambda: KernelScaledSVC().fit(X, THREE),
    "AsymmetricSVC": lambda: AsymmetricSVC(mu=0.1, tau=0.02).fit(X, Y),
    "CovarianceOneClassSVM": lambda: CovarianceOneClassSVM().fit(NORMAL),
    "CovarianceOneClassSVM modified": lambda: CovarianceOneClassSVM(score="modified", eta=0.5).fit(NORMAL),
    "OneClassSVM": lambda: OneClassSVM().fit(NORMAL),
    "SVDD": lambda: SVDD().fit(NORMAL),
    "GaussianDescription": lambda: GaussianDescription().fit(NORMAL),
    "KNNDescription": lambda: KNNDescription().fit(NORMAL),
    "KNNDescription of sparse rows": lambda: KNNDescription().fit(sparse.csr_array(NORMAL)),
    "ParzenDescription": lambda: ParzenDescription().fit(NORMAL),
    "SVC on landmarks": lambda: SVC(approximation="nystroem", n_landmarks=20).fit(X, Y),
    "OneClassSVM on landmarks": lambda: OneClassSVM(approximation="nystroem", n_landmarks=20).fit(NORMAL),
    "AsymmetricSVC on landmarks": lambda: AsymmetricSVC(
        mu=0.1, tau=0.0, approximation="nystroem", n_landmarks=20
    ).fit(X, Y),
    "CovarianceOneClassSVM on landmarks": lambda: CovarianceOneClassSVM(
        approximation="nystroem", n_landmarks=20
    ).fit(NORMAL),
    "search for a kernel machine": lambda: ToleranceSearchCV(AsymmetricSVC(), {"mu": [0.1, 0.2]}, cv=3).fit(X, Y),
    "search for a moment machine": lambda: ToleranceSearchCV(MomentSVC(), {"C": [0.1, 1.0]}, cv=3).fit(X, Y),
    "search for another's pipeline": lambda: ToleranceSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}, cv=3
    ).fit(X, Y),
    "one-class search by outliers": lambda: ArtificialOutlierSearchCV(
        KNNDescription(), {"n_neighbors": [1, 3]}
    ).fit(NORMAL),
    "one-class search by consistency": lambda: ConsistencySearchCV(
        KNNDescription(), "n_neighbors", [5, 3, 1]
    ).fit(NORMAL),
    "ToleranceClassifier": lambda: tolerant(SVC()).fit(X, Y),
    "ToleranceClassifier of normal rows": lambda: tolerant(OneClassSVM()).fit(NORMAL),
    "ToleranceClassifier by its own moments": lambda: tolerant(MomentSVC(), method="moments").fit(X, Y),
    "ToleranceClassifier by moments": lambda: tolerant(
        LogisticRegression(), method="moments", moments=Moments.of(NORMAL)
    ).fit(X, Y),
    "ToleranceClassifier with updates": updated,
    "ToleranceClassifier of trees": lambda: tolerant(HistGradientBoostingClassifier(max_iter=5)).fit(X, Y),
}  # fmt: skip


def scores_of(model):
    if not hasattr(model, "n_features_in_"):
        return repr(model)
    rows = {name: TABLE[name] for name in "abc"} if hasattr(model, "categories_") else X
    return model.decision_function(rows)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", MODELS)
def test_the_same_scores_after_loading(kind, tmp_path):
    model = MODELS[kind]()
    askew.save(model, tmp_path / "m.skops")
    loaded = askew.load(tmp_path / "m.skops")
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(scores_of(loaded), scores_of(model))
    if isinstance(model, ToleranceClassifier):
        assert str(loaded.report()) == str(model.report())
    with zipfile.ZipFile(tmp_path / "m.skops") as archive:
        assert not re.search(r'"askew\.', archive.read("schema.json").decode())  # names, no paths of modules


def test_a_stream_goes_on_after_loading(tmp_path):
    halves = [MomentSVC().partial_fit(X[:60], Y[:60], classes=[0, 1]) for _ in range(2)]
    askew.save(halves[0], tmp_path / "m.skops")
    halves[0] = askew.load(tmp_path / "m.skops")
    first, second = (model.partial_fit(X[60:], Y[60:]).decision_function(X) for model in halves)
    np.testing.assert_allclose(first, second, rtol=1e-12)


def test_every_name_leads_to_its_type_and_only_to_it():
    homes = [type_named(name) for name in _HOMES]
    assert len(set(homes)) == len(homes)
    assert {type_named(name) for name in _FORMAT_1.values()} <= set(homes)
    assert {name for name in askew.__all__ if isinstance(getattr(askew, name), type)} <= set(_HOMES)


def test_trusted_types_let_skops_read_its_own_files():
    model = tolerant(MomentSVC(kernel="rbf")).fit(X, Y)
    loaded = skops.io.loads(skops.io.dumps(model), trusted=askew.trusted_types())
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_types_of_others_are_built_only_when_named(tmp_path):
    model = tolerant(RandomForestClassifier(5, random_state=0)).fit(X, Y)
    askew.save(model, tmp_path / "m.skops")
    with pytest.raises(DataError, match=r"sklearn\.tree\._tree\.Tree.*not loaded.*trusted="):
        askew.load(tmp_path / "m.skops")
    loaded = askew.load(tmp_path / "m.skops", trusted=["sklearn.tree._tree.Tree"])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_name_of_a_later_version_is_refused(tmp_path):
    askew.save(SVC(), tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["schema.json"] = members["schema.json"].replace(b'"SVC"', b'"QuantumSVC"')
    with zipfile.ZipFile(tmp_path / "m.skops", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(DataError, match="'QuantumSVC' is no type that this version of askew knows"):
        askew.load(tmp_path / "m.skops")


def test_the_card_says_what_a_file_holds(tmp_path):
    askew.save(SVC(), tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as archive:
        card = json.loads(archive.read("askew.json"))
    assert card["format"] == 2
    assert card["type"] == "SVC"
    assert {"askew", "scikit-learn", "numpy"} <= set(card["versions"])


def test_models_of_before_the_bound_on_weights_score_and_report():
    model = tolerant(SVC()).fit(X, Y)
    state = {name: value for name, value in model.__getstate__().items() if "weight_bound_" not in name}
    older = ToleranceClassifier.__new__(ToleranceClassifier)
    older.__setstate__(state)
    np.testing.assert_array_equal(older.predict(X), model.predict(X))
    assert str(older.report()) == str(model.report())
    assert older.weight_bound_ is None
