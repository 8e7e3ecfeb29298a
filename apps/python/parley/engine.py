"""Runs an owner's statements in DuckDB, Spark, Dask or Ray: `python -m parley.engine duckdb|spark|dask|ray ...`,
named as `command` in the policy. One line of JSON each way, as src/parley/data/sql/engine.h says: a query comes
first, then statements with their constants; integers go back. It knows no key and keeps nothing.

    python -m parley.engine duckdb [DATABASE]      a file, or nothing for queries of files:
                                                   query = "select * from read_parquet('loans.parquet')"
    python -m parley.engine spark [NAME=FILE ...]  Parquet files as tables of these names
    python -m parley.engine dask [tcp://SCHEDULER] FILE...
    python -m parley.engine ray [ray://HEAD] FILE...
                                                   Parquet files, each the work of one task, which needs DuckDB;
                                                   query = "select * from rows", of each file by itself

Without an address, Dask and Ray start workers on this machine.
"""

import glob
import json
import logging
import os
import re
import sys
from typing import Any, Callable, Dict, Iterable, List, Optional, Protocol, Sequence, TextIO, Tuple, Union

Value = Union[float, int, str]

KINDS = [(r"(tiny|small|big|huge)?int(eger)?|u(tiny|small|big|huge)?int(eger)?|long|short|byte", "integer"),
         (r"double|float|real", "real"), (r"decimal.*|numeric.*", "decimal"),
         (r"varchar.*|text|string|char.*", "text"), (r"bool(ean)?", "boolean")]


def kind_of(type_name: Any) -> str:
    name = str(type_name).lower()
    return next((kind for pattern, kind in KINDS if re.fullmatch(pattern, name)), "other")


def value_of(parameter: Dict[str, str]) -> Value:
    (kind, text), = parameter.items()
    readers: Dict[str, Callable[[str], Value]] = {"real": float.fromhex, "integer": int, "text": str}
    return readers[kind](text)


class Engine(Protocol):
    def columns(self, query: str) -> List[Tuple[str, str]]:
        """Names and kinds of what the query gives."""

    def numbers(self, text: str, values: List[Value]) -> Sequence[Any]:
        """The one row of a statement."""


class Refused(Exception):
    """What cannot be done, in words that hold no record."""


class SameFiles:
    """Files have no snapshots: those named here, and all below folders named here, must stay as they are for a whole
    job. Paths and patterns that are no files of this machine are not looked at."""

    def __init__(self, names: Iterable[str]) -> None:
        found = {file for name in names for file in glob.glob(name)}
        for folder in [each for each in found if os.path.isdir(each)]:
            found.update(os.path.join(path, file) for path, _, files in os.walk(folder) for file in files)
        self.stamps = {file: self.stamp(file) for file in found if os.path.isfile(file)}

    @staticmethod
    def stamp(file: str) -> Optional[Tuple[int, int, int]]:
        try:
            now = os.stat(file)
        except OSError:
            return None
        return (now.st_ino, now.st_size, now.st_mtime_ns)

    def check(self) -> None:
        for file, stamp in self.stamps.items():
            if self.stamp(file) != stamp:
                raise Refused(f"{file} has changed during the job. Put the file back as it was, or begin a new job with "
                              "the new rows")


class DuckDB:
    def __init__(self, arguments: List[str]) -> None:
        import duckdb
        self.files = SameFiles([])
        database = arguments[0] if arguments else ":memory:"
        self.connection = duckdb.connect(database, read_only=database != ":memory:")
        self.connection.execute("set autoload_known_extensions = false")
        self.connection.execute("set autoinstall_known_extensions = false")
        self.connection.execute("begin transaction")  # one snapshot

    def columns(self, query: str) -> List[Tuple[str, str]]:
        self.files = SameFiles(name.replace("''", "'") for name in re.findall(r"'((?:[^']|'')+)'", query))
        rows = self.connection.execute(f"describe {query}").fetchall()
        return [(row[0], kind_of(row[1])) for row in rows]

    def numbers(self, text: str, values: List[Value]) -> Sequence[Any]:
        self.files.check()
        row: Sequence[Any] = self.connection.execute(text, values).fetchone()
        self.files.check()
        return row


class Spark:
    def __init__(self, arguments: List[str]) -> None:
        from pyspark.sql import SparkSession
        self.session = (SparkSession.builder.config("spark.ui.enabled", "false")
                        .config("spark.ui.showConsoleProgress", "false").getOrCreate())
        self.session.sparkContext.setLogLevel("ERROR")
        for argument in arguments:
            name, _, file = argument.partition("=")
            self.session.read.parquet(file).createOrReplaceTempView(name)
        self.files = SameFiles(argument.partition("=")[2] for argument in arguments)

    def columns(self, query: str) -> List[Tuple[str, str]]:
        return [(name, kind_of(kind)) for name, kind in self.session.sql(query).dtypes]

    def numbers(self, text: str, values: List[Value]) -> Sequence[Any]:
        named = {f"p{i + 1}": value for i, value in enumerate(values)}
        self.files.check()
        row: Sequence[Any] = self.session.sql(text, args=named).collect()[0]
        self.files.check()
        return row


