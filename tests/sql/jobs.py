"""Whole networked jobs with owners in PostgreSQL, Parquet through DuckDB, Spark, Dask, Ray and CSV: the model is
that of files, bit for bit. Started by `scripts/check sql`."""

import os
import pathlib
import subprocess
import sys
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end"), str(HERE)]
import consortium  # noqa: E402
import sql as cases  # noqa: E402
from tables import ENGINE, PYTHON  # noqa: E402
from parley import main  # noqa: E402
from sources import Server  # noqa: E402

PARQUET = "import duckdb; duckdb.sql(\"copy (select * from read_csv('{0}.csv') {2}) to '{1}' (format parquet)\")"


class ParquetJobs(cases.Jobs):
    test_the_model_of_databases_is_that_of_files_bit_for_bit = None  # In scripts/test.
    test_an_engine_that_dies_spends_nothing_and_the_next_one_goes_on = None
    test_an_engine_that_computes_something_else_or_lacks_rows_is_refused = None

    def setUp(self):
        super().setUp()
        self.job = self.consortium()
        self.parley("simulate", self.job.charter, "--data", "data", "--seed", "5", "--out", "files")

    def parquet_of(self, owner, parts=1):
        """The owner's rows in so many files; their names as a pattern."""
        data = self.folder / "data" / owner
        for part in range(parts):
            subprocess.run([PYTHON, "-c", PARQUET.format(
                data, f"{data}-{part}.parquet", f"limit 700 offset {700 * part}" if parts > 1 else "")], check=True)
        return f"{data}-*.parquet"

    def use_command(self, owner, engine, dialect, query, *words):
        self.use(owner, cases.engine_lines("command", dialect=dialect, query=query,
                                           command=[PYTHON, str(ENGINE), engine, *words]))

    def use_final(self, owner, engine, dialect, table, *words):
        """Of every row of the table a draft stands beside it, which the policy leaves out."""
        self.use_command(owner, engine, dialect, f"select *, 'final' as status from {table} union all "
                                                 f"select *, ' draft ' from {table}", *words)
        policy = self.folder / owner / "policy.toml"
        policy.write_text(policy.read_text().replace(
            'engine = "sql"', 'engine = "sql"\nwhere = { column = "status", not_in = ["draft"] }'))

    def test_postgresql_parquet_and_spark_give_the_model_of_files(self):
        with Server() as server:
            self.use_postgres("bank-a", server)
            self.use_final("bank-b", "duckdb", "duckdb", f"read_parquet('{self.parquet_of('bank-b')}')")
            self.use_final("bank-c", "spark", "spark", "loans", f"loans={self.parquet_of('bank-c')}")
            self.assertEqual(self.play(self.job), self.theta("files"))

    def test_dask_ray_and_a_file_give_the_model_of_files(self):
        for owner, engine in [("bank-a", "dask"), ("bank-b", "ray")]:
            self.use_command(owner, engine, "duckdb", "select * from rows", self.parquet_of(owner, parts=3))
        self.assertEqual(self.play(self.job), self.theta("files"))


BANKS = (*consortium.OWNERS, "bank-d")


class FourBanks(consortium.Consortium):
    def write_charter(self, file=None, **changes):
        fourth = "\n".join(["[[owner]]", 'name = "bank-d"', f'sign_key = "{self.sign_keys["bank-d"]}"',
                            f"rows = {self.rows}", f"epsilon = {self.epsilon}", "", "[network]",
                            "deadline_s = 300", "[learner]"])
        super().write_charter(file, replace=[("[learner]", fourth), *changes.get("replace", [])])


class RowsOfParquet(ParquetJobs):
    """Rows come from Parquet through DuckDB's library; other owners' stay in PostgreSQL and Spark, or lie in a file."""
    test_postgresql_parquet_and_spark_give_the_model_of_files = None
    test_dask_ray_and_a_file_give_the_model_of_files = None
    patience = 600  # Spark may need a minute before its first answer.

    def setUp(self):
        for module in (consortium, cases):
            patch = mock.patch.object(module, "OWNERS", BANKS)
            patch.start()
            self.addCleanup(patch.stop)
        super().setUp()

    def consortium(self):
        made = FourBanks(self.folder)
        made.write_charter(replace=[("evaluate      = 0.0 ", "evaluate      = 0.1 ")])
        return made

    def test_postgresql_parquet_spark_and_a_file_give_the_model_of_four_files(self):
        driver = pathlib.Path(os.environ["PARLEY_DRIVERS"]) / "libduckdb.so"
        with Server() as server:
            self.use_postgres("bank-a", server)
            self.use("bank-b", f'source = "parquet"\npath = "{self.parquet_of("bank-b", parts=3)}"\n'
                               f'driver = "{driver}"')
            self.use_command("bank-c", "spark", "spark", "select * from loans", f"loans={self.parquet_of('bank-c')}")
            for owner in BANKS:
                self.parley("owner", "check", f"{owner}/policy.toml", self.job.charter, "--dial", "127.0.0.1:1")
            self.assertEqual(self.play(self.job), self.theta("files"))


if __name__ == "__main__":
    main()
