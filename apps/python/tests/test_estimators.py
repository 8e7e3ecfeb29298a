"""The estimators as scikit-learn sees them, and what they promise."""

import json
import os
import pickle
import subprocess

import numpy as np
import parley
import pytest
from parley import DPHuberRegressor, DPLinearRegression, DPLinearSVC, DPLogisticRegression
from parley._program import path as program_of_the_wheel
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

BOUNDS = (-10.0, 10.0)
TARGET = (-300.0, 300.0)
CLASSIFIERS = [DPLogisticRegression, DPLinearSVC]
REGRESSORS = [DPLinearRegression, DPHuberRegressor]


def made(cls, **more):
    more = {"bounds": BOUNDS, **more}
    return cls(**({"target_bounds": TARGET, **more} if cls in REGRESSORS else more))


# Some checks look at predictions of models of 20 rows, which are noise at epsilon 1.
@parametrize_with_checks([made(cls, epsilon=100.0, delta=delta) for cls in CLASSIFIERS + REGRESSORS for delta in (1e-6, 0.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rows(count=4000):
    x, y = make_classification(count, 6, n_informative=4, n_redundant=0, random_state=3)
    return x, y


def test_a_model_is_learned():
    x, y = rows()
    for cls in CLASSIFIERS:
        assert made(cls, epsilon=3, random_state=1).fit(x, y).score(x, y) > 0.75
    slope = np.array([1.0, -2.0, 0.5, 0.0, 0.0, 3.0])
    for cls in REGRESSORS:
        model = made(cls, epsilon=10, target_bounds=(-60, 60), random_state=1).fit(x, x @ slope + 1)
        assert model.score(x, x @ slope + 1) > 0.6


@pytest.mark.parametrize("cls", CLASSIFIERS + REGRESSORS)
def test_bounds_are_required(cls):
    x, y = rows(100)
    with pytest.raises(ValueError, match="bounds is missing"):
        made(cls, bounds=None).fit(x, y)


def test_target_bounds_are_required():
    with pytest.raises(ValueError, match="target_bounds is missing"):
        DPLinearRegression(bounds=BOUNDS).fit(*rows(100))


def test_weights_of_rows_are_refused_by_name():
    x, y = rows(100)
    with pytest.raises(TypeError, match="sample_weight"):
        made(DPLogisticRegression).fit(x, y, sample_weight=np.ones(100))


def test_a_seed_is_not_private_and_none_is():
    x, y = rows(200)
    seeded = made(DPLogisticRegression, random_state=1).fit(x, y)
    assert not seeded.privacy_["private"] and "NOT PRIVATE" in seeded.privacy_["statement"]
    assert np.array_equal(seeded.coef_, made(DPLogisticRegression, random_state=1).fit(x, y).coef_)
    fresh = made(DPLogisticRegression).fit(x, y)
    assert fresh.privacy_["private"]
    assert not np.array_equal(fresh.coef_, made(DPLogisticRegression).fit(x, y).coef_)
    assert fresh.privacy_["owners"][0]["epsilon"] <= 1.0


class Frame(dict):
    """As little of a data frame as the package needs."""

    def __init__(self, **columns):
        super().__init__(columns)
        self.columns = list(columns)


@pytest.mark.parametrize("cls,more", [(DPLogisticRegression, {}), (DPLogisticRegression, {"epsilon": 100.0}),
                                      (DPLinearSVC, {"delta": 0.0}), (DPLinearRegression, {}), (DPHuberRegressor, {})])
def test_a_seeded_fit_is_simulated_bit_for_bit(tmp_path, cls, more):
    x, y = rows(800)
    model = made(cls, random_state=9, **more).fit(x, y)
    bundle = json.loads(model.bundle_)
    unit = TARGET[1] if cls in REGRESSORS else 1.0
    frame = Frame(**{f"x{j}": x[:, j] for j in range(6)}, y=y.astype(float))
    charter = parley.Charter(model.charter_, bundle=model.bundle_)
    simulated = parley.simulate(charter, {"analyst": frame}, seed=9, held_out=0).model.parameters
    assert np.array_equal(model.coef_.ravel(), unit * np.array(simulated[:-1]) / bundle["scale"])

    charter.write(tmp_path / "fit.charter.toml")
    lines = [",".join([*map(repr, row), str(label)]) for row, label in zip(x.tolist(), y)]
    (tmp_path / "analyst.csv").write_text("\n".join(["x0,x1,x2,x3,x4,x5,y", *lines]) + "\n")
    subprocess.run([os.environ.get("PARLEY_BINARY", program_of_the_wheel()), "--quiet", "simulate", "fit.charter.toml",
                    "--data", ".", "--seed", "9", "--out", "out", "--held-out", "0"], cwd=tmp_path, check=True)
    assert parley.Model.read(tmp_path / "out" / "model.json").parameters == simulated


def test_pipelines_clones_pickles():
    x, y = rows()
    pipe = make_pipeline(StandardScaler(), made(DPLogisticRegression, random_state=2)).fit(x, y)
    again = pickle.loads(pickle.dumps(pipe))
    assert np.array_equal(pipe.predict_proba(x), again.predict_proba(x))
    assert clone(pipe[-1]).get_params() == pipe[-1].get_params()
    assert cross_val_predict(made(DPLogisticRegression), x, y, cv=3).shape == y.shape


def test_every_trial_of_a_search_is_charged(tmp_path):
    x, y = rows(600)
    ledger = parley.Ledger.create(tmp_path / "data.ledger", epsilon=10, delta=1e-6)
    model = made(DPLogisticRegression, epsilon=1, delta=1e-8, rounds=3, accountant=ledger)
    GridSearchCV(model, {"l2": [1e-4, 1e-2]}, cv=3, refit=True).fit(x, y)
    assert ledger.events()["charges"] == 3 * (2 * 3 + 1)
    GridSearchCV(model, {"l2": [1e-4, 1e-2]}, cv=2, refit=False, n_jobs=2).fit(x, y)
    assert ledger.events()["charges"] == 3 * (2 * 3 + 1 + 2 * 2)
    ledger.verify()


def test_a_ledger_refuses_before_a_fit_runs(tmp_path):
    x, y = rows(300)
    ledger = parley.Ledger.create(tmp_path / "data.ledger", epsilon=0.5, delta=1e-6)
    with pytest.raises(parley.BudgetError):
        made(DPLogisticRegression, epsilon=1, delta=1e-7, accountant=str(ledger.path)).fit(x, y)
    assert ledger.events()["charges"] == 0
    with pytest.raises(ValueError, match="not private"):
        made(DPLogisticRegression, accountant=ledger, random_state=1).fit(x, y)


def test_public_rows_help():
    x, y = rows(6000)
    private, public = slice(0, 5000), slice(5000, 6000)
    model = made(DPLogisticRegression, epsilon=0.3, public=(x[public], y[public]), random_state=1)
    assert model.fit(x[private], y[private]).score(x[private], y[private]) > 0.75
    assert "pilot_newton" in model.charter_


def test_sparse_public_rows_are_the_same_rows():
    sparse = pytest.importorskip("scipy.sparse")
    x, y = rows(1500)
    private, public = slice(0, 1000), slice(1000, 1500)
    found = [made(DPLogisticRegression, public=(form(x[public]), y[public]), random_state=1).fit(x[private], y[private]).coef_
             for form in (np.asarray, sparse.csr_matrix, sparse.coo_matrix)]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    with pytest.raises(ValueError, match="6 features"):
        made(DPLogisticRegression, public=(sparse.csr_matrix(x[public, :5]), y[public])).fit(x[private], y[private])


def test_a_delta_that_is_too_large_for_the_rows_is_refused_by_name():
    x = np.broadcast_to(np.array([[0.5, -0.5]]), (1_000_000, 2))
    y = np.arange(1_000_000) % 2
    with pytest.raises(ValueError, match="delta: must be below 1/rows(.|\n)*1e-7") as found:
        made(DPLogisticRegression, random_state=1).fit(x, y)
    assert found.value.where == {"key": "delta"}
    made(DPLogisticRegression, delta=1e-7, rounds=1, random_state=1).fit(x, y)


def test_labels_of_any_kind_and_weights_of_classes():
    x, y = rows(1000)
    names = np.where(y == 1, "yes", "no")
    model = made(DPLogisticRegression, epsilon=5, classes=["no", "yes"], class_weight={"yes": 2.0}).fit(x, names)
    assert set(model.predict(x)) <= {"no", "yes"}
    with pytest.raises(ValueError, match="balanced"):
        made(DPLogisticRegression, class_weight="balanced").fit(x, y)


def test_sparse_rows_are_the_same_rows():
    sparse = pytest.importorskip("scipy.sparse")
    x, y = rows(500)
    x[np.abs(x) < 1] = 0
    for bounds in (BOUNDS, (0, 10)):  # A 0 stays 0 as a feature, or becomes -1.
        dense = made(DPLogisticRegression, bounds=bounds, random_state=4).fit(x, y)
        for form in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            model = made(DPLogisticRegression, bounds=bounds, random_state=4).fit(form(x), y)
            assert np.array_equal(dense.coef_, model.coef_)


def test_help_is_useful():
    for cls in CLASSIFIERS + REGRESSORS:
        for name in cls().get_params():
            assert name in cls.__doc__, (cls, name)
