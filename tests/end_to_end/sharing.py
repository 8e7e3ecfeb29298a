"""Columns in several places: three owners and a dealer as real processes, and predictions."""

import csv
import json
import random
import time

from charters import block, category, number
from consortium import OWNERS, Consortium, must
from parley import InFolder, main

RECORDS = 120


class Agencies(Consortium):
    """The papers of a consortium; its owners hold different columns of the same people."""

    def __init__(self, folder, rounds=4, epsilon=1000, deadline=30):
        self.folder, self.rounds, self.epsilon, self.deadline = folder, rounds, epsilon, deadline
        must("certs", "init", "banks.example", "--out", "ca", cwd=folder)
        self.sign_keys = {}
        self.join("central-bank", "learner")
        for owner in OWNERS:
            self.join(owner)
        self.charter = folder / "job.charter.toml"
        (folder / "data").mkdir()
        self.write_charter()
        self.write_data()
        for owner in OWNERS:
            self.write_policy(owner)

    def write_charter(self, file=None, **changes):
        columns = [number("bank-a-x", -1, 1, 0, owner="bank-a"),
                   number("bank-a-y", -1, 1, 0, owner="bank-a"),
                   number("bank-b-x", -1, 1, 0, owner="bank-b"),
                   category("bank-b-home", ["own", "rent"], owner="bank-b"),
                   number("bank-c-x", -1, 1, 0, owner="bank-c"),
                   number("bank-c-same", 0, 1, 0, owner="bank-c")]
        names = {"bank-a": ["bank-a-x", "bank-a-y"], "bank-b": ["bank-b-x", "bank-b-home"],
                 "bank-c": ["bank-c-x", "bank-c-same"]}
        text = "\n".join([
            block("[charter]", {"version": 1, "name": "columns", "consortium": "banks.example"}),
            block("[records]", {"id": "person", "count": RECORDS}),
            block("[target]", {"owner": "bank-b", "column": "income", "levels": ["low", "high"]}),
            *columns,
            block("[model]", {"loss": "squared", "l2": 0.01, "bias": True, "box": 4.0}),
            block("[protocol]", {"name": "sharing", "rule": "gradients", "rounds": self.rounds,
                                 "step": 1.0, "momentum": 0.5, "model_ball": 4.0}),
            block("[privacy]", {"max_row_norm": 1.0, "delta": 1e-5}),
            *[block("[[owner]]", {"name": owner, "epsilon": float(self.epsilon),
                                  "columns": names[owner], "max_row_norm": 0.57,
                                  "sign_key": self.sign_keys[owner]}) for owner in OWNERS],
            block("[learner]", {"name": "central-bank", "address": "127.0.0.1:1"}),
            block("[network]", {"deadline_s": self.deadline})])
        for old, new in changes.get("replace", []):
            assert old in text, old
            text = text.replace(old, new)
        (file or self.charter).write_text(text)

    def write_data(self, seed=1):
        """Every owner's file in an order of its own."""
        luck = random.Random(seed)
        people = []
        for i in range(RECORDS):
            x = [luck.uniform(-1, 1) for _ in range(3)]
            people.append({
                "person": f"p{i:04d}", "bank-a-x": x[0], "bank-a-y": luck.uniform(-1, 1),
                "bank-b-x": x[1], "bank-b-home": luck.choice(["own", "rent"]),
                "income": "high" if sum(x) > 0 else "low", "bank-c-x": x[2], "bank-c-same": 1})
        self.people = people
        for owner in OWNERS:
            mine = [p for p in people]
            luck.shuffle(mine)
            self.write_rows(owner, mine)

    def write_rows(self, owner, people):
        wanted = ["person", *[k for k in self.people[0] if k.startswith(owner)]]
        if owner == "bank-b":
            wanted.append("income")
        with open(self.folder / "data" / f"{owner}.csv", "w", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, wanted, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(people)

    def write_policy(self, owner, **_):
        (self.folder / owner / "state").mkdir(exist_ok=True)
        (self.folder / owner / "policy.toml").write_text("\n".join([
            block("[owner]", {"name": owner, "state": "state", "charters": "charters"}),
            block("[identity]", {"consortium": "banks.example", "certificate": f"{owner}.crt",
                                 "key": f"{owner}.key", "authority": "authority.crt",
                                 "sign_key": f"{owner}.sign"}),
            block("[[dataset]]", {"name": "people", "source": "csv",
                                  "path": f"../data/{owner}.csv"}),
            block("[dataset.budget]", {"epsilon": 2000.0, "delta": 1e-5}),
            block("[[accept]]", {"consortium": "banks.example", "dataset": "people",
                                 "epsilon_max": 2000.0, "person": False})]))

    def part(self, owner):
        return next((self.folder / owner / "state" / "models").glob("*/part.json"))


class Sharing(InFolder):
    def finish(self, agencies, learner, owners):
        self.assertEqual(learner.wait(120), 0, agencies.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, agencies.log(name))
        return json.loads((self.folder / "job" / "manifest.json").read_text())

    def train(self, agencies):
        learner, port = agencies.learner()
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        return self.finish(agencies, learner, owners)

    def check_ledgers(self, rounds):
        spent = set()
        for owner in OWNERS:
            ledger = self.folder / owner / "state" / "ledger.db"
            self.assertEqual(self.json("ledger", "verify", ledger)["rows"], 1 + rounds)
            shown = self.json("ledger", "show", ledger)
            spent.add(json.dumps(shown["datasets"][0].get("spent", shown["datasets"][0])))
        self.assertEqual(len(spent), 1, "all pay alike")

    def predict(self, agencies, owners=OWNERS, query="first"):
        files = []
        for owner in owners:
            done = self.parley("predict", agencies.part(owner), f"data/{owner}.csv",
                               "--query", query)
            file = self.folder / f"{owner}.scores"
            file.write_text(done.stdout)
            files.append(file)
        return files

    def test_three_owners_train_keep_their_parts_and_predict_the_sum_only(self):
        agencies = Agencies(self.folder)
        manifest = self.train(agencies)
        self.assertEqual([part["owner"] for part in manifest["parts"]], list(OWNERS))
        self.check_ledgers(4)
        self.assertFalse((self.folder / "job" / "model.json").exists())
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

    def test_what_the_learner_keeps_holds_no_part_and_verify_says_why(self):
        agencies = Agencies(self.folder, rounds=2)
        self.train(agencies)
        refused = self.parley("verify", "job/manifest.json", "job/transcript.pb.zst",
                              agencies.charter, expect=2)
        self.assertTrue(refused.stderr)

    def test_the_simulation_runs_the_same_charter(self):
        agencies = Agencies(self.folder)
        done = self.json("simulate", agencies.charter, "--data", "data", "--seed", "5", "--out",
                         "sim")
        self.assertEqual([owner["answers"] for owner in done["result"]["owners"]], [4, 4, 4])
        self.assertTrue((self.folder / "sim" / "manifest.json").exists())

    def test_a_killed_owner_comes_back_and_nothing_is_paid_twice(self):
        agencies = Agencies(self.folder, rounds=300)
        learner, port = agencies.learner()
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        ledger = self.folder / "bank-b" / "state" / "ledger.db"
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if ledger.exists() and self.json("ledger", "verify", ledger)["rows"] > 8:
                break
        owners[1].kill()
        owners[1].wait()
        self.assertIsNone(learner.poll(), "it was killed before the end")
        owners[1] = agencies.owner("bank-b", port)
        self.finish(agencies, learner, owners)
        self.check_ledgers(300)

    def test_a_killed_learner_resumes_with_the_same_noise(self):
        agencies = Agencies(self.folder, rounds=300)
        learner, port = agencies.learner()
        owners = [agencies.owner(owner, port) for owner in OWNERS]
        ledger = self.folder / "bank-b" / "state" / "ledger.db"
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if ledger.exists() and self.json("ledger", "verify", ledger)["rows"] > 8:
                break
        learner.kill()
        learner.wait()
        learner, _ = agencies.learner("resume", port)
        self.finish(agencies, learner, owners)
        self.check_ledgers(300)

    def test_an_owner_that_stops_answering_ends_the_job_which_can_be_resumed(self):
        agencies = Agencies(self.folder, deadline=1)
        learner, port = agencies.learner(wait=4)
        owners = [agencies.owner(owner, port) for owner in OWNERS[:2]]
        self.assertEqual(learner.wait(60), 4, agencies.log("learner"))
        self.assertIn("missing: bank-c", agencies.log("learner"))
        learner, _ = agencies.learner("resume", port)
        owners.append(agencies.owner("bank-c", port))
        self.finish(agencies, learner, owners)
        self.check_ledgers(4)

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
