"""Bad input: an error that says what, where and what to do, the design's exit code, nothing lost."""

import fcntl
import json
import sqlite3

from parley import EXAMPLE, InFolder, main, run


class BadInput(InFolder):
    def refused(self, exit_code, *arguments):
        """The error object of a command that must fail; stderr must say the same to a person."""
        done = self.parley("--json", "--quiet", *arguments, expect=exit_code)
        error = json.loads(done.stdout)
        self.assertEqual(error["format"], "parley.error/1")
        self.assertEqual(error["exit"], exit_code)
        self.assertIn(error["what"], done.stderr)
        if error["hint"]:
            self.assertIn(error["hint"], done.stderr)
        return error

    def changed_example(self, old, new):
        text = EXAMPLE.read_text()
        self.assertIn(old, text)
        (self.folder / "c.toml").write_text(text.replace(old, new, 1))
        return "c.toml"

    def test_usage_errors_exit_with_2(self):
        for arguments in [[], ["nonsense"], ["simulate"], ["charter"], ["simulate", "--runs", "x"],
                          ["simulate", EXAMPLE, "--runs", "0"], ["ledger", "show"]]:
            done = run(*arguments, cwd=self.folder)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertNotEqual(done.stderr, "")
            self.assertEqual(done.stdout, "")

    def test_unknown_keys_are_named_with_their_line(self):
        charter = self.changed_example("loss = ", "lost = ")
        line = (self.folder / charter).read_text().split("lost = ")[0].count("\n") + 1
        error = self.refused(2, "charter", "check", charter)
        self.assertEqual(error["where"]["line"], line)
        self.assertIn("lost", error["what"] + error["where"]["key"])

    def test_impossible_values_are_named_with_their_key(self):
        error = self.refused(2, "charter", "check",
                             self.changed_example("epsilon  = 1.0", "epsilon  = -1"))
        self.assertEqual(error["where"]["key"], "owner[0].epsilon")
        self.assertIn("-1", error["what"])
        self.assertTrue(error["hint"])
        for change in ["protocol.rounds=0", "model.box=-1", "privacy.max_grad_norm=0",
                       "privacy.grid_bits=99", "target.scale=0", "protocol.momentum=2"]:
            error = self.refused(2, "charter", "check", EXAMPLE, "--set", change)
            self.assertEqual(error["where"]["key"], change.split("=")[0])

    def test_missing_files_are_named(self):
        for arguments in [["charter", "check", "absent.toml"],
                          ["simulate", "absent.toml", "--standin", "lending"],
                          ["simulate", EXAMPLE, "--data", "bank-a=absent.csv"],
                          ["predict", "absent.json", "absent.csv"],
                          ["ledger", "show", "absent.db"], ["ledger", "verify", "absent.db"]]:
            error = self.refused(2, *arguments)
            self.assertIn("absent", error["where"].get("file", "") + error["what"])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_simulate_needs_data(self):
        self.assertIn("--data", self.refused(2, "simulate", EXAMPLE)["hint"])

    def test_other_data_than_the_charters_are_refused_before_anything_is_spent(self):
        self.parley("--quiet", "data", "generate", "lending", "--owner", "bank-a=2000", "--owner",
                    "bank-b=2000", "--owner", "bank-c=2000", "--out", "data")
        error = self.refused(2, "simulate", EXAMPLE, "--data", "data")
        self.assertEqual(error["what"], "holds 2000 rows, the charter says 100000")
        error = self.refused(5, "simulate", *self.charter(), "--data", "data")
        self.assertEqual(error["where"]["key"], "pilot.sha256")
        self.assertFalse((self.folder / "runs").exists())

    def simulated_ledger(self):
        self.parley("--quiet", "simulate", *self.charter(), "--standin", "lending", "--seed", "7")
        return self.folder / "runs" / "7" / "simulated" / "bank-a" / "ledger.db"

    def test_a_changed_ledger_is_refused_with_5(self):
        ledger = self.simulated_ledger()
        with sqlite3.connect(ledger) as database:
            database.execute("DROP TRIGGER charge_is_append_only")
            database.execute("UPDATE charge SET cost = 0.001 WHERE id = 3")
        error = self.refused(5, "ledger", "verify", ledger)
        self.assertEqual(error["where"]["key"], "row 3")
        self.refused(5, "ledger", "show", ledger)

    def test_garbage_is_not_a_ledger_and_stays_untouched(self):
        garbage = self.folder / "garbage.db"
        garbage.write_bytes(b"not a database at all, but long enough to look at" * 100)
        before = garbage.read_bytes()
        self.refused(5, "ledger", "verify", garbage)
        self.assertEqual(garbage.read_bytes(), before)

    def test_a_ledger_in_use_is_refused(self):
        ledger = self.simulated_ledger()
        with open(ledger.with_suffix(".lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            error = self.refused(1, "simulate", *self.charter(), "--standin", "lending",
                                 "--seed", "7")
            self.assertIn("in use", error["what"])
        self.parley("--quiet", "simulate", *self.charter(), "--standin", "lending", "--seed", "7")

    def policy(self, epsilon, epsilon_max=5.0):
        (self.folder / "bank-a.policy.toml").write_text(f"""
[owner]
name = "bank-a"
state = "state"
charters = "charters"
[[dataset]]
name = "loans"
source = "csv"
path = "bank-a.csv"
[dataset.budget]
epsilon = {epsilon}
delta = 0.0
pure = {epsilon}
[[accept]]
consortium = "banks.example"
dataset = "loans"
epsilon_max = {epsilon_max}
person = false
""")
        return "bank-a.policy.toml"

    def test_an_exhausted_budget_is_refused_with_3_before_the_first_answer(self):
        error = self.refused(3, "simulate", *self.charter(), "--standin", "lending", "--policy",
                             self.policy(0.9))
        self.assertEqual(error["code"], "budget_exhausted")
        ledger = self.folder / "runs/1/simulated/bank-a/ledger.db"
        shown = json.loads(self.parley("--json", "ledger", "show", ledger).stdout)
        self.assertEqual(shown["datasets"][0]["pure"]["spent"], 0)
        self.assertFalse((self.folder / "runs/1/model.json").exists())
        self.parley("--quiet", "simulate", *self.charter(), "--standin", "lending", "--policy",
                    self.policy(1.0))

    def test_a_policy_that_does_not_accept_the_charter_refuses_with_3(self):
        error = self.refused(3, "simulate", *self.charter(), "--standin", "lending", "--policy",
                             self.policy(4.0, epsilon_max=0.5))
        self.assertEqual(error["code"], "policy")

    def test_damaged_models_and_csv_files_are_refused_with_their_place(self):
        (self.folder / "m.json").write_text('{"format": "parley.model/1", "name": 3}')
        self.refused(2, "predict", "m.json", "x.csv")
        self.parley("--quiet", "simulate", *self.charter(), "--standin", "lending", "--seed", "7")
        (self.folder / "x.csv").write_text("pc1,pc2\n1,2\n")
        error = self.refused(2, "predict", "runs/7/model.json", "x.csv")
        self.assertEqual(error["where"]["key"], "pc3")
        header = ",".join(f"pc{i}" for i in range(1, 11))
        (self.folder / "x.csv").write_text(header + "\n1,2,3\n")
        error = self.refused(2, "predict", "runs/7/model.json", "x.csv")
        self.assertEqual(error["where"]["line"], 2)


if __name__ == "__main__":
    main()
