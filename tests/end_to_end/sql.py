"""Rows that stay in a database: the same integers, models and promises as rows that are read."""

import contextlib
import csv
import json
import os
import random
import sqlite3
import sys
import time
import unittest

from charters import category, charter, number, write
from consortium import OWNERS, Consortium, must
from parley import BINARY, InFolder, main
from sql_engines import Engine

sys.path.insert(0, os.path.dirname(__file__))
from sources import Server  # noqa: E402

POSTGRES = unittest.skipUnless(os.path.isdir("/usr/lib/postgresql"), "no PostgreSQL server here")

COLUMNS = [number("a", -3, 3, 0.25), number("b", -0.5, 1e6, 10, log=True), number("c", -1e130, 1e130, 0),
           category("home", ["RENT", "OWN"], other=True),
           category("grade", ["A", "B", "C"], encode="integer")]
NUMBER = {"column": "y", "bounds": [-10, 12], "center": 1, "scale": 3}
CLASSES = {"column": "paid", "levels": ["no", "yes"]}
TABLE = "create table t (a double precision, b double precision, c double precision, home text, " \
        "grade text, y double precision, paid text)"
ODD = ["NaN", "Infinity", "-Infinity", "1e308", "-1.7976931348623157e308", "5e-324", "1e-310", "-1e-200",
       "1e-150", "0", "-0.0", "3", "-1", ""]


def ordinary(count, seed):
    chance = random.Random(seed)
    for _ in range(count):
        yield [chance.gauss(0, 1), chance.lognormvariate(3, 2), chance.gauss(0, 1e3),
               chance.choice(["RENT", " OWN", "x", ""]), chance.choice(["A", "B", "C", "D", ""]),
               chance.gauss(1, 5), chance.choice(["no", "yes", "?"])]


def hostile(count):
    chance = random.Random(9)
    texts = ["RENT", "", " ", "\\", "'", "x" * 500, "\u00a0", "yes", "no", "A"]
    for _ in range(count):
        numbers = [chance.choice(ODD) for _ in range(4)]
        words = [chance.choice(texts) for _ in range(3)]
        yield numbers[:3] + words[:2] + [numbers[3], words[2]]


def to_csv(folder, rows):
    file = folder / "rows.csv"
    with open(file, "w", newline="", encoding="utf8") as out:
        csv.writer(out).writerows(rows)
    return file


def to_sqlite(folder, rows):
    """NaN is a missing value there, an empty text too."""
    file = folder / "rows.db"
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("drop table if exists t")
        database.execute(TABLE)
        cells = lambda row: [None if cell in ("", "NaN") else float(cell) if i in (0, 1, 2, 5) else cell
                             for i, cell in enumerate(row)]
        database.executemany("insert into t values (?, ?, ?, ?, ?, ?, ?)", map(cells, rows))
    return file


