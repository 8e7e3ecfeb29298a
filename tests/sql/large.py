"""Seconds of one pass over many rows in a Parquet file, made by DuckDB's engine, beside reading the file.
PARLEY_BINARY, PARLEY_SOURCE and PARLEY_PYTHON as in `scripts/check sql`, which does not start it.

    large.py ROWS FOLDER
"""

import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end"), str(HERE)]
from charters import charter, number  # noqa: E402
from tables import ENGINE, PYTHON, statements, theta_of  # noqa: E402
from sql_engines import Engine  # noqa: E402

COLUMNS = 10


def duckdb(sql):
    code = "import duckdb, sys; duckdb.sql('set enable_progress_bar = false'); print(duckdb.sql(sys.argv[1]))"
    subprocess.run([PYTHON, "-c", code, sql], check=True, stdout=subprocess.DEVNULL)


def memory(process):
    """Most memory that it took, in MB, and what of it now is not of files."""
    fields = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
                  if ":\t" in line)
    return [int(fields[key].split()[0]) // 1024 for key in ("VmHWM", "RssAnon")]


def timed(what, work):
    began = time.monotonic()
    result = work()
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)
    return result


def main():
    rows, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    file = folder / "rows.parquet"
    numbers = ", ".join(f"random() * 4 - 2 as x{i}" for i in range(COLUMNS))
    timed("writing", lambda: duckdb("set preserve_insertion_order = false; set threads = 2; "
                                    f"copy (select {numbers}, random() as y from range({rows})) to '{file}' "
                                    "(format parquet, compression uncompressed)"))
    print(f"{rows} rows, {file.stat().st_size / 1e9:.2f} GB")
    query = f"select * from read_parquet('{file}')"
    text = charter({"column": "y", "bounds": [-9, 9]}, [number(f"x{i}", -9, 9, 0) for i in range(COLUMNS)],
                   {"bank": rows})
    statement = statements(folder, text, "duckdb", query)[0]
    with Engine([PYTHON, ENGINE, "duckdb"], "duckdb", query) as engine:
        for _ in range(2):
            found = timed("one pass", lambda: engine.ask(statement, theta_of(statement)))
            assert found[0] == rows
        print("memory of the engine in MB, most and now not of files:", memory(engine.process))
    timed("reading, sums of columns", lambda: duckdb(
        "select " + ", ".join(f"sum(x{i})" for i in range(COLUMNS)) + f", sum(y) from read_parquet('{file}')"))


if __name__ == "__main__":
    main()
