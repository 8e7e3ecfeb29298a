"""Runs an owner's statements in DuckDB or Spark: `python -m parley.engine duckdb|spark ...`, named as
`command` in the policy. One line of JSON each way, as src/parley/data/sql/engine.h says: a query comes
first, then statements with their constants; integers go back. It knows no key and keeps nothing.

    python -m parley.engine duckdb [DATABASE]      a file, or nothing for queries of files:
                                                   query = "select * from read_parquet('loans.parquet')"
    python -m parley.engine spark [NAME=FILE ...]  Parquet files as tables of these names
"""

import json
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


class DuckDB:
    def __init__(self, arguments: List[str]) -> None:
        import duckdb
        database = arguments[0] if arguments else ":memory:"
        self.connection = duckdb.connect(database, read_only=database != ":memory:")
        self.connection.execute("set autoload_known_extensions = false")
        self.connection.execute("set autoinstall_known_extensions = false")
        self.connection.execute("begin transaction")  # one snapshot

    def columns(self, query: str) -> List[Tuple[str, str]]:
        rows = self.connection.execute(f"describe {query}").fetchall()
        return [(row[0], kind_of(row[1])) for row in rows]

    def numbers(self, text: str, values: List[Value]) -> Sequence[Any]:
        row: Sequence[Any] = self.connection.execute(text, values).fetchone()
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

    def columns(self, query: str) -> List[Tuple[str, str]]:
        return [(name, kind_of(kind)) for name, kind in self.session.sql(query).dtypes]

    def numbers(self, text: str, values: List[Value]) -> Sequence[Any]:
        named = {f"p{i + 1}": value for i, value in enumerate(values)}
        row: Sequence[Any] = self.session.sql(text, args=named).collect()[0]
        return row


def error_of(error: Exception, about_query: bool) -> Dict[str, Any]:
    """Only a complaint about the query is quoted: others may hold a value of a record."""
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
    ENGINES: Dict[str, Callable[[List[str]], Engine]] = {"duckdb": DuckDB, "spark": Spark}
    if len(sys.argv) < 2 or sys.argv[1] not in ENGINES:
        sys.exit(__doc__)
    serve(sys.stdin, sys.stdout, lambda: ENGINES[sys.argv[1]](sys.argv[2:]))
