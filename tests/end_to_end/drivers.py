"""Rows through an ADBC driver: the same as from a file, whatever type a column has; and a driver that fails,
lies, crashes, hangs, or takes memory without end is named, and takes nothing else along."""

import hashlib
import os
import pathlib
import subprocess
import time

from charters import block, category, charter, number, policy, write
from parley import BINARY, InFolder, main, run

DRIVER = os.environ["PARLEY_FAKE_DRIVER"]
TARGET = {"column": "y", "bounds": [0, 10]}
COLUMNS = [number("x", -20, 20, 3), number("k", 0, 9, 1), category("t", ["RENT", "OWN"], other=True)]
ODD = ["nan", "inf", "-inf", "1e308", "5e-324", "-0.0"]


def loans(count, odd):
    """What the driver gives, as it says of itself."""
    for i in range(count):
        x = ODD[i // 2 % 6] if odd and i % 2 else repr(i % 97 / 8)
        there = i % 7 != 0
        yield [x if there else "", str(i % 5) if there else "", ["RENT", " OWN ", ""][i % 3], repr(i % 31 / 4)]


def parents():
    """Of every process that is not over."""
    found = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = file.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            found[int(file.parent.name)] = int(parent)
    return found


def driver(query, **more):
    return {"source": "adbc", "driver": DRIVER, "query": query, **more}


class Drivers(InFolder):
    def use(self, dataset, rows, columns=None, limits=None, unit=None, target=None):
        write(self.folder, "c.toml", charter(target or TARGET, columns or COLUMNS, {"bank": rows},
                                             {"unit": "k", "unit_records": 5} if unit else None))
        write(self.folder, "p.toml", policy("bank", dataset, unit) + block("[limits]", limits or {"database_s": 60}))

    def model(self, out, *use, **more):
        self.use(*use, **more)
        self.parley("--quiet", "simulate", "c.toml", "--policy", "p.toml", "--seed", "5", "--out", out)
        described = self.json("data", "describe", "--charter", "c.toml", "--policy", "p.toml")
        del described["source"], described["parley"]
        return (self.folder / out / "model.json").read_bytes(), described

    def refused(self, dataset, rows=5000, expect=1, command=("data", "describe", "--charter"), **more):
        """The message, which names the driver and no value."""
        self.use(dataset, rows, **more)
        done = self.parley(*command, "c.toml", "--policy", "p.toml", expect=expect)
        self.assertNotIn("SECRET", done.stdout + done.stderr)
        return done.stderr

    def checked(self):
        """What `owner check` says of the policy; it has no credentials, and says so."""
        return run("owner", "check", "p.toml", cwd=self.folder).stdout

    def csv(self, rows):
        lines = [",".join(row) for row in [["x", "k", "t", "y"], *rows]]
        (self.folder / "d.csv").write_text("\n".join(lines) + "\n")
        return {"source": "csv", "path": "d.csv"}

    def test_rows_are_those_of_a_csv_file_bit_for_bit(self):
        for odd in ["", " odd"]:
            of_file = self.model("file" + odd, self.csv(loans(2500, odd)), 2500)
            self.assertGreater(of_file[1]["replaced"], 300)
            self.assertEqual(self.model("driver" + odd, driver(f"rows 2500{odd}"), 2500), of_file)
        cap = {"column": "k", "records": 2}
        chosen = {"where": {"column": "t", "in": ["OWN", ""]}}
        rows = sum(row[2] != "RENT" for row in loans(2500, False))
        self.assertEqual(self.model("capped", {**driver("rows 2500"), **chosen}, rows, unit=cap),
                         self.model("file", {**self.csv(loans(2500, False)), **chosen}, rows, unit=cap))

    def test_every_type_is_what_a_csv_file_shows(self):
        table = {"bool": ["true", "", "false"], "half": ["1", "-1.5", ""], "single": ["0.1", "16777216", ""],
                 "double": ["0.1", "-1e300", ""], "money": ["108429.42", "-0.05", ""],
                 "small": ["-0.042", "0.000", "1.000"], "nothing": ["", "", ""], "word": ["OWN", "RENT", ""],
                 **{f"c_{c}": ["7", "", "9"] for c in "cCsSiIlL"},
                 **{name: ["RENT", "", "a text of more than twelve bytes"] for name in ("text", "large", "view")}}
        words = {"text", "large", "view", "bool", "word", "money"}
        levels = ["true", "false", "RENT", "OWN", "a text of more than twelve bytes", "108429.42", "-0.05"]
        columns = [category(name, levels, other=True) if name in words else number(name, -1e130, 1e130, 5)
                   for name in table if name != "c_i"]
        with open(self.folder / "d.csv", "w", encoding="ascii") as file:
            for line in zip(*([name, *cells] for name, cells in table.items())):
                file.write(",".join(line) + "\n")
        target = {"column": "c_i", "bounds": [0, 10]}
        self.assertEqual(self.model("driver", driver("types"), 3, columns, target=target),
                         self.model("file", {"source": "csv", "path": "d.csv"}, 3, columns, target=target))
        self.assertIn("neither number nor text: tdD", self.refused(driver("dates"), 1, expect=2))

    def test_a_driver_that_fails_is_named_and_quotes_no_record(self):
        self.assertIn("refuses the query: no such table\\u000a: loans (ADBC status 5, SQLSTATE 42P01)",
                      self.refused(driver("refuse"), expect=2))
        self.assertIn("fails at the query (ADBC status 5, SQLSTATE 22P02)", self.refused(driver("fail")))
        self.assertIn("fails while it gives rows", self.refused(driver("break")))
        self.assertIn("no option need", self.refused(driver("rows 9", options={"need": "x"}), expect=2))
        self.assertIn("no function", self.refused(driver("rows 9", entry="Nothing"), expect=2))
        self.assertIn("lacks functions", self.refused(driver("rows 9", entry="HalfInit"), expect=2))
        (self.folder / "no.so").write_text("nonsense")
        for file in ["no.so", "absent.so"]:
            self.assertIn("cannot be loaded", self.refused({**driver("rows 9"), "driver": file}, expect=2))
        self.assertIn("the data has no such column",
                      self.refused(driver("rows 9"), 9, columns=[number("z", 0, 1, 0)], expect=2))
        self.assertIn("holds 9 rows, the charter says 8", self.refused(driver("rows 9"), 8, expect=2, command=["simulate"]))

    def test_a_driver_that_lies_is_an_error_of_its_structure(self):
        for query, says in [("short", "shorter than its batch"), ("lie", "does not have the columns"),
                            ("list", "not one of record batches"), ("bare", "lacks its values")]:
            self.assertIn(says, self.refused(driver(query), expect=2))
        self.assertIn("rows, the charter says 10", self.refused(driver("endless"), 10, expect=2, command=["simulate"]))

    def test_a_driver_that_crashes_hangs_or_eats_memory_takes_nothing_else_along(self):
        died = "the driver's process has ended"
        self.assertIn(died + ", by signal 11", self.refused(driver("crash")))
        self.assertIn(died + ", by signal 6", self.refused(driver("abort")))
        self.assertIn(died + ", with status 3", self.refused(driver("exit")))
        self.assertIn("had no memory left", self.refused(driver("throw")))
        self.assertIn("had no memory left",
                      self.refused(driver("eat"), limits={"database_s": 60, "memory_mb": 400}))
        for at in ["crash", "abort", "exit"]:
            self.assertIn(died, self.refused(driver("rows 9", options={"at": at})))
        for query in ["hang", "empty"]:
            done = self.refused(driver(query), limits={"database_s": 1})
            self.assertIn("the driver's process has said nothing for 1 s, and was ended", done)
            self.assertIn("limits.database_s", done)
        self.use(driver("print"), 5000)
        self.assertIn("printed by the driver", self.parley("data", "describe", "--charter", "c.toml",
                                                           "--policy", "p.toml").stderr)

    def test_options_may_stand_in_files_and_the_driver_may_be_pinned(self):
        (self.folder / "secret").write_text("crash\n")
        self.assertIn("signal 11", self.refused(driver("rows 9", option_files={"at": "secret"}), 9))
        self.assertIn("password", self.refused(driver("rows 9", options={"password": "x"}), 9, expect=2))
        digest = hashlib.sha256(pathlib.Path(DRIVER).read_bytes()).hexdigest()
        self.use(driver("rows 9"), 9)
        self.assertIn(f"Runs {DRIVER}, SHA-256 {digest}.", self.checked())
        for pin, says in [(digest, "as driver_sha256 says"), ("0" * 64, "which is NOT what driver_sha256 says")]:
            self.use(driver("rows 9", driver_sha256=pin), 9)
            self.assertIn(says, self.checked())
        self.assertIn(f"its SHA-256 is {digest}", self.refused(driver("rows 9", driver_sha256="0" * 64), 9, expect=5))
        self.model("pinned", driver("rows 9", driver_sha256=digest), 9)
        script = self.folder / "engine.py"
        script.write_text("print()\n")
        self.use({"source": "command", "dialect": "duckdb", "query": "select 1",
                  "command": ["python3", str(script)]}, 9)
        shown = self.checked()
        self.assertIn(f"{script}, SHA-256 {hashlib.sha256(script.read_bytes()).hexdigest()}.", shown)
        self.assertRegex(shown, r"Runs /\S+/python3, SHA-256 [0-9a-f]{64}\.")

    def test_the_child_ends_with_its_owner(self):
        self.use(driver("hang"), 5000)
        owner = subprocess.Popen([BINARY, "data", "describe", "--charter", "c.toml", "--policy", "p.toml"],
                                 cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(owner.kill)
        child = None
        while child is None and owner.poll() is None:
            child = next((process for process, parent in parents().items() if parent == owner.pid), None)
        owner.kill()
        owner.wait(60)
        for _ in range(600):
            if child not in parents():
                return
            time.sleep(.1)
        self.fail("the driver's process outlived its owner")


if __name__ == "__main__":
    main()
