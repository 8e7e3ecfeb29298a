"""pandas, polars, pyarrow, duckdb and numpy give the same bits."""

import duckdb
import numpy as np
import pandas as pd
import parley
import polars as pl
import pyarrow as pa
from parley import DPLogisticRegression
from parley._tables import own_columns
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROWS = 500


def frame():
    random = np.random.RandomState(0)
    x = pd.DataFrame({"age": random.randint(18, 90, ROWS), "dose": random.uniform(0, 10, ROWS)})
    x["ward"] = random.choice(["a", "b", "c"], ROWS)
    x["ill"] = np.where(x["age"] + 3 * x["dose"] + random.normal(0, 10, ROWS) > 65, "yes", "no")
    return x


def kinds(table):
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    return {"pandas": table, "categories": table.astype({"ward": "category"}), "polars": pl.from_pandas(table),
            "arrow": arrow, "chunks": pa.concat_tables([arrow.slice(0, 123), arrow.slice(123)]),
            "duckdb": duckdb.from_arrow(arrow)}


def charter():
    return parley.Charter.build(
        charter={"version": 1, "name": "ill", "consortium": "test.example"},
        target={"column": "ill", "levels": ["no", "yes"]},
        column=[{"name": "age", "kind": "number", "bounds": [0.0, 100.0], "missing": 50.0},
                {"name": "dose", "kind": "number", "bounds": [0.0, 10.0], "missing": 5.0},
                {"name": "ward", "kind": "category", "levels": ["a", "b", "c"], "encode": "one_hot"}],
        model={"loss": "logistic", "bias": True, "box": 5.0},
        protocol={"name": "sync", "rule": "constant", "rounds": 5, "step": 1e-3},
        privacy={"mechanism": "gaussian", "max_grad_norm": 60.0, "evaluate": 0.0},
        owner=[{"name": "north", "rows": ROWS, "epsilon": 5.0, "delta": 1e-6}], learner={"name": "registry"})


def test_owners_frames():
    found = {kind: parley.simulate(charter(), {"north": rows}, seed=3, held_out=0).model.parameters
             for kind, rows in kinds(frame()).items()}
    assert all(theta == found["pandas"] for theta in found.values()), found


def test_estimators_frames():
    table = frame()
    x, y = table[["age", "dose"]], (table["ill"] == "yes").to_numpy()
    model = DPLogisticRegression(bounds=([18, 0], [90, 10]), random_state=5)
    expected = model.fit(x.to_numpy(dtype=float), y).coef_
    for kind, rows in kinds(table).items():
        only = (rows.project("age, dose") if kind == "duckdb" else rows.select(["age", "dose"])
                if kind in ("polars", "arrow", "chunks") else rows[["age", "dose"]])
        assert np.array_equal(model.fit(only, y).coef_, expected), kind
    assert list(model.fit(x, y).feature_names_in_) == ["age", "dose"]


def test_columns_of_doubles_are_read_where_they_lie():
    table = frame()[["age", "dose"]].astype(float)
    y = (frame()["ill"] == "yes").to_numpy()
    model = DPLogisticRegression(bounds=([18, 0], [90, 10]), random_state=5)
    expected = model.fit(table.to_numpy(), y).coef_
    for rows in (table, pl.from_pandas(table), pa.Table.from_pandas(table)):
        assert np.array_equal(model.fit(rows, y).coef_, expected)
    polars = pl.from_pandas(table)
    columns = own_columns(polars, polars.to_numpy())
    assert [np.shares_memory(column, polars[name].to_numpy()) for name, column in zip(polars.columns, columns)] == [True] * 2


def test_set_output():
    table = frame()
    x, y = table[["age", "dose"]], (table["ill"] == "yes").to_numpy()
    pipe = make_pipeline(StandardScaler(), DPLogisticRegression(bounds=(-3, 3))).set_output(transform="polars").fit(x, y)
    assert isinstance(pipe[:-1].transform(x), pl.DataFrame)
    assert list(pipe[-1].feature_names_in_) == ["age", "dose"] and set(pipe.predict(x)) <= {False, True}


def test_rows_that_speak_arrow_only():
    class Stream:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, schema=None):
            return self.table.__arrow_c_stream__(schema)

    table = frame()
    x, y = pa.Table.from_pandas(table[["age", "dose"]]), (table["ill"] == "yes").to_numpy()
    model = DPLogisticRegression(bounds=([18, 0], [90, 10]), random_state=5)
    assert np.array_equal(model.fit(Stream(x), y).coef_, model.fit(x, y).coef_)
    assert list(model.fit(Stream(x), y).feature_names_in_) == ["age", "dose"]


def test_forecast_from_a_frame():
    table = frame()
    draft = charter().with_changes({"protocol.rule": "pilot_newton", "protocol.rounds": 2, "protocol.step": 1.0,
                                    "owner.0.rows": 5000})
    forecast = parley.forecast(draft, public=table)
    assert "<iframe" in forecast._repr_html_() and len(forecast.owners) == 1
    assert isinstance(forecast.owners, pd.DataFrame)
    forecast.plot()


def test_a_forecast_draft_is_simulated_with_the_bundle_that_was_chosen(tmp_path):
    draft = parley.Charter.build(
        charter={"version": 1, "name": "drafted", "consortium": "test.example"},
        target={"column": "y", "bounds": [-2.0, 2.0], "scale": 2.0},
        column=[{"name": "x", "kind": "number", "bounds": [-3.0, 3.0], "missing": 0.0}],
        model={"loss": "squared", "box": 2.0, "bias": True},
        owner=[{"name": "north", "rows": 2000, "epsilon": 1.0}],
        learner={"name": "registry"})
    rng = np.random.default_rng(5)

    def rows(n):
        x = rng.uniform(-3, 3, n)
        return pd.DataFrame({"x": x, "y": np.clip(x / 2 + rng.normal(0, .3, n), -2, 2)})
    public, north = rows(500), rows(2000)
    forecast = parley.forecast(draft, public=public)
    assert forecast.bundle, "the case that is tried"
    chosen = forecast.charter.check()
    first = parley.simulate(chosen, {"north": north}, seed=3, held_out=0)
    chosen.write(tmp_path / "drafted.charter.toml")
    again = parley.Charter.read(tmp_path / "drafted.charter.toml", public=public)
    assert again.hash == chosen.hash
    second = parley.simulate(again, {"north": north}, seed=3, held_out=0)
    assert np.array_equal(first.model.parameters, second.model.parameters)


def test_a_model_predicts_frames():
    simulation = parley.simulate(charter(), {"north": frame()}, seed=3, held_out=0)
    found = [simulation.model.predict(rows) for rows in kinds(frame()).values()]
    assert all(np.array_equal(each, found[0]) for each in found) and found[0].shape == (ROWS,)