class Integers(InFolder):
    def statements(self, target, loss, dialect, **privacy):
        write(self.folder, "c.toml", charter(target, COLUMNS, {"bank": 1000}, privacy, loss))
        return self.json("data", "sql", "c.toml", "--dialect", dialect, "--query", "select * from t")

    def cases(self):
        for target, losses in [(NUMBER, ["squared", "huber"]), (CLASSES, ["logistic", "hinge"])]:
            for loss in losses:
                yield target, loss, {}
                yield target, loss, {"mechanism": "gaussian", "delta": 1e-6}

    @POSTGRES
    def test_postgresql_makes_the_integers_of_sqlite_of_ordinary_and_hostile_rows(self):
        theta = [0.3, -0.2, 1e-4, 0.5, -0.25, 0.125, 0.7, -0.9]
        with Server() as server:
            for rows in (list(ordinary(3000, 1)), list(hostile(10000))):
                server.sql("drop table if exists t")
                server.sql(TABLE)
                with open(to_csv(self.folder, rows), encoding="utf8") as file:
                    server.sql("copy t from stdin (format csv, force_not_null (home, grade, paid))", file)
                file = to_sqlite(self.folder, rows)
                query = "select * from t"
                with Engine([BINARY, "engine"], "postgresql", query, dsn=server.dsn) as there, \
                     Engine([BINARY, "engine"], "sqlite", query, path=str(file)) as here:
                    for target, loss, privacy in self.cases():
                        with self.subTest(rows=len(rows), loss=loss, **privacy):
                            found = there.ask(
                                self.statements(target, loss, "postgresql", **privacy)["answer"], theta)
                            expected = here.ask(
                                self.statements(target, loss, "sqlite", **privacy)["answer"], theta)
                            self.assertEqual(found, expected)
                            self.assertEqual(found[0], len(rows))


    @POSTGRES
    def test_types_of_columns_are_those_of_their_texts(self):
        """Decimals that no double holds, whole numbers, booleans and single precision, beside the same values as
        double precision and text."""
        theta = [0.3, -0.2, 1e-4, 0.5, -0.25, 0.125, 0.7, -0.9]
        odd = ["NaN", "1e400", "-1e400", "1e-400", "-1e-320", "1e308", "0", "-0.5", "2.25", "123456789.125", None]
        chance = random.Random(3)
        sql = lambda value: "null" if value is None else f"'{value}'"
        typed = charter(NUMBER, COLUMNS[:3] + [category("home", ["t", "f"], other=True),
                                               category("grade", ["1", "2", "3"], encode="integer")],
                        {"bank": 1000}, {}, "squared")
        write(self.folder, "c.toml", typed)
        with Server() as server:
            server.sql("create table t (a numeric, b bigint, c real, home boolean, grade integer, y numeric)")
            rows = []
            for _ in range(500):
                rows.append([chance.choice(odd), chance.choice([-2**63, 2**63 - 1, 0, 7, None]),
                       chance.choice(["NaN", "Infinity", "-1e-45", "3e38", "0.5", None]),
                       chance.choice(["true", "false", None]), chance.choice([1, 2, 3, 4, None]), chance.choice(odd)])
            server.sql("insert into t values " + ", ".join(f"({', '.join(map(sql, row))})" for row in rows))
            # What does not fit into a double precision is 0 if it is tiny, and else missing.
            plain = "case when abs({0}) < 1e-300 then 0 when abs({0}) <= 1e308 then {0}::double precision end"
            server.sql("create table plain as select " + plain.format("a") + " as a, b::double precision as b, "
                       "c::double precision as c, left(home::text, 1) as home, grade::text as grade, " + plain.format("y") + " as y from t")
            found = {}
            for table in ("t", "plain"):
                policy = self.folder / f"{table}.policy.toml"
                policy.write_text("\n".join([
                    '[owner]', 'name = "bank"', f'state = "{table}"', 'charters = "charters"', '',
                    '[[dataset]]', 'name = "rows"',
                    engine_lines("postgres", dsn=server.dsn, query=f"select * from {table}", command=[str(BINARY), "engine"]),
                    '[dataset.budget]', 'epsilon = 4.0', '', '[[accept]]', 'consortium = "test.example"', 'dataset = "rows"', 'epsilon_max = 4.0']) + "\n")
                asked = self.json("data", "sql", "c.toml", "--policy", policy)["answer"]
                with Engine([BINARY, "engine"], "postgresql", f"select * from {table}", dsn=server.dsn) as engine:
                    found[table] = engine.ask(asked, theta)
            self.assertEqual(found["t"], found["plain"])
            self.assertEqual(found["t"][0], 500)

    def same_until_reopened(self, dialect, change, **where):
        """What changes in the table is seen by the next engine only."""
        theta = [0.3, -0.2, 1e-4, 0.5, -0.25, 0.125, 0.7, -0.9]
        asked = self.statements(NUMBER, "squared", dialect)["answer"]
        with Engine([BINARY, "engine"], dialect, "select * from t", **where) as engine:
            before = engine.ask(asked, theta)
            change("delete from t where y > 0")
            self.assertEqual(engine.ask(asked, theta), before)
        with Engine([BINARY, "engine"], dialect, "select * from t", **where) as engine:
            self.assertLess(engine.ask(asked, theta)[0], before[0])

    def test_sqlite_keeps_one_snapshot(self):
        file = to_sqlite(self.folder, ordinary(500, 1))

        def change(sql):
            with contextlib.closing(sqlite3.connect(file)) as database, database:
                database.execute(sql)
        change("pragma journal_mode = wal")
        self.same_until_reopened("sqlite", change, path=str(file))

    @POSTGRES
    def test_postgresql_keeps_one_snapshot(self):
        with Server() as server:
            server.sql(TABLE)
            with open(to_csv(self.folder, ordinary(500, 1)), encoding="utf8") as file:
                server.sql("copy t from stdin (format csv, force_not_null (home, grade, paid))", file)
            self.same_until_reopened("postgresql", server.sql, dsn=server.dsn)


