"""`python -m parley.engine duckdb`, as an owner's process talks to it (src/parley/data/sql/engine.h)."""

import json
import subprocess
import sys

import pytest

QUERY = "select i::double as x, i as k, 'a' || i as t, i % 2 = 0 as b from range(10) r(i);"


def replies(*said):
    lines = "".join(json.dumps(each) + "\n" for each in said)
    done = subprocess.run([sys.executable, "-m", "parley.engine", "duckdb"], input=lines, text=True, stdout=subprocess.PIPE,
                          timeout=300, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def hello(query=QUERY):
    return {"parley_engine": 1, "dialect": "duckdb", "path": "", "dsn": "", "query": query}


def statement(text, *parameters):
    return {"text": text, "parameters": list(parameters)}


def test_columns_and_exact_numbers():
    sums = statement(f"select count(*), sum(k + $2::bigint), sum(case when x > $1::double then 1 else 0 end) from ({QUERY[:-1]}) q",
                     {"real": (8.5).hex()}, {"integer": str(2**60)})
    columns, numbers = replies(hello(), sums)
    assert columns == {"columns": [{"name": "x", "kind": "real"}, {"name": "k", "kind": "integer"},
                                   {"name": "t", "kind": "text"}, {"name": "b", "kind": "boolean"}]}
    assert numbers == {"numbers": ["10", str(45 + 10 * 2**60), "1"]}


def test_only_errors_of_the_query_are_quoted():
    (refused,) = replies(hello("select * from nowhere"))
    assert refused["invalid"] and "nowhere" in refused["error"]
    _, failed = replies(hello(), statement("select cast('secret' as bigint)"))
    assert not failed["invalid"] and "secret" not in failed["error"]


def write(file, last):
    import duckdb
    duckdb.sql(f"copy (select i from range(1, 1 + {last}) r(i)) to '{file}' (format parquet)")


def test_a_file_that_is_replaced_during_a_job_ends_it(tmp_path):
    """Also by one with as many rows, of the same size."""
    file = tmp_path / "it''s rows.parquet".replace("''", "'")
    write(str(file).replace("'", "''"), 9)
    from parley.engine import DuckDB, Refused
    query = "select * from read_parquet('{}')".format(str(file).replace("'", "''"))
    engine = DuckDB([])
    engine.columns(query)
    assert engine.numbers(f"select sum(i) from ({query}) q", [])[0] == 45
    kept = file.read_bytes()
    file.unlink()
    file.write_bytes(kept)
    with pytest.raises(Refused, match="has changed during the job"):
        engine.numbers(f"select sum(i) from ({query}) q", [])
    file.unlink()
    with pytest.raises(Refused, match="has changed during the job"):
        engine.numbers(f"select sum(i) from ({query}) q", [])


def test_files_of_a_cluster_must_stay_too(tmp_path):
    from parley.engine import Files, Refused
    for part in (1, 2):
        write(tmp_path / f"{part}.parquet", 4)
    asked = []

    def each(function, files, *further):
        asked.append(function.__name__)
        return [function(file, *further) for file in files]

    files = Files([str(tmp_path / "*.parquet")], each)
    files.columns("select * from rows")
    assert files.numbers("select sum(i) from (select * from rows) q", []) == [20]
    assert files.numbers("select sum(i) from (select 7 as i) made", []) == [7]
    assert asked == ["columns_of_file", "sums_of_file", "sums_of_file"], "made-up rows are summed by a worker, too"
    write(tmp_path / "2.parquet", 5)
    with pytest.raises(Refused, match="2.parquet has changed"):
        files.numbers("select sum(i) from (select * from rows) q", [])


def test_a_statement_before_the_query_is_an_error():
    (refused,) = replies(statement("select 1"))
    assert "before the query" in refused["error"]
