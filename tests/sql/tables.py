"""A table in a CSV file, SQLite, PostgreSQL, DuckDB and Parquet, and how many integers of the four engines are not
those of the kernel, which reads the CSV file (`tests/kernel_sums`, named by PARLEY_KERNEL_SUMS). PARLEY_PYTHON is an
interpreter with DuckDB and Spark."""

import contextlib
import csv
import json
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end")]
from charters import write  # noqa: E402
from parley import BINARY, SOURCE, run  # noqa: E402
from sql_engines import Engine  # noqa: E402

PYTHON = os.environ.get("PARLEY_PYTHON", sys.executable)
ENGINE = SOURCE / "apps" / "python" / "parley" / "engine.py"
GAUSSIAN = {"mechanism": "gaussian", "delta": 1e-6}
PARQUET = """
import duckdb, sys
parquet, database, file, kinds = sys.argv[1:]
connection = duckdb.connect(database)
connection.execute("create or replace table t as select * from read_csv('" + file + "', header=true, quote='\\"', "
                   "escape='\\"', nullstr='\\\\N', columns={" + kinds + "})")
connection.execute("copy t to '" + parquet + "' (format parquet, row_group_size 2048)")
"""


class Table:
    """Rows of texts and numbers; `columns` says of each name whether it is a column of numbers, in which the empty cell
    is missing."""

    def __init__(self, folder, columns, rows):
        self.folder, self.columns, self.rows = pathlib.Path(folder), columns, [list(row) for row in rows]

    def csv(self, name="rows.csv", missing=""):
        numbers = list(self.columns.values())
        with open(self.folder / name, "w", newline="", encoding="utf8") as file:
            out = csv.writer(file)
            out.writerow(self.columns)
            out.writerows([missing if number and cell == "" else cell for number, cell in zip(numbers, row)]
                          for row in self.rows)
        return self.folder / name

    def declared(self, number, text, quote='"'):
        return ", ".join(f"{quote}{name}{quote} {number if is_number else text}" for name, is_number in self.columns.items())

    def sqlite(self):
        """NaN is a missing value there; the empty text is made one."""
        file = self.folder / "rows.db"
        file.unlink(missing_ok=True)
        numbers = list(self.columns.values())
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            database.execute(f"create table t ({self.declared('double precision', 'text')})")
            database.executemany(
                f"insert into t values ({', '.join('?' * len(numbers))})",
                [[None if cell == "" or number and cell == "NaN" else float(cell) if number else cell
                  for number, cell in zip(numbers, row)] for row in self.rows])
        return file

    def postgresql(self, server):
        texts = ", ".join(f'"{name}"' for name, number in self.columns.items() if not number)
        server.sql("drop table if exists t")
        server.sql(f"create table t ({self.declared('double precision', 'text')})")
        with open(self.csv(), encoding="utf8") as file:
            server.sql(f"copy t from stdin (format csv, header{f', force_not_null ({texts})' if texts else ''})", file)

    def parquet(self):
        """A Parquet file and a file of DuckDB; NaN and infinities stay."""
        file, database = self.folder / "t.parquet", self.folder / "t.duckdb"
        kinds = ", ".join(f"'{name}': '{'double' if number else 'varchar'}'" for name, number in self.columns.items())
        subprocess.run([PYTHON, "-c", PARQUET, file, database, self.csv("null.csv", "\\N"), kinds], check=True)
        return file, database


def engines(table, server):
    """One after the other, each with the rows as its table t."""
    query = "select * from t"
    yield Engine([BINARY, "engine"], "sqlite", query, path=str(table.sqlite()))
    table.postgresql(server)
    yield Engine([BINARY, "engine"], "postgresql", query, dsn=server.dsn)
    parquet, database = table.parquet()
    yield Engine([PYTHON, ENGINE, "duckdb", database], "duckdb", query)
    yield Engine([PYTHON, ENGINE, "spark", f"t={parquet}"], "spark", query)


def statements(folder, text, dialect, query="select * from t", order=()):
    """The answer, and the evaluation if the charter has one."""
    write(folder, "c.toml", text)
    ordered = [word for column in order for word in ("--order", column)]
    done = run("--json", "--quiet", "data", "sql", "c.toml", "--dialect", dialect, "--query", query, *ordered, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return [found[key] for key in ("answer", "evaluation") if key in found]


def theta_of(statement):
    """A model for it, of any size below 1."""
    return [math.sin(j + 1) for j in range(1 + max([p["theta"] for p in statement["parameters"] if "theta" in p],
                                                   default=-1))]


def by_kernel(table, text):
    """The integers that the engines must give."""
    write(table.folder, "c.toml", text)
    asked = statements(table.folder, text, "sqlite", order=[next(iter(table.columns))])
    theta = max(map(theta_of, asked), key=len)  # An answer of moments has none.
    done = subprocess.run([os.environ["PARLEY_KERNEL_SUMS"], table.folder / "c.toml", table.csv(), *map(repr, theta)],
                          text=True, stdout=subprocess.PIPE, check=True)
    return [list(map(int, line.split())) for line in done.stdout.splitlines()]


def compare(what, table, charters, server):
    """Prints how many integers of the engines are not the kernel's, and returns the sum. `charters` are pairs of a name
    and a text; the records of a unit are taken in the order of the first column."""
    charters = list(charters)
    order = [next(iter(table.columns))]
    expected = {name: by_kernel(table, text) for name, text in charters}
    for name, sums in expected.items():  # Zeros would agree with anything.
        assert sums[0][0] == len(table.rows) and any(sums[0][1:]), name
    differ = 0
    for engine in engines(table, server):
        began, wrong, count = time.monotonic(), 0, 0
        with engine:
            for name, text in charters:
                asked = statements(table.folder, text, engine.dialect, order=order)
                found = [engine.ask(each, theta_of(each)) for each in asked]
                away = sum(a != b for ours, theirs in zip(expected[name], found, strict=True)
                           for a, b in zip(ours, theirs, strict=True))
                if away:
                    print(f"  {engine.dialect}, {name}: {away} integers differ")
                wrong, count = wrong + away, count + sum(map(len, found))
        print(f"{what}, {len(table.rows)} rows, {engine.dialect}: {wrong} of {count} integers differ from the kernel's, "
              f"{time.monotonic() - began:.0f} s", flush=True)
        differ += wrong
    return differ


def statistics(text):
    """The same job by paid moments."""
    text = text.replace('rule = "algorithm2"', 'rule = "statistics"').replace("rounds = 3\n", "")
    return text.replace("step = 0.01\n", "").replace("max_grad_norm = 8.0", "max_row_norm = 4.0")
