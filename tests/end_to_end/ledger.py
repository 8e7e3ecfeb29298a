"""The ledger over many jobs: a restored backup is noticed by any learner that remembers, a person's
words are chained, and any accountant can read what was spent."""

import contextlib
import csv
import json
import shutil
import sqlite3

from consortium import OWNERS, Consortium
from parley import InFolder, main


class Ledger(InFolder):
    def setUp(self):
        super().setUp()
        self.consortium = Consortium(self.folder)
        self.jobs = 0
        self.policy = self.folder / "bank-a" / "policy.toml"
        self.ledger = self.folder / "bank-a" / "state" / "ledger.db"
        self.backup = self.folder / "backup.db"

    def agree(self, rounds):
        """Another charter, which becomes the current one."""
        self.consortium.charter = self.folder / f"{rounds}.charter.toml"
        self.consortium.write_charter(self.consortium.charter,
                                      replace=[("rounds = 3", f"rounds = {rounds}")])

    def train(self):
        """A job with all three banks; returns the folder of its transcript."""
        learner, port = self.consortium.learner()
        owners = [self.consortium.owner(owner, port) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, self.consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, self.consortium.log(name))
        self.jobs += 1
        kept = self.folder / f"job-{self.jobs}"
        (self.folder / "job").rename(kept)
        return kept

    def attend_alone(self, expect):
        """Only bank-a comes; returns what it says when it leaves."""
        learner, port = self.consortium.learner()
        self.addCleanup(shutil.rmtree, self.folder / "job", True)
        owner = self.consortium.owner("bank-a", port)
        self.assertEqual(owner.wait(60), expect, self.consortium.log("bank-a"))
        learner.terminate()
        learner.wait(60)
        shutil.rmtree(self.folder / "job")
        return self.consortium.log("bank-a").splitlines()[-2:]

    def test_a_restored_backup_stops_the_owner_until_it_is_reconciled(self):
        self.train()
        shutil.copy(self.ledger, self.backup)
        self.agree(2)
        second = self.train()
        newest = self.json("ledger", "show", self.ledger)
        shutil.copy(self.backup, self.ledger)

        self.agree(1)  # A new job, which has nothing to do with the forgotten one.
        said = " ".join(self.attend_alone(expect=5))
        self.assertIn("the ledger is an older copy", said)
        self.assertIn("parley ledger reconcile", said)
        shutil.rmtree(self.folder / "central-bank" / "receipts")
        self.attend_alone(expect=5)  # It has been noted: nobody need show the receipt again.
        check = self.parley("owner", "check", self.policy, self.consortium.charter, expect=3).stdout
        self.assertIn("the ledger is an older copy", check)
        stopped = self.parley("ledger", "verify", self.ledger, expect=5).stdout
        self.assertIn("STOPPED", stopped)

        packed = (second / "transcript.pb.zst").read_bytes()
        plain = (second / "journal.pb").read_bytes()
        for name, content in {"cut.pb": packed[:-9],
                              "forged.pb": plain.replace(b'"laplace"', b'"Laplace"')}.items():
            (self.folder / name).write_bytes(content)
            self.parley("ledger", "reconcile", self.policy, name, expect=5)
        self.parley("ledger", "reconcile", self.policy, self.policy, expect=5)
        done = self.json("ledger", "reconcile", self.policy, second / "transcript.pb.zst")
        self.assertEqual(done["jobs"][0]["booked"], 2)
        self.assertEqual(done["missing"], 0)

        now = self.json("ledger", "show", self.ledger)
        self.assertEqual(now["datasets"], newest["datasets"])
        self.parley("verify", second / "model.json", second / "transcript.pb.zst", "2.charter.toml",
                    "--ledger", f"bank-a={self.ledger}")
        again = self.json("ledger", "reconcile", self.policy, second / "transcript.pb.zst",
                          second / "journal.pb")
        self.assertEqual([job["known"] for job in again["jobs"]], [2, 2])
        self.train()

    def test_a_learner_in_the_middle_of_a_job_shows_what_it_holds(self):
        learner, port = self.consortium.learner()
        owner = self.consortium.owner("bank-a", port)
        journal = self.folder / "job" / "journal.pb"
        while b"bank-a" not in journal.read_bytes() and learner.poll() is None:
            if "attends" in self.consortium.log("learner") and self.ledger.exists():
                if self.parley("ledger", "show", self.ledger).stdout.count("answer"):
                    break
        owner.kill()
        owner.wait()
        for file in self.ledger.parent.iterdir():
            file.unlink()
        owner = self.consortium.owner("bank-a", port)
        self.assertEqual(owner.wait(60), 5, self.consortium.log("bank-a"))
        self.assertIn("bank-a is shown its receipt", self.consortium.log("learner"))
        learner.terminate()
        learner.wait(60)
        # Its answer went out before a round was complete, so only a whole journal has it.
        self.assertEqual(self.json("ledger", "show", self.ledger)["missing"], 1)

    def test_a_budget_is_raised_by_a_person_and_never_by_the_policy_alone(self):
        self.train()
        before = self.policy.read_text()
        self.policy.write_text(before.replace("epsilon = 4\n", "epsilon = 5\n")
                               .replace("pure = 4", "pure = 5"))
        self.agree(2)
        refused = self.parley("owner", "run", self.policy, self.consortium.charter, "--dial",
                              "127.0.0.1:9", expect=3)
        self.assertIn("parley ledger budget", refused.stderr)
        self.assertIn("parley ledger budget", self.parley(
            "owner", "check", self.policy, self.consortium.charter, expect=3).stdout)
        raised = self.json("ledger", "budget", self.policy)
        self.assertEqual(raised["raised"][0]["epsilon"], 5)
        self.assertEqual(self.json("ledger", "budget", self.policy)["raised"], [])
        self.policy.write_text(before)
        lowered = self.parley("ledger", "budget", self.policy, expect=3)
        self.assertIn("can only be raised", lowered.stderr)
        kinds = [row["kind"] for row in self.json("ledger", "show", self.ledger)["rows"]]
        self.assertEqual(kinds, ["budget"] + 3 * ["answer"] + ["budget"])

    def test_an_approval_becomes_a_row_that_says_who_and_when(self):
        self.policy.write_text(self.policy.read_text().replace("person = false", "person = true"))
        self.parley("owner", "approve", self.policy, self.consortium.charter)
        self.train()
        rows = self.json("ledger", "show", self.ledger)["rows"]
        self.assertEqual([row["kind"] for row in rows], ["budget", "approval"] + 3 * ["answer"])
        self.assertEqual(rows[1]["charter"], rows[2]["charter"])
        self.assertRegex(rows[1]["event"]["approved"]["at"], r"^20\d\d-")
        self.assertTrue(rows[1]["event"]["approved"]["by"])
        for file in (self.folder / "bank-a" / "charters").iterdir():
            file.unlink()
        check = self.json("owner", "check", self.policy, self.consortium.charter, "--dial",
                          "127.0.0.1:9")
        self.assertTrue(check["charters"][0]["approved"])

    def run_alone(self, expect):
        """bank-a without any learner; returns what it says."""
        return self.parley("owner", "run", self.policy, self.consortium.charter, "--dial",
                           "127.0.0.1:9", "--wait", "1", expect=expect).stderr

    def test_a_new_name_or_another_place_is_no_new_budget_until_a_person_says_so(self):
        self.train()
        before = self.policy.read_text()
        self.agree(2)
        self.policy.write_text(before.replace('"loans"', '"credits"'))
        said = self.run_alone(expect=3)
        for word in ("'credits'", "'loans'", "bank-a.csv", "parley ledger accept-source"):
            self.assertIn(word, said)
        self.assertIn("accept-source", self.parley("owner", "check", self.policy,
                                                   self.consortium.charter, expect=3).stdout)
        shutil.copy(self.folder / "data" / "bank-a.csv", self.folder / "data" / "copy.csv")
        self.policy.write_text(before.replace('"loans"', '"credits"')
                               .replace("bank-a.csv", "copy.csv"))
        self.assertIn("holds the same records as", self.run_alone(expect=3))
        self.policy.write_text(before.replace("bank-a.csv", "bank-b.csv"))
        self.assertIn("its budget was spent on", self.run_alone(expect=3))
        self.policy.write_text(before.replace("bank-a.csv", "copy.csv"))
        self.train()  # Moved, under the same name: the same budget.

        self.policy.write_text(before.replace('"loans"', '"credits"'))
        accepted = self.json("ledger", "accept-source", self.policy, "credits", "--reason",
                             "these are other people")
        self.assertEqual(accepted["reason"], "these are other people")
        self.parley("ledger", "accept-source", self.policy, "fraud", "--reason", "x", expect=2)
        self.agree(1)
        self.train()
        shown = self.parley("ledger", "show", self.ledger).stdout
        self.assertIn(f"accepted by {accepted['by']}: these are other people", shown)
        exported = self.parley("ledger", "export", self.ledger, "--dataset", "credits").stdout
        self.assertNotIn("csv", exported)
        self.assertNotIn("fingerprint", exported)

    def database(self):
        """The records of bank-a as a table, beside one with a single row."""
        file = self.folder / "data" / "bank-a.db"
        with open(self.folder / "data" / "bank-a.csv", encoding="utf8") as rows, \
             contextlib.closing(sqlite3.connect(file)) as made, made:
            header, *records = csv.reader(rows)
            names = ", ".join(f'"{name}"' for name in header)
            made.execute(f"CREATE TABLE loans ({names})")
            made.executemany(f"INSERT INTO loans VALUES ({', '.join('?' * len(header))})", records)
            made.execute("CREATE TABLE one (q)")
            made.execute("INSERT INTO one VALUES (1)")
            made.execute("CREATE VIEW behind AS SELECT * FROM loans")
        return file, ", ".join(f'loans.\\"{name}\\"' for name in header)

    def test_rows_of_a_database_are_no_new_budget_however_they_are_asked_for(self):
        file, columns = self.database()
        before = self.policy.read_text()

        def use(name, query, path="bank-a.db"):
            self.policy.write_text(before.replace('"loans"', f'"{name}"').replace(
                'source = "csv"\npath = "../data/bank-a.csv"',
                f'source = "sqlite"\npath = "../data/{path}"\nquery = "select {query}"'))

        use("loans", columns + " from loans")
        self.train()
        self.agree(2)
        copy = self.folder / "data" / "copy.db"
        shutil.copy(file, copy)
        shutil.copy(file, self.folder / "data" / "twin.db")
        with contextlib.closing(sqlite3.connect(copy)) as made, made:
            made.execute("CREATE TABLE more (q)")
            made.execute("ALTER TABLE loans RENAME TO credits")
        for query, path in ((" from loans", "bank-a.db"), (" from loans join one", "bank-a.db"),
                            (" from main.loans", "bank-a.db"), (" from one, loans", "bank-a.db"),
                            (" from loans", "twin.db"), (" from behind loans", "bank-a.db"),
                            (" from credits loans", "copy.db"),
                            (" from more right join credits loans", "copy.db")):
            with self.subTest(query=query):
                use("credits", columns + query, path)
                said = self.run_alone(expect=3)
                self.assertIn("'loans'", said)
                self.assertIn("parley ledger accept-source", said)
        use("loans", columns + " from one, loans")
        self.assertIn("its budget was spent on", self.run_alone(expect=3))
        use("loans", columns + " from main.\\\"loans\\\" where 1 = 1")
        self.train()

    def test_a_witness_notices_an_older_copy_without_a_learner(self):
        witness = self.folder / "elsewhere"
        text = self.policy.read_text()
        self.policy.write_text(text + f'[ledger]\nwitness = "{self.ledger.parent}/witness"\n')
        self.assertIn("beside the ledger", self.run_alone(expect=2))
        self.policy.write_text(text + f'[ledger]\nwitness = "{witness}"\n')
        self.train()
        shutil.copy(self.ledger, self.backup)
        self.agree(2)
        second = self.train()
        shutil.copy(self.backup, self.ledger)
        said = self.run_alone(expect=5)
        self.assertIn(str(witness), said)
        self.assertIn("parley ledger reconcile", said)
        self.parley("ledger", "budget", self.policy, expect=5)
        self.parley("ledger", "reconcile", self.policy, expect=5)
        self.json("ledger", "reconcile", self.policy, second / "transcript.pb.zst")
        self.agree(1)
        self.train()
        self.ledger.unlink()
        self.assertIn("is gone", self.run_alone(expect=5))

    def test_a_charter_that_a_person_withdrew_is_answered_no_more_until_it_is_approved_again(self):
        self.policy.write_text(self.policy.read_text().replace("person = false", "person = true"))
        self.parley("owner", "approve", self.policy, self.consortium.charter, "--reason", "agreed")
        self.train()
        self.parley("owner", "withdraw", self.policy, self.consortium.charter, "--reason",
                    "the contract ended")
        self.assertIn("withdrawn by", self.run_alone(expect=3))
        self.assertIn("the contract ended", self.parley(
            "owner", "check", self.policy, self.consortium.charter, expect=3).stdout)
        self.parley("owner", "approve", self.policy, self.consortium.charter)
        self.train()
        events = [row["event"] for row in self.json("ledger", "show", self.ledger)["rows"]
                  if row["kind"] == "approval"]
        self.assertEqual([list(event)[0] for event in events], ["approved", "withdrawn", "approved"])
        self.assertEqual(events[0]["approved"]["reason"], "agreed")
        self.assertRegex(events[0]["approved"]["signature"], "^[0-9a-f]{128}$")

    def test_what_was_spent_is_exported_for_any_accountant(self):
        self.train()
        exported = self.json("ledger", "export", self.ledger)
        self.assertEqual(exported["format"], "parley.ledger.export/1")
        self.assertEqual(exported["charges"], 3)
        self.assertEqual(exported["dataset"]["unit"], "record")
        event, = exported["events"]
        self.assertEqual(event["self_composed"]["count"], 3)
        self.assertNotIn("charter", json.dumps(exported))
        (self.folder / "events.json").write_text(json.dumps(exported))
        epsilon = self.json("account", "epsilon", "events.json", "--delta", "1e-9")["epsilon"]
        self.assertAlmostEqual(epsilon["basic"], exported["dataset"]["pure"]["spent"], places=9)
        self.parley("ledger", "export", self.ledger, "--dataset", "fraud", expect=2)


if __name__ == "__main__":
    main()
