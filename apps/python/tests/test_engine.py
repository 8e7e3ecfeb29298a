"""`python -m parley.engine duckdb`, as an owner's process talks to it (src/parley/data/sql/engine.h)."""

import json
import subprocess
import sys

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


def test_a_statement_before_the_query_is_an_error():
    (refused,) = replies(statement("select 1"))
    assert "before the query" in refused["error"]
