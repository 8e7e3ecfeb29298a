"""Parquet files of four writers, and databases through their ADBC drivers, give the rows of a CSV file; truncated
and damaged files are errors that name the file; a file larger than the memory limit is read within it. Started by
`scripts/check sql`, which fetches the drivers: PARLEY_DRIVERS is their folder, PARLEY_PYTHON an interpreter with
pyarrow, polars, DuckDB and pyspark."""

import os
import pathlib
import random
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end"), str(HERE)]
import sources  # noqa: E402
from charters import block, charter, number, policy, write  # noqa: E402
from tables import PYTHON  # noqa: E402
from parley import BINARY, InFolder, main  # noqa: E402

DRIVERS = pathlib.Path(os.environ["PARLEY_DRIVERS"])
DUCKDB = str(DRIVERS / "libduckdb.so")
DAMAGED = int(os.environ.get("PARLEY_DAMAGED", "150"))  # files
LARGE_MB = int(os.environ.get("PARLEY_LARGE_MB", "1500"))
LIMIT_MB = int(os.environ.get("PARLEY_LIMIT_MB", "400"))

WRITERS = {
    "pyarrow": """
import pyarrow as pa, pyarrow.csv as csv, pyarrow.parquet as parquet
types = dict(member=pa.int64(), amount=pa.decimal128(12, 2), income=pa.float64(), grade=pa.int8(),
             home=pa.dictionary(pa.int32(), pa.string()), paid=pa.string(), rate=pa.decimal128(10, 4), status=pa.large_string())
table = csv.read_csv("loans.csv", convert_options=csv.ConvertOptions(column_types=types, null_values=[""]))
parquet.write_table(table, "pyarrow.parquet", row_group_size=100, compression="zstd")""",
    "polars": """
import polars
table = polars.read_csv("loans.csv", schema_overrides=dict(member=polars.UInt64, grade=polars.Int16, rate=polars.Float64))
table.with_columns(polars.col("home").cast(polars.Categorical)).write_parquet("polars.parquet", row_group_size=128)""",
    "duckdb": """
import duckdb
duckdb.sql("create type home as enum ('RENT', 'OWN', 'MORTGAGE', ' OWN')")
duckdb.sql("copy (select * from read_csv('loans.csv', types={'amount': 'decimal(12,2)', 'paid': 'varchar', 'home': 'home', "
           "'rate': 'decimal(18,6)', 'member': 'ubigint'})) to 'duckdb.parquet' (format parquet, row_group_size 2048)")""",
    "spark": """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
session.sparkContext.setLogLevel("ERROR")
rows = session.read.csv("loans.csv", header=True, schema="member long, amount decimal(12,2), income double, grade short, "
                        "home string, paid string, rate double, status string", ignoreLeadingWhiteSpace=False)
rows.coalesce(1).write.parquet("spark")""",
}


def files_of(writer):
    return "spark/*.parquet" if writer == "spark" else f"{writer}.parquet"


def parquet(path, **more):
    return {"source": "parquet", "path": path, "driver": DUCKDB, **more}


