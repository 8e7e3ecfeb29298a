"""One owner that learns, over the network: with its own noise, from the others first, or from their
statistics; and what it then makes of its own rows."""

import csv
import io
import json
import subprocess

from consortium import OWNERS, SEEDED_OWNER, Consortium
from parley import InFolder, main

LEARNER = 'name = "central-bank"'


class OwnerLearner(InFolder):
    def consortium(self, how, *replace, **more):
        """bank-a learns; its papers as a learner lie in a folder beside those as an owner."""
        consortium = Consortium(self.folder, **more)
        consortium.join("bank-a", "learner", out="bank-a/learner")
        rounds = f"rounds = {consortium.rounds}"
        consortium.write_charter(replace=[
            (LEARNER, 'name = "bank-a"'), (rounds, f"{rounds}\nowner_learner = {how}"), *replace])
        return consortium

    def trained(self, consortium, owners):
        """The job with seeded owners, verified; its parameters and the simulated ones."""
        self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out", "sim")
        learner, port = consortium.learner(identity="bank-a/learner")
        processes = {owner: consortium.owner(owner, port, seed=5) for owner in owners}
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in processes.items():
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        ledgers = [word for owner in owners
                   for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]
        done = self.json("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
                         *ledgers)
        self.assertTrue(done["verified"] and done["recomputed"])
        self.assertEqual([owner["name"] for owner in done["owners"]], list(owners))
        return self.theta("job/model.json"), self.theta("sim/model.json")

    def theta(self, file):
        return json.loads((self.folder / file).read_text())["model"]["theta"]

    def error(self, model, owner):
        """The mean squared error of a model on an owner's rows."""
        table = self.parley("predict", model, f"data/{owner}.csv").stdout
        predicted = [float(row[-1]) for row in list(csv.reader(io.StringIO(table)))[1:]]
        with open(self.folder / "data" / f"{owner}.csv", encoding="utf8") as file:
            rates = [float(row["int_rate"]) for row in csv.DictReader(file)]
        self.assertEqual(len(predicted), len(rates))
        return sum((p - y) ** 2 for p, y in zip(predicted, rates)) / len(rates)

    def test_an_owner_runs_both_programs_and_answers_itself_like_all_others(self):
        consortium = self.consortium('"own_noise"')
        trained, simulated = self.trained(consortium, OWNERS)
        self.assertEqual(trained, simulated)

    def test_from_the_others_first_it_asks_them_alone_and_then_tunes_for_itself(self):
        consortium = self.consortium('"others_first"', ("step   = 1.0", "step   = 1.0\nprox = 0.3"))
        explained = self.parley("charter", "explain", consortium.charter).stdout
        self.assertIn("bank-a, 2,000 records: epsilon 1, delta 0; is asked nothing", explained)
        trained, simulated = self.trained(consortium, OWNERS[1:])
        self.assertEqual(trained, simulated)
        idle = consortium.owner("bank-a", 1)
        self.assertEqual(idle.wait(60), 3)
        self.assertIn("learns from the others, and is asked nothing", consortium.log("bank-a"))
        tune = ["owner", "tune", "bank-a/policy.toml", consortium.charter, "job/transcript.pb.zst"]
        tuned = self.json(*tune, "--out", "tuned.json")
        self.assertFalse(tuned["published"])
        file = self.folder / "tuned.json"
        self.assertEqual(file.stat().st_mode & 0o777, 0o600, "for its owner alone")
        card = json.loads(file.read_text())["privacy_card"]
        self.assertFalse(card["private"])
        self.assertIn("NOT PRIVATE: made of the exact records of bank-a", card["statement"])
        self.assertLess(self.error("tuned.json", "bank-a"), self.error("job/model.json", "bank-a"))
        self.parley(*tune, "--out", "tuned.json", expect=2)
        rows = self.json("ledger", "verify", "bank-a/state/ledger.db")["rows"]
        self.assertEqual(rows, 0, "nothing was released")
        other = ["owner", "tune", "bank-b/policy.toml", consortium.charter, "job/transcript.pb.zst"]
        self.assertIn("bank-b is not the learner", self.parley(*other, expect=3).stderr)

    def test_a_published_model_is_the_simulated_one_and_is_paid_for_once(self):
        consortium = self.consortium('"others_first"',
                                     ("step   = 1.0", "step   = 1.0\nprox = 3.0\npublish = true"))
        self.trained(consortium, OWNERS[1:])
        for out in ("tuned.json", "again.json"):
            subprocess.run([SEEDED_OWNER, "bank-a/policy.toml", consortium.charter,
                            "job/transcript.pb.zst", "5", out], cwd=self.folder, check=True)
            self.assertEqual(self.theta(out), self.theta("sim/model.json"))
        model = json.loads((self.folder / "tuned.json").read_text())
        self.assertTrue(model["privacy_card"]["private"])
        spent = [owner["epsilon"] for owner in model["privacy_card"]["owners"]]
        for epsilon in spent:
            self.assertLessEqual(epsilon, 1)
            self.assertGreater(epsilon, 0.99)
        self.assertEqual(self.json("ledger", "verify", "bank-a/state/ledger.db")["rows"], 1 + 1)
        ledgers = [word for owner in OWNERS
                   for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]
        files = ["tuned.json", "tuned.transcript.pb.zst", consortium.charter]
        done = self.json("verify", *files, *ledgers)
        self.assertTrue(done["verified"] and done["recomputed"])
        self.assertEqual([owner["name"] for owner in done["owners"]], ["bank-b", "bank-c", "bank-a"])
        self.assertTrue(all(owner["epsilon"] <= 1 for owner in done["owners"]))
        model["model"]["theta"][3] += 1e-9
        (self.folder / "tuned.json").write_text(json.dumps(model))
        self.assertIn("model.theta.3", self.parley("verify", *files, expect=5).stdout)
        self.parley("verify", "job/model.json", *files[1:], expect=5)

    def test_statistics_of_the_others_and_its_own_exact_ones(self):
        consortium = self.consortium(
            '"statistics"', ('"pilot_newton"', '"statistics"'), ("rounds = 3", "rounds = 1"),
            ("step   = 1.0", ""), ("max_grad_norm = 8.0", "max_row_norm = 12.0"), epsilon=100,
            budget=100)
        trained, simulated = self.trained(consortium, OWNERS[1:])
        self.assertEqual(trained, simulated)
        self.json("owner", "tune", "bank-a/policy.toml", consortium.charter, "job/transcript.pb.zst",
                  "--out", "tuned.json")
        self.assertLess(self.error("tuned.json", "bank-a"), self.error("job/model.json", "bank-a"))

    def test_under_async_it_learns_from_the_others_and_tunes(self):
        consortium = Consortium(self.folder)
        consortium.join("bank-a", "learner", out="bank-a/learner")
        consortium.write_async_charter(rounds=20, answers=14, rate=50)
        text = consortium.charter.read_text().replace(LEARNER, 'name = "bank-a"').replace(
            "answers = 14", 'answers = 14\nowner_learner = "others_first"')
        consortium.charter.write_text(text)
        learner, port = consortium.learner(identity="bank-a/learner")
        owners = [consortium.owner(owner, port) for owner in OWNERS[1:]]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for owner in owners:
            self.assertEqual(owner.wait(60), 0)
        files = ["job/model.json", "job/transcript.pb.zst", consortium.charter]
        self.assertTrue(self.json("verify", *files)["recomputed"])
        self.json("owner", "tune", "bank-a/policy.toml", *files[:0:-1], "--out", "tuned.json")
        self.assertLess(self.error("tuned.json", "bank-a"), self.error("job/model.json", "bank-a"))


if __name__ == "__main__":
    main()
