"""Dask, Ray and Spark, of which a worker is killed during every question, make the integers of DuckDB in one process.
Started by `scripts/check sql`; PARLEY_PYTHON is the interpreter that has them.

    clusters.py [ROWS]
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from dialects import charters, table
from tables import ENGINE, PYTHON, statements, theta_of

import sql as cases
from sql_engines import Engine

FILES = 6
PARTS = """
import duckdb
duckdb.sql("copy (select *, row_number() over () %% {0} as part from read_parquet('{1}')) to '{2}' "
           "(format parquet, partition_by (part), filename_pattern 'rows_{{i}}')")
""".replace("%%", "%").format
# A process that computes, by its command line.
WORKERS = {"dask": ".*multiprocessing.spawn", "ray": "ray::sums", "spark": ".*CoarseGrainedExecutorBackend"}


def workers(pattern):
    """Processes below this one whose command line begins so."""
    parents, words = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue

    def is_ours(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()
    return [process for process, line in words.items() if re.match(pattern, line) and is_ours(process)]


class Killer(threading.Thread):
    """Kills a worker as soon as there is one, once."""

    def __init__(self, pattern):
        super().__init__(daemon=True)
        self.pattern, self.killed, self.over = pattern, 0, False
        self.start()

    def run(self):
        while not self.over and not self.killed:
            for process in workers(self.pattern)[:1]:
                os.kill(process, 9)
                self.killed = process
            time.sleep(.05)


def ask(engine, statement, pattern):
    killer = Killer(pattern)
    numbers = engine.ask(statement, theta_of(statement))
    killer.over = True
    killer.join()
    return numbers, bool(killer.killed)


def engines(folder, whole):
    """name -> a command and its query"""
    files = f"{folder}/parts/*/*.parquet"
    yield "dask", [PYTHON, ENGINE, "dask", files], "duckdb", "select * exclude (part) from rows"
    yield "ray", [PYTHON, ENGINE, "ray", files], "duckdb", "select * exclude (part) from rows"
    yield "spark", [PYTHON, ENGINE, "spark", f"t={whole}"], "spark", "select * from t"


def compare(name, command, dialect, query, expected, folder):
    """How many integers differ; a worker was killed during how many questions, of how many."""
    wrong, killed, asked, began = 0, 0, 0, time.monotonic()
    with Engine(command, dialect, query) as engine:
        for charter, text in charters():
            for ours, each in zip(expected[charter], statements(folder, text, dialect, query), strict=True):
                theirs, hit = ask(engine, each, WORKERS[name])
                wrong += sum(a != b for a, b in zip(ours, theirs, strict=True))
                killed, asked = killed + hit, asked + 1
    print(f"{name}: {wrong} integers differ; a worker was killed during {killed} of {asked} questions, "
          f"{time.monotonic() - began:.0f} s", flush=True)
    return wrong == 0 and killed >= asked // 2


def refuses_units(folder):
    """The records of a person may lie in two files."""
    with Engine([PYTHON, ENGINE, "dask", f"{folder}/parts/*/*.parquet"], "duckdb", "select * from rows") as engine:
        try:
            engine.say({"text": "with s0 as (select * from rows) select row_number() over () from s0", "parameters": []})
        except AssertionError as refused:
            return "file by file" in str(refused)
    return False


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    os.environ.update(PYSPARK_SUBMIT_ARGS="--master local-cluster[2,1,1024] pyspark-shell", SPARK_LOCAL_IP="127.0.0.1",
                      RAY_ADDRESS="127.0.0.1:1")  # A cluster that is gone: without an address Ray starts workers here.
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        whole = table(folder, [*cases.ordinary(count, 1), *cases.hostile(10_000)]).parquet()[0]
        subprocess.run([PYTHON, "-c", PARTS(FILES, whole, folder / "parts")], check=True)
        query = f"select * from read_parquet('{whole}')"
        with Engine([PYTHON, ENGINE, "duckdb"], "duckdb", query) as duckdb:
            expected = {charter: [duckdb.ask(each, theta_of(each))
                                  for each in statements(folder, text, "duckdb", query)]
                        for charter, text in charters()}
        good = [compare(*each, expected, folder) for each in engines(folder, whole)] + [refuses_units(folder)]
    sys.exit(0 if all(good) else "a cluster differs, lost no worker, or counts units file by file")


if __name__ == "__main__":
    main()