def rows_of(file: str) -> DuckDB:
    """A Parquet file as the table `rows`."""
    engine = DuckDB([])
    name = file.replace("'", "''")
    engine.connection.execute(f"create view rows as select * from read_parquet('{name}')")
    return engine


def columns_of_file(file: str, query: str) -> List[Tuple[str, str]]:
    return rows_of(file).columns(query)


def sums_of_file(file: str, text: str, values: List[Value]) -> List[int]:
    """What a task does. Integers, so that their sum is the same in whatever order, and however often a lost task is
    run again."""
    return [int(number or 0) for number in rows_of(file).numbers(text, values)]


class Files:
    """A statement is computed for each file by itself, and the integers are added up. `each` maps a function and its
    further arguments over files, on a cluster."""

    def __init__(self, patterns: List[str], each: "Callable[..., List[Any]]") -> None:
        self.files = sorted({file for pattern in patterns for file in glob.glob(pattern)})
        if not self.files:
            raise Refused(f"no file fits {' '.join(patterns) or '(none was named)'}")
        self.each, self.query = each, ""
        self.same = SameFiles(self.files)

    def columns(self, query: str) -> List[Tuple[str, str]]:
        self.query = query
        found = self.each(columns_of_file, self.files, query)
        for file, columns in zip(self.files, found):
            if columns != found[0]:
                raise Refused(f"the columns of {file} are not those of {self.files[0]}")
        first: List[Tuple[str, str]] = found[0]
        return first

    def numbers(self, text: str, values: List[Value]) -> Sequence[Any]:
        if self.query not in text:  # Of made-up rows in the statement itself: by a worker, whose DuckDB answers later.
            numbers: List[int] = self.each(sums_of_file, self.files[:1], text, values)[0]
            return numbers
        if "row_number()" in text:  # The records of one unit may lie in several files.
            raise Refused("records of units cannot be counted file by file; use the engine duckdb or spark")
        self.same.check()
        sums = [sum(column) for column in zip(*self.each(sums_of_file, self.files, text, values))]
        self.same.check()
        return sums


def address_and_files(arguments: List[str]) -> Tuple[Optional[str], List[str]]:
    return (arguments[0], arguments[1:]) if arguments and "://" in arguments[0] else (None, arguments)


def dask(arguments: List[str]) -> Files:
    from distributed import Client, as_completed
    address, files = address_and_files(arguments)
    client = Client(address) if address else Client(dashboard_address=None, threads_per_worker=1)

    def each(function: Callable[..., Any], files: List[str], *further: Any) -> List[Any]:
        found: Dict[str, Any] = {}
        patience = 60.0  # seconds
        while len(found) < len(files):
            tasks = {client.submit(function, file, *further, pure=False, retries=3): file
                     for file in files if file not in found}
            try:
                for task, result in as_completed(tasks, with_results=True, timeout=patience):
                    found[tasks[task]] = result
            except TimeoutError:  # A task was lost with its worker, or needs longer.
                patience *= 2
        return [found[file] for file in files]

    return Files(files, each)


def ray(arguments: List[str]) -> Files:
    import ray as cluster
    address, files = address_and_files(arguments)
    here: Dict[str, Any] = {} if address else {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    # "local": not a cluster that happens to run here, or whose address Ray remembers.
    cluster.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **here)

    def each(function: Callable[..., Any], files: List[str], *further: Any) -> List[Any]:
        task = cluster.remote(max_retries=3)(function)
        found: List[Any] = cluster.get([task.remote(file, *further) for file in files])
        return found

    return Files(files, each)


def error_of(error: Exception, about_query: bool) -> Dict[str, Any]:
    """Only a complaint about the query, or one of ours, is quoted: others may hold a value of a record."""
    about_query = about_query or isinstance(error, Refused)
    text = str(error).splitlines()[0] if about_query else f"{type(error).__name__} while it was computed"
    return {"error": text, "invalid": about_query}


def serve(lines: Iterable[str], out: TextIO, make: Callable[[], Engine]) -> None:
    engine: Optional[Engine] = None
    for line in lines:
        said = json.loads(line)
        opening = "parley_engine" in said
        try:
            if opening:
                query = said["query"].rstrip().rstrip(";")
                engine = make()
                reply: Dict[str, Any] = {"columns": [{"name": name, "kind": kind} for name, kind in engine.columns(query)]}
            elif engine is None:
                reply = {"error": "a statement came before the query", "invalid": True}
            else:
                values = [value_of(parameter) for parameter in said["parameters"]]
                reply = {"numbers": [str(int(n or 0)) for n in engine.numbers(said["text"], values)]}
        except Exception as error:  # Whatever it is, the owner's daemon goes on.
            reply = error_of(error, opening)
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    ENGINES: Dict[str, Callable[[List[str]], Engine]] = {"duckdb": DuckDB, "spark": Spark, "dask": dask, "ray": ray}
    if len(sys.argv) < 2 or sys.argv[1] not in ENGINES:
        sys.exit(__doc__)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a cluster prints is no reply.
    serve(sys.stdin, replies, lambda: ENGINES[sys.argv[1]](sys.argv[2:]))
