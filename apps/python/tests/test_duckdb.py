"""DuckDB's relations as rows of an estimator, where neither pandas nor pyarrow is installed (and where they are)."""

import sys

import duckdb
import numpy as np
import parley
import pytest
from parley import DPLogisticRegression

QUERY = "select sin(i) as a, cos(3 * i) as b, i % 7 as c from range(400) r(i)"


def model(**more):
    return DPLogisticRegression(bounds=([-1, -1, 0], [1, 1, 6]), random_state=5, **more)


def made():
    i = np.arange(400)
    columns = duckdb.sql(QUERY).fetchnumpy()
    return duckdb.sql(QUERY), np.column_stack([columns[name] for name in "abc"]), (np.sin(i) + 0.1 * (i % 7) > 0.3)


def test_a_relation_is_fitted_and_predicted():
    relation, x, y = made()
    expected = model().fit(x, y)
    found = model().fit(relation, y)
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.predict(relation), expected.predict(x))


def test_a_relation_of_public_rows():
    relation, x, y = made()
    assert np.array_equal(model(public=(relation, y)).fit(x, y).coef_, model(public=(x, y)).fit(x, y).coef_)


def test_nulls_are_missing_numbers_and_texts_are_refused():
    y = np.arange(400) % 2
    with pytest.raises(ValueError, match="NaN"):
        model().fit(duckdb.sql(f"select nullif(a, sin(3)) as a, b, c from ({QUERY})"), y)
    with pytest.raises(ValueError, match="could not convert string"):
        model().fit(duckdb.sql(f"select 'a' || c as a, b, c from ({QUERY})"), y)


def test_what_speaks_arrow_only_says_what_it_needs(monkeypatch):
    class Stream:
        def __arrow_c_stream__(self, schema=None):
            raise NotImplementedError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow pandas"):
        model().fit(Stream(), [0, 1])


def test_an_owner_gives_a_relation():
    charter = parley.Charter.build(
        charter={"version": 1, "name": "waves", "consortium": "test.example"},
        target={"column": "c", "bounds": [0.0, 6.0], "center": 3.0, "scale": 3.0},
        column=[{"name": name, "kind": "number", "bounds": [-1.0, 1.0], "missing": 0.0} for name in "ab"],
        model={"loss": "squared", "bias": True, "box": 5.0},
        protocol={"name": "sync", "rule": "constant", "rounds": 3, "step": 0.1},
        privacy={"mechanism": "laplace", "max_grad_norm": 2.0, "evaluate": 0.0},
        owner=[{"name": "north", "rows": 400, "epsilon": 5.0}], learner={"name": "registry"})
    simulation = parley.simulate(charter, {"north": duckdb.sql(QUERY)}, seed=2, held_out=0)
    assert len(simulation.model.parameters) == 3
