"""The statements of every dialect in its database, against those of SQLite, which the unit tests compare
with the kernel: ordinary and hostile rows, every loss, both norms, evaluations and moments. Started by
`scripts/check sql`, which installs DuckDB, Spark and sqlglot; PARLEY_PYTHON is the interpreter that has
them.

    dialects.py [ROWS]
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end")]
import sql as cases  # noqa: E402
from charters import charter, write  # noqa: E402
from parley import BINARY, SOURCE, run  # noqa: E402
from sources import Server  # noqa: E402
from sql_engines import Engine  # noqa: E402

PYTHON = os.environ.get("PARLEY_PYTHON", sys.executable)
ENGINE = SOURCE / "apps" / "python" / "parley" / "engine.py"
THETA = [0.3, -0.2, 1e-4, 0.5, -0.25, 0.125, 0.7, -0.9]
GAUSSIAN = {"mechanism": "gaussian", "delta": 1e-6}
PARQUET = """
import duckdb, sys
duckdb.sql("create table t as select * from read_csv('%s', header=false, quote='\\"', escape='\\"', nullstr='\\\\N', columns={"
  "'a':'double','b':'double','c':'double','home':'varchar','grade':'varchar','y':'double','paid':'varchar'})")
duckdb.sql("copy t to '%s' (format parquet, row_group_size 2048)")
"""


def charters():
    """(name, text)"""
    for target, losses in [(cases.NUMBER, ["squared", "huber"]), (cases.CLASSES, ["logistic", "hinge"])]:
        for loss in losses:
            for norm, privacy in [("l1", {}), ("l2", GAUSSIAN)]:
                yield f"{loss} {norm}", charter(target, cases.COLUMNS, {"bank": 1000},
                                                {"evaluate": 0.1, **privacy}, loss)
    for norm, privacy in [("l1", {}), ("l2", GAUSSIAN)]:
        text = charter(cases.NUMBER, cases.COLUMNS, {"bank": 1000}, privacy)
        text = text.replace('rule = "algorithm2"', 'rule = "statistics"').replace("rounds = 3\n", "")
        text = text.replace("step = 0.01\n", "").replace("max_grad_norm = 8.0", "max_row_norm = 4.0")
        yield f"moments {norm}", text


def statements(folder, text, dialect, query="select * from t"):
    write(folder, "c.toml", text)
    done = run("--json", "--quiet", "data", "sql", "c.toml", "--dialect", dialect, "--query",
               query, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return [found[key] for key in ("answer", "evaluation") if key in found]


def to_parquet(folder, rows):
    """An empty number is missing; NaN and infinities stay."""
    with open(folder / "null.csv", "w", newline="", encoding="utf8") as file:
        csv.writer(file).writerows([["\\N" if cell == "" and i in (0, 1, 2, 5) else cell
                                     for i, cell in enumerate(row)] for row in rows])
    subprocess.run([PYTHON, "-c", PARQUET % (folder / "null.csv", folder / "t.parquet")], check=True)
    return folder / "t.parquet"


def engines(folder, rows, server):
    """dialect -> an engine with the rows in its table t."""
    server.sql("drop table if exists t")
    server.sql(cases.TABLE)
    with open(cases.to_csv(folder, rows), encoding="utf8") as file:
        server.sql("copy t from stdin (format csv, force_not_null (home, grade, paid))", file)
    parquet, query = to_parquet(folder, rows), "select * from t"
    subprocess.run([PYTHON, "-c", f"import duckdb; duckdb.connect('{folder}/t.duckdb').execute(\"create or "
                                  f"replace table t as select * from read_parquet('{parquet}')\")"], check=True)
    yield Engine([BINARY, "engine"], "postgresql", query, dsn=server.dsn)
    yield Engine([PYTHON, ENGINE, "duckdb", folder / "t.duckdb"], "duckdb", query)
    yield Engine([PYTHON, ENGINE, "spark", f"t={parquet}"], "spark", query)


def compare(folder, rows, server):
    """How many integers differ, of how many, by dialect."""
    differ = {}
    with Engine([BINARY, "engine"], "sqlite", "select * from t",
                path=str(cases.to_sqlite(folder, rows))) as sqlite:
        expected = {name: [sqlite.ask(each, THETA) for each in statements(folder, text, "sqlite")]
                    for name, text in charters()}
    for engine in engines(folder, rows, server):
        began, wrong, count = time.monotonic(), 0, 0
        with engine:
            for name, text in charters():
                found = [engine.ask(each, THETA) for each in statements(folder, text, engine.dialect)]
                for ours, theirs in zip(expected[name], found, strict=True):
                    assert theirs[0] == len(rows), (engine.dialect, name, theirs[0])
                    away = sum(a != b for a, b in zip(ours, theirs, strict=True))
                    if away:
                        print(f"  {engine.dialect}, {name}: {away} of {len(ours)} differ")
                    wrong, count = wrong + away, count + len(ours)
        differ[engine.dialect] = (wrong, count)
        print(f"{len(rows)} rows, {engine.dialect}: {wrong} of {count} integers differ, "
              f"{time.monotonic() - began:.0f} s", flush=True)
    return differ


def parse_elsewhere(folder):
    """Syntax only: what sqlglot makes of a statement for databases that are not here."""
    code = ("import json, sqlglot, sys\n"
            "text = json.load(sys.stdin)\n"
            "for dialect in ('snowflake', 'bigquery', 'databricks', 'tsql', 'redshift', 'trino'):\n"
            "    sqlglot.transpile(text, read='postgres', write=dialect, error_level="
            "sqlglot.ErrorLevel.RAISE)\n    print('sqlglot writes', dialect)\n")
    for _, text in charters():
        statement = statements(folder, text, "postgresql")[0]["text"]
    subprocess.run([PYTHON, "-c", code], input=json.dumps(statement), text=True, check=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    with tempfile.TemporaryDirectory() as name, Server() as server:
        folder = pathlib.Path(name)
        parse_elsewhere(folder)
        results = [compare(folder, list(rows), server)
                   for rows in (cases.ordinary(count, 1), cases.hostile(10000))]
    wrong = sum(differ for result in results for differ, _ in result.values())
    sys.exit(f"{wrong} integers differ" if wrong else 0)


if __name__ == "__main__":
    main()
