"""Columns in several places: three owners and a dealer as real processes, and predictions."""

import json
import shutil
import signal
import subprocess
import time

from agencies import RECORDS, Agencies
from consortium import OWNERS, SEEDED_OWNER
from parley import InFolder, main


class Sharing(InFolder):
    def finish(self, agencies, learner, owners):
        self.assertEqual(learner.wait(120), 0, agencies.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, agencies.log(name))
        return json.loads((agencies.folder / "job" / "manifest.json").read_text())

    def train(self, agencies):
        learner, port = agencies.learner()
        shutil.copy(agencies.folder / "job" / "dealer.key", agencies.folder / "kept.key")
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        return self.finish(agencies, learner, owners)

    def sub(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def check_ledgers(self, agencies, rounds):
        spent = set()
        for owner in OWNERS:
            ledger = agencies.folder / owner / "state" / "ledger.db"
            self.assertEqual(self.json("ledger", "verify", ledger)["rows"], 1 + rounds)
            shown = self.json("ledger", "show", ledger)
            spent.add(json.dumps(shown["datasets"][0].get("spent", shown["datasets"][0])))
        self.assertEqual(len(spent), 1, "all pay alike")

    def predict(self, agencies, owners=OWNERS, query="first"):
        files = []
        for owner in owners:
            done = self.parley("predict", agencies.part(owner),
                               agencies.folder / "data" / f"{owner}.csv", "--query", query)
            file = self.folder / f"{owner}.scores"
            file.write_text(done.stdout)
            files.append(file)
        return files

    def test_three_owners_train_keep_their_parts_and_predict_the_sum_only(self):
        agencies = Agencies(self.folder)
        manifest = self.train(agencies)
        self.assertEqual([part["owner"] for part in manifest["parts"]], list(OWNERS))
        self.check_ledgers(agencies, 4)
        self.assertFalse((self.folder / "job" / "model.json").exists())
        self.assertFalse((self.folder / "job" / "dealer.key").exists(), "masks and noise can be had no more")
        files = self.predict(agencies)
        opened = self.json("predict", "job/manifest.json", *files)
        scores = dict(zip(opened["ids"], opened["values"]))
        right = sum((scores[p["person"]] > 0) == (p["income"] == "high") for p in agencies.people)
        self.assertGreater(right, 0.75 * RECORDS, "with next to no noise")
        theta, part = 0, None
        for owner in OWNERS:  # The sum is what the parts say, which nobody else can put together.
            part = json.loads(agencies.part(owner).read_text())
            theta += len(part["model"]["model"]["theta"])
        self.assertEqual(theta, 2 + (1 + 2 + 1) + 2)
        refused = self.parley("predict", "job/manifest.json", *files[:2], expect=2)
        self.assertIn("the scores of bank-c are missing", refused.stderr)
        alone = json.loads(files[0].read_text())["words"]
        self.assertGreater(max(alone), 2**60, "masked")
        refused = self.parley("predict", agencies.part("bank-a"), "data/bank-a.csv", expect=2)
        self.assertIn("--query", refused.stderr)
        lines = (self.folder / "data" / "bank-a.csv").read_text().splitlines(keepends=True)
        (self.folder / "fewer.csv").write_text("".join(lines[:-1]))
        refused = self.parley("predict", agencies.part("bank-a"), "fewer.csv", "--query", "first", expect=3)
        self.assertIn("'first' was given to another prediction", refused.stderr)

    def test_every_rule_trains_and_comes_out_as_in_one_process_bit_for_bit(self):
        for rule, rounds in (("gradients", 4), ("statistics", 1), ("noisy_sharing", 4)):
            with self.subTest(rule=rule):
                agencies = Agencies(self.sub(rule), rule=rule)
                self.train(agencies)
                self.check_ledgers(agencies, rounds)
                replayed = subprocess.run(
                    [SEEDED_OWNER, "replay", agencies.charter, "kept.key",
                     *[f"{owner}/policy.toml" for owner in OWNERS]],
                    cwd=agencies.folder, text=True, capture_output=True, timeout=60, check=False)
                self.assertEqual(replayed.returncode, 0, replayed.stderr)
                for owner, line in zip(OWNERS, replayed.stdout.splitlines(), strict=True):
                    part = json.loads(agencies.part(owner).read_text())
                    self.assertEqual(part["model"]["model"]["theta"],
                                     [float(word) for word in line.split()], owner)
                    self.assertGreater(len(line.split()), 1)

    def test_one_shot_statistics_predict_and_a_second_release_is_refused(self):
        agencies = Agencies(self.folder, rule="statistics")
        self.train(agencies)
        opened = self.json("predict", "job/manifest.json", *self.predict(agencies))
        scores = dict(zip(opened["ids"], opened["values"]))
        right = sum((scores[p["person"]] > 0) == (p["income"] == "high") for p in agencies.people)
        self.assertGreater(right, 0.75 * RECORDS, "with next to no noise")
        learner, port = agencies.learner(out="again")  # Another dealer's key, other noise.
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        self.assertNotEqual(learner.wait(60), 0)
        self.assertIn("round 1 was answered for another query", agencies.log("learner"))
        for owner in owners:
            self.assertNotEqual(owner.wait(60), 0)
        self.check_ledgers(agencies, 1)

    def verify(self, agencies, *more, expect=0):
        job = agencies.folder / "job"
        return self.json("verify", job / "manifest.json", job / "transcript.pb.zst",
                         agencies.charter, *more, expect=expect)

    def test_receipts_of_every_rule_are_verified_and_what_is_not_recomputed_is_said(self):
        for rule, rounds in (("gradients", 2), ("statistics", 1), ("noisy_sharing", 2)):
            with self.subTest(rule=rule):
                agencies = Agencies(self.sub(rule), rounds=2, rule=rule)
                self.train(agencies)
                ledgers = [word for owner in OWNERS for word in
                           ("--ledger", f"{owner}={agencies.folder / owner / 'state/ledger.db'}")]
                seen = self.verify(agencies, *ledgers)
                self.assertTrue(seen["verified"])
                self.assertFalse(seen["recomputed"])
                self.assertEqual(seen["answers"], 3 * rounds)
                for owner in seen["owners"]:
                    self.assertLessEqual(owner["epsilon"], agencies.epsilon)
                    self.assertGreater(owner["epsilon"], 0.9 * agencies.epsilon)
                    self.assertTrue(owner["ledger_head"])
                job = agencies.folder / "job"
                said = self.parley("verify", job / "manifest.json", job / "transcript.pb.zst",
                                   agencies.charter)
                self.assertIn("Not recomputed: the model", said.stdout)

    def test_verify_finds_another_manifest_and_receipts_that_are_missing(self):
        agencies = Agencies(self.folder, rounds=2)
        self.train(agencies)
        file = self.folder / "job" / "manifest.json"
        whole = json.loads(file.read_text())
        fewer = {**whole, "parts": whole["parts"][:2]}
        for changed, what in (({**whole, "charter": "00" * 32}, "is of charter 0000"),
                              (fewer, "has no part in its place")):
            file.write_text(json.dumps(changed))
            found = self.verify(agencies, expect=5)["findings"]
            self.assertTrue(any(what in each["what"] for each in found), found)
        file.write_text(json.dumps(whole))
        journal = (self.folder / "job" / "journal.pb").read_bytes()
        (self.folder / "cut.pb").write_bytes(self.without_last_entry(journal))
        found = self.json("verify", "job/manifest.json", "cut.pb", agencies.charter, expect=5)
        self.assertTrue(any("is missing" in each["what"] for each in found["findings"]), found)

    @staticmethod
    def without_last_entry(journal):
        """Entries are preceded by their length, in 8 bytes."""
        ends, at = [], 0
        while at < len(journal):
            at += 8 + int.from_bytes(journal[at:at + 8], "little")
            ends.append(at)
        return journal[:ends[-2]]

    def test_the_simulation_runs_the_same_charter(self):
        agencies = Agencies(self.folder)
        done = self.json("simulate", agencies.charter, "--data", "data", "--seed", "5", "--out",
                         "sim")
        self.assertEqual([owner["answers"] for owner in done["result"]["owners"]], [4, 4, 4])
        self.assertTrue((self.folder / "sim" / "manifest.json").exists())

    def in_the_middle(self, rule, name, change=lambda agencies: None, deadline=30):
        """A job whose learner has some receipts, with one process held still: it cannot end before
        that is let go or killed. A job that has ended already is begun again, longer."""
        for rounds in (60, 600, 6000):
            agencies = Agencies(self.sub(f"{rule}-{rounds}"), rounds=rounds, rule=rule,
                                deadline=deadline)
            change(agencies)
            learner, port = agencies.learner()
            processes = {"learner": learner,
                         **{owner: agencies.owner(owner, port) for owner in OWNERS}}
            journal = agencies.folder / "job" / "journal.pb"
            while journal.stat().st_size < 4000 and learner.poll() is None:
                time.sleep(0.001)
            processes[name].send_signal(signal.SIGSTOP)
            if learner.poll() is None and not (agencies.folder / "job/manifest.json").exists():
                return agencies, port, processes
            for process in processes.values():
                self.kill(process)
        raise AssertionError("no job was long enough")

    @staticmethod
    def kill(process):
        process.kill()
        process.wait()

    def test_a_killed_owner_comes_back_and_nothing_is_paid_twice(self):
        for rule in ("gradients", "noisy_sharing"):
            with self.subTest(rule=rule):
                agencies, port, processes = self.in_the_middle(rule, "bank-b")
                self.kill(processes["bank-b"])
                self.assertIsNone(processes["learner"].poll(), "it was killed before the end")
                processes["bank-b"] = agencies.owner("bank-b", port)
                self.finish(agencies, processes["learner"], [processes[o] for o in OWNERS])
                self.check_ledgers(agencies, agencies.rounds)

    def test_a_charter_that_leaves_out_an_owners_key_or_names_one_twice_is_refused_by_all(self):
        # With a key of its own in that place a learner would read the owner's letters.
        agencies = Agencies(self.folder)
        keys = agencies.sign_keys
        for title, key in (("left out", ""), ("twice", f'sign_key = "{keys["bank-a"]}"')):
            agencies.write_charter(replace=[(f'sign_key = "{keys["bank-b"]}"', key)])
            for owner in OWNERS:
                with self.subTest(key=title, owner=owner):
                    refused = agencies.owner(owner, 1)  # Nobody is dialled for it.
                    self.assertEqual(refused.wait(60), 2, agencies.log(owner))
                    self.assertIn("sign_key", agencies.log(owner))
                    ledger = self.folder / owner / "state" / "ledger.db"
                    if ledger.exists():
                        rows = self.json("ledger", "show", ledger)["rows"]
                        self.assertNotIn("answer", [row["kind"] for row in rows])

    def test_a_killed_learner_resumes_with_the_same_noise(self):
        agencies, port, processes = self.in_the_middle("gradients", "learner")
        self.kill(processes["learner"])
        learner, _ = agencies.learner("resume", port)
        self.finish(agencies, learner, [processes[owner] for owner in OWNERS])
        self.check_ledgers(agencies, agencies.rounds)

    def test_nobody_is_told_of_an_end_that_is_not_on_disk_and_all_hear_of_the_same(self):
        agencies = Agencies(self.folder)
        manifest = self.folder / "job" / "manifest.json"
        manifest.mkdir(parents=True)  # in the way of the file
        learner, port = agencies.learner()
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        self.assertNotEqual(learner.wait(60), 0, agencies.log("learner"))
        time.sleep(0.5)
        self.assertEqual([owner.poll() for owner in owners], [None] * 3, agencies.log("bank-a"))
        manifest.rmdir()
        learner, _ = agencies.learner("run", port)
        self.finish(agencies, learner, owners)
        told = json.loads(agencies.output("learner"))["model_sha256"]
        learner, _ = agencies.learner("run", port)  # It might have been killed at the end.
        late = agencies.owner("bank-b", port)
        self.assertEqual(late.wait(60), 0, agencies.log("bank-b"))
        self.assertIn(told, agencies.output("bank-b"))
        learner.terminate()
        self.assertEqual(learner.wait(60), 0, agencies.log("learner"))
        self.assertEqual(json.loads(agencies.output("learner"))["model_sha256"], told)
        for owner in OWNERS:
            kept = agencies.part(owner).parent / "manifest.json"
            self.assertEqual(kept.read_bytes(), manifest.read_bytes())

    def test_an_owner_that_stops_answering_ends_the_job_which_can_be_resumed(self):
        agencies = Agencies(self.folder, deadline=1)
        learner, port = agencies.learner(wait=4)
        owners = [agencies.owner(owner, port) for owner in OWNERS[:2]]
        self.assertEqual(learner.wait(60), 4, agencies.log("learner"))
        self.assertIn("missing: bank-c", agencies.log("learner"))
        learner, _ = agencies.learner("resume", port)
        owners.append(agencies.owner("bank-c", port))
        self.finish(agencies, learner, owners)
        self.check_ledgers(agencies, 4)

    def test_other_records_stop_the_job_before_anything_is_paid(self):
        agencies = Agencies(self.folder)
        people = [dict(p) for p in agencies.people]
        people[7]["person"] = "p9999"
        agencies.write_rows("bank-c", people)
        learner, port = agencies.learner()
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 2, agencies.log("learner"))
        self.assertIn("the records of bank-a and bank-c are not the same", agencies.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertNotEqual(owner.wait(60), 0)
            self.assertIn("are not the same", agencies.log(name))
            verified = self.json("ledger", "verify", self.folder / name / "state" / "ledger.db")
            self.assertLessEqual(verified["rows"], 1)

    def strangers(self, agencies):
        """Every owner has all people of the charter, and some that others do not have."""
        agencies.write_charter(replace=[(f"count = {RECORDS}",
                                         f'count = {RECORDS}\non_mismatch = "intersect"')])
        for i, owner in enumerate(OWNERS):
            more = [{**agencies.people[j], "person": f"q{i}{j}"} for j in range(5 + i)]
            agencies.write_rows(owner, more + agencies.people)

    def test_with_intersect_records_that_others_do_not_have_are_left_out(self):
        agencies = Agencies(self.folder)
        self.strangers(agencies)
        self.train(agencies)
        self.check_ledgers(agencies, 4)
        for owner in OWNERS:
            agencies.write_rows(owner, agencies.people)  # Predictions are of people whom all have.
        opened = self.json("predict", agencies.folder / "job/manifest.json",
                           *self.predict(agencies))
        scores = dict(zip(opened["ids"], opened["values"]))
        right = sum((scores[p["person"]] > 0) == (p["income"] == "high") for p in agencies.people)
        self.assertGreater(right, 0.75 * RECORDS, "with next to no noise")

    def test_with_intersect_a_killed_owner_is_aligned_again(self):
        agencies, port, processes = self.in_the_middle("gradients", "bank-b", self.strangers)
        self.kill(processes["bank-b"])
        processes["bank-b"] = agencies.owner("bank-b", port)
        self.finish(agencies, processes["learner"], [processes[o] for o in OWNERS])
        self.check_ledgers(agencies, agencies.rounds)

    def test_with_intersect_another_number_in_common_is_said_before_anything_is_paid(self):
        agencies = Agencies(self.folder)
        self.strangers(agencies)
        people = [dict(p) for p in agencies.people]
        people[7]["person"] = "q9999"
        agencies.write_rows("bank-c", people)
        learner, port = agencies.learner()
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        self.assertNotEqual(learner.wait(60), 0, agencies.log("learner"))
        self.assertIn(f"have {RECORDS - 1} records in common, the charter says {RECORDS}",
                      agencies.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertNotEqual(owner.wait(60), 0)
            verified = self.json("ledger", "verify", self.folder / name / "state" / "ledger.db")
            self.assertLessEqual(verified["rows"], 1)

    def test_an_owner_that_hangs_loses_its_line_and_goes_on_when_it_is_back(self):
        agencies, _, processes = self.in_the_middle("gradients", "bank-b", deadline=2)
        until = time.monotonic() + 60
        while "dismissed bank-b" not in agencies.log("learner") and time.monotonic() < until:
            time.sleep(0.05)
        self.assertIn("nothing came within the time that the charter allows",
                      agencies.log("learner"))
        processes["bank-b"].send_signal(signal.SIGCONT)
        self.finish(agencies, processes["learner"], [processes[o] for o in OWNERS])
        self.check_ledgers(agencies, agencies.rounds)

    def test_fewer_repeated_and_nameless_records_are_counted(self):
        agencies = Agencies(self.folder)
        people = [dict(p) for p in agencies.people[:-1]]
        people[3]["person"] = people[4]["person"]
        people[5]["person"] = " "
        agencies.write_rows("bank-a", people)
        refused = self.parley("owner", "run", "bank-a/policy.toml", agencies.charter, "--dial",
                              "127.0.0.1:9", expect=2)
        self.assertIn("117 records with an id of their own, the charter says 120; 1 rows have no "
                      "person, 1 repeat one", refused.stderr)

    def test_labels_outside_one_are_refused_by_the_charter(self):
        agencies = Agencies(self.folder)
        agencies.write_charter(replace=[('levels = ["low", "high"]', "bounds = [0.0, 3.0]")])
        refused = self.parley("owner", "run", "bank-b/policy.toml", agencies.charter, "--dial",
                              "127.0.0.1:9", expect=2)
        self.assertIn("under sharing they must lie in -1 .. 1", refused.stderr)


if __name__ == "__main__":
    main()
