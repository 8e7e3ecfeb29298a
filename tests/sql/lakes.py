"""Tables of Delta and Iceberg, and a file in an S3 store of this machine, through DuckDB's library and its
extensions: the rows of a CSV file. Started by `scripts/check sql`; PARLEY_EXTENSIONS is the folder of the extensions,
PARLEY_PYTHON an interpreter with deltalake, pyiceberg, moto and boto3."""

import os
import pathlib
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "end_to_end"), str(HERE)]
import by_driver  # noqa: E402
from tables import PYTHON  # noqa: E402
from parley import main  # noqa: E402

EXTENSIONS = pathlib.Path(os.environ["PARLEY_EXTENSIONS"])
TABLE = """
import polars
table = polars.read_csv("loans.csv").with_row_index("place").to_arrow()
"""  # Not every writer keeps the order of rows, in which a person's first ones count.
DELTA = TABLE + """
import deltalake
deltalake.write_deltalake("delta", table)
deltalake.write_deltalake("delta", table.slice(0, 10), mode="append")"""
ICEBERG = TABLE + """
import os, pyiceberg.catalog.sql as sql
catalog = sql.SqlCatalog("c", uri="sqlite:///catalog.db", warehouse="file://" + os.getcwd() + "/iceberg")
catalog.create_namespace("n")
made = catalog.create_table("n.loans", schema=table.schema)
made.append(table)
print(made.metadata_location.replace("file://", ""))"""
S3 = TABLE + """
import boto3, sys, pyarrow.parquet as parquet
parquet.write_table(table, "whole.parquet")
store = boto3.client("s3", endpoint_url=sys.argv[1], aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1")
store.create_bucket(Bucket="loans-of-a")
store.upload_file("whole.parquet", "loans-of-a", "2018/loans.parquet")"""


def load(*names):
    found = [next(EXTENSIONS.glob(f"**/{name}.duckdb_extension")) for name in names]
    return [f"load '{file}'" for file in found]


class Lakes(by_driver.SameRows):
    for name in list(vars(by_driver.SameRows)):
        if name.startswith("test_"):
            locals()[name] = None

    def of_query(self, out, setup, query):
        return self.model(out, source="adbc", driver=by_driver.DUCKDB, entry="duckdb_adbc_init", setup=setup, query=query)

    def write(self, text, *words):
        return subprocess.run([PYTHON, "-c", text, *words], cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()

    def setUp(self):
        super().setUp()
        self.plain = self.model("plain", source="csv", path="loans.csv")

    def test_a_version_of_a_delta_table(self):
        self.write(DELTA)
        query = f"select * from delta_scan('{self.folder}/delta', version = 0) order by place"
        self.assertEqual(self.of_query("delta", load("delta"), query), self.plain)

    def test_a_snapshot_of_an_iceberg_table(self):
        metadata = self.write(ICEBERG).splitlines()[-1]
        self.assertEqual(self.of_query("iceberg", load("avro", "iceberg"),
                                       f"select * from iceberg_scan('{metadata}') order by place"), self.plain)

    def test_a_file_in_an_s3_store(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([pathlib.Path(PYTHON).parent / "moto_server", "-p", str(port)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (server.kill(), server.wait()))
        for _ in range(300):
            with socket.socket() as call:
                if call.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(.2)
        self.write(S3, f"http://127.0.0.1:{port}")
        secret = (f"create secret (type s3, key_id 'a', secret 'b', region 'us-east-1', endpoint '127.0.0.1:{port}', "
                  "use_ssl false, url_style 'path')")
        self.assertEqual(self.of_query("s3", [*load("httpfs"), secret],
                                       "select * from read_parquet('s3://loans-of-a/2018/*.parquet') order by place"), self.plain)


if __name__ == "__main__":
    main()
