"""`examples/snowflake_engine.py` in an emulator of Snowflake, fakesnow: the kernel's integers, of ordinary and hostile rows.
Started by `scripts/check sql`; PARLEY_FAKESNOW is the emulator's program, beside the python that has it."""

import os
import pathlib
import subprocess
import sys
import tempfile

from dialects import charters, table
from tables import SOURCE, Engine, by_kernel, statements, theta_of

import sql as cases

FAKESNOW = pathlib.Path(os.environ["PARLEY_FAKESNOW"])
ENGINE = SOURCE / "examples" / "snowflake_engine.py"
LOAD = """
import csv, sys, fakesnow, snowflake.connector
folder, kinds, file = sys.argv[1:]
with fakesnow.patch(db_path=folder):
    cursor = snowflake.connector.connect(database="BANK", schema="PUBLIC").cursor()
    cursor.execute(f"create table t ({kinds})")
    names, *rows = csv.reader(open(file, newline="", encoding="utf8"))
    numbers = [kind.endswith("float") for kind in kinds.split(", ")]
    def cell(number, text):
        quoted = "'" + text.replace("\\\\", "\\\\\\\\").replace("'", "''") + "'"
        return quoted if not number else "null" if text == "" else f"cast({quoted} as float)"
    for at in range(0, len(rows), 500):
        cursor.execute("insert into t values " + ", ".join(
            "(" + ", ".join(map(cell, numbers, row)) + ")" for row in rows[at:at + 500]))
"""


def compare(what, rows):
    wrong, count = 0, 0
    with tempfile.TemporaryDirectory() as name:
        made = table(name, rows)
        (made.folder / "snow").mkdir()
        subprocess.run([FAKESNOW.parent / "python", "-W", "ignore", "-c", LOAD, made.folder / "snow",
                        made.declared("float", "text", ""), made.csv()], check=True)
        query = "select " + ", ".join(f'{column} as "{column}"' for column in made.columns) + " from t"
        with Engine([FAKESNOW, "-d", made.folder / "snow", ENGINE, "connection_name=parley", "database=BANK", "schema=PUBLIC"],
                    "duckdb", query) as engine:
            for _, text in charters():
                for ours, each in zip(by_kernel(made, text), statements(name, text, "duckdb", query), strict=True):
                    found = engine.ask(each, theta_of(each))
                    wrong, count = wrong + sum(a != b for a, b in zip(ours, found, strict=True)), count + len(ours)
    print(f"{what}, {len(made.rows)} rows, emulated Snowflake: {wrong} of {count} integers differ from the kernel's", flush=True)
    return wrong


def main():
    wrong = compare("ordinary", cases.ordinary(2000, 1)) + compare("hostile", cases.hostile(2000))
    sys.exit(f"{wrong} integers differ" if wrong else 0)


if __name__ == "__main__":
    main()
