"""The same data from files and databases gives the same model, bit for bit."""

import csv
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from charters import category, charter, number, policy, write
from parley import InFolder, main

ROWS = 600
COLUMNS = [number("amount", 0, 40000, 1000), number("income", 0, 1e6, 50000, log=True),
           number("grade", 0, 7, 3), category("home", ["RENT", "OWN"], other=True),
           category("paid", ["f", "t"], encode="integer")]
TARGET = {"column": "rate", "bounds": [0, 30], "center": 15, "scale": 10}


def records():
    """Rows with missing values, odd texts and repeated members, from a fixed seed."""
    chance = random.Random(3)
    for i in range(ROWS):
        yield {"member": 10**16 + chance.randrange(400),
               "amount": "" if i % 17 == 0 else round(chance.uniform(500, 45000), 2),
               "income": "" if i % 23 == 0 else chance.lognormvariate(11, 1),
               "grade": "" if i % 29 == 0 else chance.randrange(9),
               "home": chance.choice(["RENT", "OWN", "MORTGAGE", " OWN", ""]),
               "paid": chance.choice(["t", "f", ""]),
               "rate": round(chance.uniform(-1, 31), 4),
               "status": chance.choice(["done", "done", "draft"])}


class Sources(InFolder):
    def setUp(self):
        super().setUp()
        self.records = list(records())
        with open(self.folder / "loans.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(self.records[0]))
            writer.writeheader()
            writer.writerows(self.records)
        self.used = sum(record["status"] != "draft" for record in self.records)
        write(self.folder, "c.toml",
              charter(TARGET, COLUMNS, {"bank": self.used},
                      {"unit": "member_id", "unit_records": 2}))

    def model(self, out, **dataset):
        """The model file trained from a policy's data set."""
        write(self.folder, f"{out}.policy.toml",
              policy("bank", {"columns": {"member_id": "member"},
                              "where": {"column": "status", "not_in": ["draft"]}, **dataset},
                     {"column": "member", "records": 2}))
        self.parley("--quiet", "simulate", "c.toml", "--policy", f"{out}.policy.toml", "--seed", "5",
                    "--out", out)
        described = self.json("data", "describe", "--charter", "c.toml", "--policy",
                              f"{out}.policy.toml")
        del described["source"], described["parley"]
        return (self.folder / out / "model.json").read_bytes(), described

    def test_csv_packed_csv_and_sqlite_give_the_same_model(self):
        plain, described = self.model("plain", source="csv", path="loans.csv")
        self.assertEqual(described["rows"], self.used)
        self.assertGreater(described["over_unit_records"], 0)
        self.assertGreater(described["replaced"], 0)
        subprocess.run(["zstd", "-q", "loans.csv", "-o", "packed"], cwd=self.folder, check=True)
        self.assertEqual(self.model("zst", source="csv", path="packed"), (plain, described))
        with sqlite3.connect(self.folder / "loans.db") as database:
            database.execute("create table loans (member integer, amount real, income real, "
                             "grade integer, home text, paid text, rate real, status text)")
            database.executemany("insert into loans values (?, ?, ?, ?, ?, ?, ?, ?)",
                                 [[None if v == "" else v for v in r.values()]
                                  for r in self.records])
        database.close()
        self.assertEqual(
            self.model("sqlite", source="sqlite", path="loans.db",
                       query="select * from loans order by rowid"), (plain, described))

    @unittest.skipUnless(os.path.isdir("/usr/lib/postgresql"), "no PostgreSQL server here")
    def test_postgres_gives_the_same_model(self):
        plain = self.model("plain", source="csv", path="loans.csv")
        with Server() as server:
            server.sql("create table loans (at serial, member bigint, amount numeric, "
                       "income double precision, grade smallint, home text, paid boolean, "
                       "rate numeric(10,4), status varchar(9))")
            with open(self.folder / "loans.csv") as file:
                server.sql("copy loans (member, amount, income, grade, home, paid, rate, status) "
                           "from stdin (format csv, header)", file)
            found = self.model("postgres", source="postgres", dsn=server.dsn,
                               query="select * from loans order by at;")
            self.assertEqual(found, plain)
            # The binary values of both kinds of floats are those that CSV shows.
            server.sql("alter table loans alter amount type real, alter rate type double precision")
            shown = server.sql("copy (select * from loans order by at) to stdout (format csv, header)")
            write(self.folder, "shown.csv", shown)
            self.assertEqual(
                self.model("real", source="postgres", dsn=server.dsn,
                           query="select * from loans order by at"),
                self.model("shown", source="csv", path="shown.csv"))
            self.check_errors(server)

    def check_errors(self, server):
        for query, exit_code, key in [("select * from nothing", 2, "query"),
                                      ("delete from loans returning *", 2, "query"),
                                      ("select amount from loans", 2, "income"),
                                      ("select *, now() as amount2 from loans", 0, None),
                                      ("select status::date, * from loans", 1, "query")]:
            write(self.folder, "e.policy.toml",
                  policy("bank", {"source": "postgres", "dsn": server.dsn, "query": query,
                                  "columns": {"member_id": "member"}}))
            done = self.parley("--json", "data", "describe", "--charter", "c.toml", "--policy",
                               "e.policy.toml", expect=exit_code)
            if key:
                self.assertIn(f'"key": "{key}"', done.stdout)
            self.assertNotIn("draft", done.stdout + done.stderr, "an error shows no record")
        write(self.folder, "e.policy.toml",
              policy("bank", {"source": "postgres", "dsn": "host=/nowhere", "query": "select 1"}))
        self.parley("data", "describe", "--charter", "c.toml", "--policy", "e.policy.toml", expect=4)

    def test_one_file_is_split_in_blocks_or_by_a_column(self):
        for i, record in enumerate(self.records):
            record["bank"] = ["Bank A", "Bank B", "Other"][i % 3]
        with open(self.folder / "all.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(self.records[0]))
            writer.writeheader()
            writer.writerows(self.records)
        write(self.folder, "two.toml",
              charter(TARGET, COLUMNS, {"bank-a": 200, "bank-b": 200}))
        by = self.json("simulate", "two.toml", "--split", "all.csv", "--by", "bank")
        self.assertEqual([o["rows"] for o in by["data"]], [200, 200])
        blocks = self.json("simulate", "two.toml", "--split", "all.csv", "--out", "blocks")
        lines = (self.folder / "all.csv").read_text().splitlines()
        for name, part in [("bank-a", lines[1:201]), ("bank-b", lines[201:401])]:
            write(self.folder, f"{name}.csv", "\n".join([lines[0], *part]))
        files = self.json("simulate", "two.toml", "--data", ".", "--out", "files")
        self.assertEqual((self.folder / "blocks" / "model.json").read_bytes(),
                         (self.folder / "files" / "model.json").read_bytes())
        self.assertEqual(blocks["result"], files["result"])

    def test_a_policy_with_a_cap_refuses_a_charter_whose_unit_is_another(self):
        write(self.folder, "p.toml", policy("bank", {"source": "csv", "path": "loans.csv"},
                                            {"column": "member", "records": 2}))
        for unit in ["record", "status"]:
            done = self.parley("simulate", "c.toml", "--policy", "p.toml",
                               "--set", f"privacy.unit={unit}", expect=3)
            self.assertIn("caps the records of one member", done.stderr)

    def test_another_number_of_rows_is_refused_with_both_numbers(self):
        write(self.folder, "p.toml", policy("bank", {"source": "csv", "path": "loans.csv",
                                                     "columns": {"member_id": "member"}}))
        done = self.parley("simulate", "c.toml", "--policy", "p.toml", expect=2)
        self.assertIn(f"holds {ROWS} rows, the charter says {self.used}", done.stderr)

    def test_many_columns_in_one_block_are_those_columns(self):
        many = charter({"column": "y", "levels": ["-1", "+1"]},
                       [number("f", 0, 1, 0, count=3)], {"bank": 4})
        each = charter({"column": "y", "levels": ["-1", "+1"]},
                       [number(f"f{i}", 0, 1, 0) for i in (1, 2, 3)], {"bank": 4})
        write(self.folder, "many.toml", many)
        write(self.folder, "each.toml", each)
        self.assertEqual(self.parley("charter", "hash", "many.toml").stdout,
                         self.parley("charter", "hash", "each.toml").stdout)
        write(self.folder, "d.libsvm", "+1 1:1\n-1 2:1\n+1 1:1 3:0.5\n-1 7:1\n")
        write(self.folder, "d.csv", "f1,f2,f3,y\n1,0,0,+1\n0,1,0,-1\n1,0,0.5,+1\n0,0,0,-1\n")
        for name in ["libsvm", "csv"]:
            self.parley("simulate", "many.toml", "--data", f"bank=d.{name}", "--out", name)
        self.assertEqual((self.folder / "csv" / "model.json").read_bytes(),
                         (self.folder / "libsvm" / "model.json").read_bytes())
        self.assertEqual(self.parley("predict", "csv/model.json", "d.csv").stdout,
                         self.parley("predict", "csv/model.json", "d.libsvm").stdout)
        described = self.json("data", "describe", "d.libsvm", "--charter", "many.toml")
        self.assertEqual((described["rows"], described["ignored"]), (4, 1))
        done = self.parley("charter", "check", "many.toml", "--set", "column.0.count=0", expect=2)
        self.assertIn("column[0].count", done.stderr)


class Server:
    """A private PostgreSQL server in a folder of its own, on a Unix socket only."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parley-pg-", dir="/tmp"))
        self.as_user = []
        if os.geteuid() == 0:  # initdb refuses root.
            shutil.chown(self.folder, "postgres")
            self.as_user = ["runuser", "-u", "postgres", "--"]
        self.folder.chmod(0o755)
        self.programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"),
                            key=lambda folder: int(folder.parent.name))
        self.run("initdb", "-D", self.folder / "data", "-U", "parley", "--auth=trust", "-E", "UTF8",
                 "--no-sync", "--locale=C")
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o",
                 f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off",
                 "start")
        self.dsn = f"host={self.folder} user=parley dbname=postgres"
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program, *arguments):
        subprocess.run([*self.as_user, self.programs / program, *map(str, arguments)], check=True,
                       cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.STDOUT, timeout=120)

    def sql(self, statement, stdin=subprocess.DEVNULL):
        return subprocess.run([self.programs / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d",
                               self.dsn, "-c", statement], check=True, text=True, stdin=stdin,
                              stdout=subprocess.PIPE, timeout=60).stdout


if __name__ == "__main__":
    main()
