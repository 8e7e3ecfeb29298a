"""Columns in two and three places without a dealer: owners and a learner as real processes."""

import json
import signal
import time

from agencies import RECORDS, Agencies
from consortium import OWNERS, must
from parley import InFolder, main

TWO = ("bank-a", "bank-b")


class Columns(InFolder):
    def agencies(self, owners=TWO, folder=None, rule="statistics", rounds=1):
        return Agencies(folder or self.folder, rule=rule, rounds=rounds, owners=owners, dealer="none")

    def sub(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def others(self, agencies, owner):
        return [other for other in agencies.owners if other != owner]

    def finish(self, agencies, learner, owners):
        self.assertEqual(learner.wait(120), 0, agencies.log("learner"))
        for name, owner in zip(agencies.owners, owners):
            self.assertEqual(owner.wait(60), 0, agencies.log(name))

    def scores(self, agencies):
        files = []
        for owner in agencies.owners:
            done = self.parley("predict", agencies.part(owner),
                               agencies.folder / "data" / f"{owner}.csv", "--query", "first")
            file = self.folder / f"{owner}.scores"
            file.write_text(done.stdout)
            files.append(file)
        opened = self.json("predict", agencies.folder / "job/manifest.json", *files)
        return dict(zip(opened["ids"], opened["values"]))

    def test_owners_train_predict_and_are_verified(self):
        for owners in (TWO, OWNERS):
            with self.subTest(owners=len(owners)):
                self.train_predict_and_verify(self.agencies(owners, self.sub(f"of-{len(owners)}")))

    def test_owners_train_in_rounds_predict_and_are_verified(self):
        for owners in (TWO, OWNERS):
            with self.subTest(owners=len(owners)):
                agencies = self.agencies(owners, self.sub(f"of-{len(owners)}"), "gradients", 6)
                self.train_predict_and_verify(agencies, rounds=6)
                for owner in agencies.owners:
                    pools = (agencies.part(owner).parent / "pools.json").read_text()
                    self.assertEqual(json.loads(pools)["pools"], {}, "strings are gone")

    def test_rounds_of_an_owner_that_is_killed_go_on(self):
        agencies = self.agencies(TWO, rule="gradients", rounds=40)
        learner, port = agencies.learner()
        first, second = [agencies.owner(owner, port) for owner in TWO]
        state = agencies.folder / "bank-a" / "state" / "models"
        deadline = time.monotonic() + 60
        while not list(state.glob("*/session.json")) and time.monotonic() < deadline:
            time.sleep(.02)
        first.send_signal(signal.SIGKILL)
        first.wait(30)
        self.finish(agencies, learner, [agencies.owner("bank-a", port), second])
        for owner in TWO:
            ledger = agencies.folder / owner / "state" / "ledger.db"
            self.assertEqual(self.json("ledger", "verify", ledger)["rows"], 1 + 40, "each paid once")

    def train_predict_and_verify(self, agencies, rounds=1):
        must("charter", "check", agencies.charter, cwd=self.folder)
        explained = must("charter", "explain", agencies.charter, cwd=self.folder).stdout
        self.assertIn("Trusted: nobody for masks and noise", explained)
        self.assertIn("can test one guess", explained)
        learner, port = agencies.learner()
        self.assertFalse((agencies.folder / "job" / "dealer.key").exists())
        self.finish(agencies, learner, [agencies.owner(owner, port) for owner in agencies.owners])
        scores = self.scores(agencies)
        right = sum((scores[p["person"]] > 0) == (p["income"] == "high") for p in agencies.people)
        self.assertGreater(right, 0.7 * RECORDS, "with next to no noise")
        for owner in agencies.owners:
            ledger = agencies.folder / owner / "state" / "ledger.db"
            self.assertEqual(self.json("ledger", "verify", ledger)["rows"], 1 + rounds)
            folder = agencies.part(owner).parent
            tests = (folder / "rows-test.txt").read_text()
            for other in self.others(agencies, owner):
                self.assertIn(agencies.sign_keys[other], (folder / "ids.txt").read_text())
                self.assertIn(f"passed {agencies.sign_keys[other]}", tests)
            self.assertEqual(json.loads((folder / "session.json").read_text())["session"], "",
                             "shares and noise are gone")
            card = json.loads(agencies.part(owner).read_text())["model"]["privacy_card"]
            open_points = " ".join(card["not_covered"])
            self.assertIn("one guess", open_points)
            self.assertIn("the other has" if len(agencies.owners) == 2 else "its own ids all have",
                          open_points)
        job = agencies.folder / "job"
        verified = self.parley("verify", job / "manifest.json", job / "transcript.pb.zst",
                               agencies.charter)
        self.assertIn("the noise was the owners'", verified.stdout)

    def strangers(self, agencies, other=0):
        """All have the people of the charter, but for `other`, and some that others do not have."""
        agencies.write_charter(replace=[(f"count = {RECORDS}",
                                         f'count = {RECORDS}\non_mismatch = "intersect"')])
        for i, owner in enumerate(agencies.owners):
            more = [{**agencies.people[j], "person": f"q{i}{j}"} for j in range(5 + i)]
            agencies.write_rows(owner, more + agencies.people[other * i:])

    def test_records_that_all_have_are_found_by_private_set_intersection(self):
        for owners in (TWO, OWNERS):
            with self.subTest(owners=len(owners)):
                self.find_common(self.agencies(owners, self.sub(f"of-{len(owners)}")))

    def find_common(self, agencies):
        self.strangers(agencies)
        learner, port = agencies.learner()
        self.finish(agencies, learner, [agencies.owner(owner, port) for owner in agencies.owners])
        for owner in agencies.owners:
            agencies.write_rows(owner, agencies.people)  # Predictions are of people whom all have.
        scores = self.scores(agencies)
        right = sum((scores[p["person"]] > 0) == (p["income"] == "high") for p in agencies.people)
        self.assertGreater(right, 0.7 * RECORDS, "with next to no noise")

    def test_another_number_in_common_is_said_before_anything_is_paid(self):
        for owners in (TWO, OWNERS):
            with self.subTest(owners=len(owners)):
                self.find_others(self.agencies(owners, self.sub(f"of-{len(owners)}")))

    def find_others(self, agencies):
        self.strangers(agencies, other=3)
        learner, port = agencies.learner()
        owners = [agencies.owner(owner, port) for owner in agencies.owners]
        self.assertNotEqual(learner.wait(60), 0, agencies.log("learner"))
        left = RECORDS - 3 * (len(owners) - 1)
        self.assertIn(f"have {left} records in common, the charter says {RECORDS}",
                      agencies.log("learner"))
        for name, owner in zip(agencies.owners, owners):
            self.assertNotEqual(owner.wait(60), 0)
            verified = self.json("ledger", "verify", agencies.folder / name / "state" / "ledger.db")
            self.assertLessEqual(verified["rows"], 1)

    def test_an_owner_that_is_killed_and_started_again_goes_on(self):
        for owners in (TWO, OWNERS):
            with self.subTest(owners=len(owners)):
                agencies = self.agencies(owners, self.sub(f"of-{len(owners)}"))
                learner, port = agencies.learner()
                first = agencies.owner("bank-a", port)
                time.sleep(1)
                first.send_signal(signal.SIGKILL)
                first.wait(30)
                started = [agencies.owner(owner, port) for owner in owners]
                self.finish(agencies, learner, started)

    def test_an_owner_can_pass_on_the_letters_and_no_other_party_is_needed(self):
        for owners in (TWO, OWNERS):
            with self.subTest(owners=len(owners)):
                agencies = self.agencies(owners, self.sub(f"of-{len(owners)}"))
                agencies.join("bank-a", "learner", out="bank-a/learner")
                agencies.write_charter(replace=[('name = "central-bank"', 'name = "bank-a"')])
                explained = must("charter", "explain", agencies.charter, cwd=agencies.folder).stdout
                self.assertIn("bank-a, an owner, also passes on the letters of all", explained)
                learner, port = agencies.learner(identity="bank-a/learner")
                started = [agencies.owner(owner, port) for owner in owners]
                self.finish(agencies, learner, started)

    def test_after_a_test_that_was_not_passed_a_person_must_say_so(self):
        agencies = self.agencies()
        earlier = self.folder / "bank-a" / "state" / "models" / "000000000000"
        earlier.mkdir(parents=True)
        (earlier / "rows-test.txt").write_text(f"begun {agencies.sign_keys['bank-b']}\n")
        learner, port = agencies.learner()
        owner = agencies.owner("bank-a", port)
        self.assertEqual(owner.wait(30), 3, agencies.log("bank-a"))
        self.assertIn("an earlier test of rows with bank-b was not passed", agencies.log("bank-a"))
        learner.terminate()
        learner.wait(30)


if __name__ == "__main__":
    main()
