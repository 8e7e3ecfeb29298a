"""Many rows in a Parquet file: seconds of one pass of DuckDB's engine beside reading the file, and memory where its
rows are read through DuckDB's library with memory_mb = 500. Environment as in `scripts/check sql`, which does not start
it.

    large.py ROWS FOLDER
"""

import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end"), str(HERE)]
from by_driver import most_memory, parquet  # noqa: E402
from charters import block, charter, number, policy, write  # noqa: E402
from parley import BINARY  # noqa: E402
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


def forget(file):
    """The next reader finds nothing of it in memory."""
    descriptor = os.open(file, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def timed(what, work):
    began = time.monotonic()
    result = work()
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)
    return result


def read_by_driver(file, folder, rows, text):
    """`parley data describe` of all rows."""
    write(folder, "c.toml", text)
    write(folder, "p.toml", policy("bank", parquet(str(file))) + block("[limits]", {"memory_mb": 500}))
    (folder / "state").mkdir(exist_ok=True)
    with subprocess.Popen([BINARY, "--quiet", "data", "describe", "--charter", "c.toml", "--policy", "p.toml"],
                          cwd=folder, stdout=subprocess.PIPE) as process:
        most = most_memory(process)
        assert process.returncode == 0 and f"{rows:,}".encode() in process.stdout.read()
    print("most memory in MB that is not of files:", {who: round(memory) for who, memory in most.items()})


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
    sums = "select " + ", ".join(f"sum(x{i})" for i in range(COLUMNS)) + f", sum(y) from read_parquet('{file}')"
    with Engine([PYTHON, ENGINE, "duckdb"], "duckdb", query) as engine:
        for where in ("from the disk", "from memory, if it fits"):
            if where == "from the disk":
                forget(file)
            timed(f"reading {where}, sums of columns", lambda: duckdb(sums))
            if where == "from the disk":
                forget(file)
            found = timed(f"one pass {where}", lambda: engine.ask(statement, theta_of(statement)))
            assert found[0] == rows
        print("memory of the engine in MB, most and now not of files:", memory(engine.process))
    timed("rows through the driver, memory_mb = 500", lambda: read_by_driver(file, folder, rows, text))


if __name__ == "__main__":
    main()
