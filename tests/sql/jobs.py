"""A whole networked job with an owner in Parquet through DuckDB, one in SQLite and one in CSV: the model is
that of three files, bit for bit. Started by `scripts/check sql`."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end"), str(HERE)]
import sql as cases  # noqa: E402
from dialects import ENGINE, PYTHON  # noqa: E402
from parley import BINARY, main  # noqa: E402

PARQUET = "import duckdb; duckdb.sql(\"copy (select * from read_csv('{0}.csv')) to '{0}.parquet'\")"


class ParquetJobs(cases.Jobs):
    test_the_model_of_databases_is_that_of_files_bit_for_bit = None  # In scripts/test.
    test_an_engine_that_dies_spends_nothing_and_the_next_one_goes_on = None

    def test_parquet_through_duckdb_gives_the_model_of_files(self):
        consortium = self.consortium()
        self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out", "files")
        bank = self.folder / "data" / "bank-a"
        subprocess.run([PYTHON, "-c", PARQUET.format(bank)], check=True)
        self.use("bank-a", cases.engine_lines("command", dialect="duckdb",
                                              command=[PYTHON, str(ENGINE), "duckdb"],
                                              query=f"select * from read_parquet('{bank}.parquet')"))
        self.sqlite_of("bank-b")
        self.use("bank-b", cases.engine_lines("sqlite", path="../data/bank-b.db",
                                              query="select * from loans", command=[str(BINARY), "engine"]))
        self.assertEqual(self.play(consortium), self.theta("files"))


if __name__ == "__main__":
    main()
