"""Ordinary and hostile rows: the statements of every dialect in its database give the kernel's integers, for every
loss, both norms, evaluations and moments. Started by `scripts/check sql`, which installs DuckDB, Spark and sqlglot.

    dialects.py [ROWS]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from tables import GAUSSIAN, PYTHON, Table, compare, statements, statistics

import sql as cases
from charters import charter
from sources import Server


def charters():
    """(name, text)"""
    for target, losses in [(cases.NUMBER, ["squared", "huber"]), (cases.CLASSES, ["logistic", "hinge"])]:
        for loss in losses:
            for norm, privacy in [("l1", {}), ("l2", GAUSSIAN)]:
                yield f"{loss} {norm}", charter(target, cases.COLUMNS, {"bank": 1000},
                                                {"evaluate": 0.1, **privacy}, loss)
    for norm, privacy in [("l1", {}), ("l2", GAUSSIAN)]:
        yield f"moments {norm}", statistics(charter(cases.NUMBER, cases.COLUMNS, {"bank": 1000}, privacy))


def table(folder, rows):
    return Table(folder, {"a": True, "b": True, "c": True, "home": False, "grade": False, "y": True, "paid": False}, rows)


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
        wrong = sum(compare(what, table(folder, rows), charters(), server)
                    for what, rows in [("ordinary", cases.ordinary(count, 1)), ("hostile", cases.hostile(10000))])
    sys.exit(f"{wrong} integers differ" if wrong else 0)


if __name__ == "__main__":
    main()