def engine_lines(source, **keys):
    return "\n".join([f'source = "{source}"', 'engine = "sql"',
                      *[f"{key} = {json.dumps(value)}" for key, value in keys.items()]])


def end(process):
    process.kill()
    process.wait(60)


class Jobs(InFolder):
    patience = 200  # seconds

    def consortium(self):
        consortium = Consortium(self.folder)
        consortium.write_charter(replace=[("evaluate      = 0.0 ", "evaluate      = 0.1 ")])
        return consortium

    def use(self, owner, lines):
        """Replaces the source of an owner's data set."""
        file = self.folder / owner / "policy.toml"
        text = file.read_text()
        old = f'source = "csv"\npath = "../data/{owner}.csv"'
        self.assertIn(old, text)
        file.write_text(text.replace(old, lines))

    def play(self, consortium):
        learner, port = consortium.learner(wait=self.patience)
        owners = [consortium.owner(owner, port, seed=5) for owner in OWNERS]
        self.addCleanup(lambda: [end(each) for each in (learner, *owners)])
        self.assertEqual(learner.wait(self.patience), 0, consortium.log("learner") + consortium.log("bank-a"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        must("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
             *[word for owner in OWNERS
               for word in ("--ledger", f"{owner}={owner}/state/ledger.db")], cwd=self.folder)
        return self.theta("job")

    def theta(self, out):
        return json.loads((self.folder / out / "model.json").read_text())["model"]["theta"]

    def sqlite_of(self, owner):
        with open(self.folder / "data" / f"{owner}.csv", newline="", encoding="utf8") as file:
            names, *rows = csv.reader(file)
        kinds = self.kinds(names, rows)
        database = self.folder / "data" / f"{owner}.db"
        with contextlib.closing(sqlite3.connect(database)) as made, made:
            made.execute("create table loans (" + ", ".join(
                f'"{name}" {kind}' for name, kind in zip(names, kinds)) + ")")
            made.executemany(f"insert into loans values ({', '.join('?' * len(names))})",
                             [[cell or None for cell in row] for row in rows])
        return database, names, kinds

    def use_postgres(self, owner, server):
        _, names, kinds = self.sqlite_of(owner)
        # Every second number as a decimal one, which may fail to become a double.
        kinds = ["numeric" if kind != "text" and i % 2 else kind for i, kind in enumerate(kinds)]
        server.sql("create table loans (" + ", ".join(
            f'"{name}" {kind}' for name, kind in zip(names, kinds)) + ")")
        with open(self.folder / "data" / f"{owner}.csv", encoding="utf8") as file:
            server.sql("copy loans from stdin (format csv, header)", file)
        self.use(owner, engine_lines("postgres", dsn=server.dsn, query="select * from loans",
                                     command=[str(BINARY), "engine"]))

    @staticmethod
    def kinds(names, rows):
        def is_number(cell):
            with contextlib.suppress(ValueError):
                return float(cell) is not None
            return cell == ""
        return ["double precision" if all(is_number(row[i]) for row in rows) else "text"
                for i in range(len(names))]

    @POSTGRES
    def test_the_model_of_databases_is_that_of_files_bit_for_bit(self):
        consortium = self.consortium()
        self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out", "files")
        with Server() as server:
            self.use_postgres("bank-a", server)
            self.sqlite_of("bank-b")
            self.use("bank-b", engine_lines("sqlite", path="../data/bank-b.db",
                                            query="select * from loans", command=[str(BINARY), "engine"]))
            self.parley("owner", "check", "bank-a/policy.toml", consortium.charter, "--dial",
                        "127.0.0.1:1")
            self.assertEqual(self.play(consortium), self.theta("files"))

    def test_an_engine_that_computes_something_else_or_lacks_rows_is_refused(self):
        consortium = self.consortium()
        self.sqlite_of("bank-a")
        wrong = self.folder / "wrong.py"
        wrong.write_text(
            "import json, subprocess, sys\n"
            f"child = subprocess.Popen([{str(BINARY)!r}, 'engine'], stdin=subprocess.PIPE,"
            " stdout=subprocess.PIPE)\n"
            "for line in sys.stdin.buffer:\n"
            "    child.stdin.write(line); child.stdin.flush()\n"
            "    reply = json.loads(child.stdout.readline())\n"
            "    if len(reply.get('numbers', [])) > 2:\n"
            "        reply['numbers'][2] = str(int(reply['numbers'][2]) + 1000)\n"
            "    print(json.dumps(reply), flush=True)\n")
        for lines, says in [
                (engine_lines("sqlite", path="../data/bank-a.db", query="select * from loans",
                              command=[sys.executable, str(wrong)]),
                 "the database does not compute what the charter says"),
                (engine_lines("sqlite", path="../data/bank-a.db",
                              query="select * from loans limit 1999"), "1999 rows")]:
            with self.subTest(says):
                policy = (self.folder / "bank-a" / "policy.toml").read_text()
                self.use("bank-a", lines)
                done = self.parley("owner", "check", "bank-a/policy.toml", consortium.charter, "--dial",
                                   "127.0.0.1:1", expect=3)
                self.assertIn(says, done.stdout)
                (self.folder / "bank-a" / "policy.toml").write_text(policy)

    def test_the_statement_that_is_printed_is_the_one_that_runs(self):
        """With another name for a column in the database, and types that the charter does not know."""
        consortium = self.consortium()
        database, names, _ = self.sqlite_of("bank-a")
        with contextlib.closing(sqlite3.connect(database)) as made, made:
            made.execute(f'alter table loans rename column "{names[0]}" to "FIRST"')
        heard = self.folder / "heard.py"
        heard.write_text(
            "import subprocess, sys\n"
            f"child = subprocess.Popen([{str(BINARY)!r}, 'engine'], stdin=subprocess.PIPE,"
            " stdout=subprocess.PIPE)\n"
            f"with open({str(self.folder / 'heard')!r}, 'ab', buffering=0) as kept:\n"
            "    for line in sys.stdin.buffer:\n"
            "        kept.write(line)\n"
            "        child.stdin.write(line); child.stdin.flush()\n"
            "        sys.stdout.buffer.write(child.stdout.readline()); sys.stdout.buffer.flush()\n")
        self.use("bank-a", engine_lines("sqlite", path="../data/bank-a.db", query="select * from loans",
                                        command=[sys.executable, str(heard)]) + f'\ncolumns = {{ {names[0]} = "FIRST" }}')
        printed = self.json("data", "sql", consortium.charter, "--policy", "bank-a/policy.toml")
        without = self.json("data", "sql", consortium.charter, "--dialect", "sqlite", "--query", "select * from loans")
        self.assertNotEqual(printed["answer"]["text"], without["answer"]["text"])
        (self.folder / "heard").unlink()
        self.play(consortium)
        asked = [json.loads(line) for line in (self.folder / "heard").read_text().splitlines()]
        ran = {each["text"] for each in asked if "from loans" in each.get("text", "")}
        for what in ("answer", "evaluation"):
            self.assertIn(printed[what]["text"], ran, what)
        self.parley("data", "sql", consortium.charter, "--policy", "bank-b/policy.toml", expect=2)  # It reads a file.
        self.parley("data", "sql", consortium.charter, "--policy", "bank-a/policy.toml", "--query", "x", expect=2)

    def test_an_engine_that_dies_spends_nothing_and_the_next_one_goes_on(self):
        consortium = self.consortium()
        self.sqlite_of("bank-a")
        dies = self.folder / "dies.py"
        dies.write_text(
            "import os, subprocess, sys\n"
            f"child = subprocess.Popen([{str(BINARY)!r}, 'engine'], stdin=subprocess.PIPE,"
            " stdout=subprocess.PIPE)\n"
            "seen = 0\n"
            "for line in sys.stdin.buffer:\n"
            "    seen += b'from loans' in line\n"  # The greeting, the count, the first question.
            "    if seen == 3 and not os.path.exists('died'):\n"
            "        open('died', 'w').close()\n"
            "        child.kill(); os._exit(3)\n"
            "    child.stdin.write(line); child.stdin.flush()\n"
            "    sys.stdout.buffer.write(child.stdout.readline()); sys.stdout.buffer.flush()\n")
        self.use("bank-a", engine_lines("sqlite", path="../data/bank-a.db", query="select * from loans",
                                        command=[sys.executable, str(dies)]))
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        self.addCleanup(lambda: [end(each) for each in (learner, *owners.values())])
        self.assertNotEqual(owners["bank-a"].wait(100), 0)
        self.assertIn("engine of the data set has ended", consortium.log("bank-a"))
        self.assertTrue((self.folder / "died").exists())
        self.assertEqual(self.kinds_paid("bank-a"), [("budget",)])
        owners["bank-a"] = consortium.owner("bank-a", port)
        self.assertEqual(learner.wait(200), 0, consortium.log("learner"))
        self.assertEqual(owners["bank-a"].wait(60), 0, consortium.log("bank-a"))

    def test_an_owner_whose_engine_needs_long_stops_when_it_is_told_to_and_ends_it(self):
        consortium = self.consortium()
        self.sqlite_of("bank-a")
        slow, asked = self.folder / "slow.py", self.folder / "asked"
        slow.write_text(
            "import os, subprocess, sys, time\n"
            f"child = subprocess.Popen([{str(BINARY)!r}, 'engine'], stdin=subprocess.PIPE,"
            " stdout=subprocess.PIPE)\n"
            "seen = 0\n"
            "for line in sys.stdin.buffer:\n"
            "    seen += b'from loans' in line\n"  # The greeting, the count, the first question.
            "    if seen == 3 and not os.path.exists('asked'):\n"
            "        open('asked.new', 'w').write(str(os.getpid()))\n"
            "        os.rename('asked.new', 'asked')\n"
            "        time.sleep(60)\n"
            "    child.stdin.write(line); child.stdin.flush()\n"
            "    sys.stdout.buffer.write(child.stdout.readline()); sys.stdout.buffer.flush()\n")
        self.use("bank-a", engine_lines("sqlite", path="../data/bank-a.db", query="select * from loans",
                                        command=[sys.executable, str(slow)]))
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        self.addCleanup(lambda: [end(each) for each in (learner, *owners.values())])
        until = time.monotonic() + 60
        while not asked.exists():
            self.assertLess(time.monotonic(), until, consortium.log("bank-a"))
            time.sleep(0.02)
        owners["bank-a"].terminate()
        self.assertEqual(owners["bank-a"].wait(30), 4, consortium.log("bank-a"))  # It sleeps for 60 s.
        with self.assertRaises(ProcessLookupError):
            os.kill(int(asked.read_text()), 0)
        self.assertEqual(self.kinds_paid("bank-a"), [("budget",)])
        owners["bank-a"] = consortium.owner("bank-a", port)
        self.assertEqual(learner.wait(200), 0, consortium.log("learner"))
        self.assertEqual(owners["bank-a"].wait(60), 0, consortium.log("bank-a"))

    def kinds_paid(self, owner):
        with contextlib.closing(sqlite3.connect(
                f"file:{self.folder}/{owner}/state/ledger.db?mode=ro", uri=True)) as ledger:
            return ledger.execute("SELECT DISTINCT kind FROM charge").fetchall()


if __name__ == "__main__":
    main()