class SameRows(sources.Sources):
    for name in list(vars(sources.Sources)):
        if name.startswith("test_"):
            locals()[name] = None  # In scripts/test.

    def model(self, out, **dataset):
        """Rows that a database leaves out are not counted."""
        model, described = super().model(out, **dataset)
        described.pop("left_out")
        return model, described

    def test_parquet_files_of_four_writers(self):
        plain = self.model("plain", source="csv", path="loans.csv")
        for writer, text in WRITERS.items():
            with self.subTest(writer):
                subprocess.run([PYTHON, "-c", text], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
                self.assertEqual(self.model(writer, **parquet(files_of(writer))), plain)

    def test_several_files_are_read_in_the_order_of_their_names(self):
        plain = self.model("plain", source="csv", path="loans.csv")
        subprocess.run([PYTHON, "-c", WRITERS["pyarrow"] + """
for part in range(6): parquet.write_table(table.slice(100 * part, 100), f"part-{part}.parquet")"""],
                       cwd=self.folder, check=True)
        self.assertEqual(self.model("parts", **parquet("part-*.parquet")), plain)
        self.assertEqual(self.model("query", source="adbc", driver=DUCKDB, entry="duckdb_adbc_init",
                                    query=f"select * from read_parquet('{self.folder}/part-*.parquet')"), plain)

    def test_sqlite_and_postgresql_through_their_drivers(self):
        plain = self.model("plain", source="csv", path="loans.csv")
        with sources.sqlite3.connect(self.folder / "loans.db") as database:
            database.execute("create table loans (at integer, member integer, amount real, income real, grade integer, "
                             "home text, paid text, rate real, status text)")
            database.executemany("insert into loans values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                 [[i, *[None if v == "" else v for v in r.values()]] for i, r in enumerate(self.records)])
        database.close()
        lite = {"source": "adbc", "driver": str(DRIVERS / "libadbc_driver_sqlite.so"),
                "options": {"uri": str(self.folder / "loans.db")}, "query": "select * from loans order by at"}
        self.assertEqual(self.model("sqlite", **lite), plain)
        self.assertEqual(self.model("narrow", **lite, dialect="sqlite"), plain)
        with sources.Server() as server:
            server.sql("create table loans (at serial, member bigint, amount numeric, income double precision, "
                       "grade smallint, home text, paid text, rate numeric(10,4), status varchar(9))")
            with open(self.folder / "loans.csv", encoding="utf8") as file:
                server.sql("copy loans (member, amount, income, grade, home, paid, rate, status) "
                           "from stdin (format csv, header)", file)
            remote = {"source": "adbc", "driver": str(DRIVERS / "libadbc_driver_postgresql.so"),
                      "option_files": {"uri": "uri"}, "query": "select * from loans order by at;"}
            (self.folder / "uri").write_text(f"postgresql:///postgres?host={server.folder}&user=parley\n")
            self.assertEqual(self.model("postgres", **remote), plain)
            self.assertEqual(self.model("narrowed", **remote, dialect="postgresql"), plain)


class OddFiles(InFolder):
    def use(self, dataset, rows, columns, memory_mb=1000):
        write(self.folder, "c.toml", charter({"column": "y", "bounds": [-9, 9]},
                                             [number(f"x{i}", -9, 9, 0) for i in range(columns)], {"bank": rows}))
        write(self.folder, "p.toml", policy("bank", dataset) + block("[limits]", {"memory_mb": memory_mb}))

    def describe(self):
        return subprocess.Popen([BINARY, "--quiet", "data", "describe", "--charter", "c.toml", "--policy", "p.toml"],
                                cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def write_numbers(self, rows, columns, file="d.parquet"):
        numbers = ", ".join(f"random() * 4 - 2 as x{i}" for i in range(columns))
        subprocess.run([PYTHON, "-c", f"import duckdb; duckdb.sql(\"set threads = 2; set preserve_insertion_order = false; "
                                      f"copy (select {numbers}, random() as y from range({rows})) "
                                      f"to '{file}' (format parquet)\")"], cwd=self.folder, check=True)

    def test_truncated_and_damaged_files_are_named_and_crash_nothing(self):
        self.write_numbers(3000, 4)
        self.use(parquet("odd.parquet"), 3000, 4)
        whole = (self.folder / "d.parquet").read_bytes()
        chance, ends = random.Random(8), {}
        for i in range(DAMAGED):
            damaged = bytearray(whole)
            if i % 3 == 0:
                del damaged[chance.randrange(len(whole)):]
            else:  # Half of these in the last part, where the structure is described.
                begin = 0 if i % 3 == 1 else len(whole) - 1500
                for _ in range(chance.choice([1, 3, 30])):
                    damaged[chance.randrange(begin, len(whole))] = chance.randrange(256)
            (self.folder / "odd.parquet").write_bytes(bytes(damaged))
            with self.describe() as process:
                said = process.communicate(timeout=100)[1]
            self.assertIn(process.returncode, (0, 1, 2), said)
            if process.returncode:
                self.assertIn("odd.parquet", said)
            ends[process.returncode] = ends.get(process.returncode, 0) + 1
            if "by signal" in said:
                ends["of them by a signal"] = ends.get("of them by a signal", 0) + 1
        print(f"{DAMAGED} damaged files: exit status and how often: {ends}", flush=True)

    def test_a_file_of_several_times_the_limit_is_read_within_it(self):
        columns = 10
        rows = LARGE_MB * 10**6 // (8 * (columns + 1))
        self.write_numbers(rows, columns)
        size = (self.folder / "d.parquet").stat().st_size
        self.use(parquet("d.parquet"), rows, columns, memory_mb=LIMIT_MB)
        began = time.monotonic()
        with self.describe() as process:
            most = most_memory(process)
            said = process.communicate()[1]
        self.assertEqual(process.returncode, 0, said)
        print(f"{rows} rows, {size / 1e6:.0f} MB of Parquet read in {time.monotonic() - began:.0f} s with memory_mb = "
              f"{LIMIT_MB}: most memory in MB {({who: round(memory) for who, memory in most.items()})}", flush=True)
        self.assertLess(sum(most.values()), LIMIT_MB)

    def test_time_beside_our_csv_reader(self):
        rows, columns = 500_000, 10
        self.write_numbers(rows, columns)
        subprocess.run([PYTHON, "-c", "import duckdb; duckdb.sql(\"copy (from 'd.parquet') to 'd.csv' (header)\")"],
                       cwd=self.folder, check=True)
        seconds, described = {}, {}
        for name, dataset in [("csv", {"source": "csv", "path": "d.csv"}), ("parquet", parquet("d.parquet"))] * 2:
            self.use(dataset, rows, columns)
            began = time.monotonic()
            found = self.json("data", "describe", "--charter", "c.toml", "--policy", "p.toml")
            seconds[name] = min(seconds.get(name, 1e9), time.monotonic() - began)
            del found["source"]
            described[name] = found
        self.assertEqual(described["csv"], described["parquet"])
        print(f"{rows} x {columns} numbers: CSV {seconds['csv']:.2f} s, Parquet {seconds['parquet']:.2f} s, ratio "
              f"{seconds['parquet'] / seconds['csv']:.2f}", flush=True)


def most_memory(process):
    """Waits for a process, and says how much memory in MB that is not of files it and its child had at most."""
    most = {}
    while process.poll() is None:
        for who, memory in anonymous(process.pid).items():
            most[who] = max(most.get(who, 0), memory)
        time.sleep(.05)
    return most


def anonymous(process):
    """Memory in MB that is not of files, of a process and of its child."""
    found = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in file.read_text().splitlines() if ":\t" in line)
        except (OSError, ValueError):
            continue
        if int(fields["Pid"]) == process or int(fields["PPid"]) == process:
            who = "owner" if int(fields["Pid"]) == process else "driver"
            found[who] = int(fields.get("RssAnon", "0 kB").split()[0]) / 1024
    return found


if __name__ == "__main__":
    main()
