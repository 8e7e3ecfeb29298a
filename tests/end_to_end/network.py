"""Real processes over mutual TLS on one machine: three owners and a learner."""

import json

from consortium import OWNERS, Consortium
from parley import InFolder, main


class Network(InFolder):
    def train(self, consortium, seed=None):
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port, seed) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        return json.loads((self.folder / "job" / "model.json").read_text())

    def test_a_networked_job_gives_the_simulated_model_bit_for_bit(self):
        consortium = Consortium(self.folder)
        self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out", "sim")
        simulated = json.loads((self.folder / "sim" / "model.json").read_text())
        trained = self.train(consortium, seed=5)
        self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
        self.assertTrue(trained["privacy_card"]["private"])
        self.assertFalse(simulated["privacy_card"]["private"])

    def test_every_rule_gives_the_simulated_model_and_is_verified(self):
        consortium = Consortium(self.folder, budget=40)
        step, clip = "step   = 1.0", "max_grad_norm = 8.0"
        weights = (step, 'step = 1.0\nweights = "noise_optimal"')
        jobs = {
            "constant": [(step, "step = 0.5\nmomentum = 0.3")],
            "strongly_convex": [("[model]", "[model]\nl2 = 0.5")],
            "pilot_newton": [weights, ("epsilon  = 1 ", "epsilon  = 3 ")],
            "statistics": [("rounds = 3", ""), (step, ""), (clip, "max_row_norm = 4.0")],
        }
        for seed, (rule, replace) in enumerate(jobs.items()):
            with self.subTest(rule):
                consortium.write_charter(replace=[('"pilot_newton"', f'"{rule}"'), *replace])
                self.parley("simulate", consortium.charter, "--data", "data", "--seed", str(seed),
                            "--out", rule)
                simulated = json.loads((self.folder / rule / "model.json").read_text())
                trained = self.train(consortium, seed=seed)
                self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
                done = self.parley("verify", "job/model.json", "job/transcript.pb.zst",
                                   consortium.charter)
                self.assertIn("identical", done.stdout)
                (self.folder / "job").rename(self.folder / f"job-{rule}")

    def test_the_evaluation_is_paid_shown_and_verified_and_its_receipts_are_in_the_ledgers(self):
        consortium = Consortium(self.folder)
        consortium.write_charter(replace=[("evaluate      = 0.0 ", "evaluate      = 0.2 ")])
        model = self.train(consortium)
        said = json.loads(consortium.output("learner"))
        evaluation = model["evaluation"]
        self.assertEqual(said["evaluation"], evaluation)
        self.assertGreater(evaluation["loss_standard_error"], 0)
        self.assertNotIn("accuracy", evaluation)
        for card in model["privacy_card"]["owners"]:
            self.assertEqual(card["receipts"], 3 + 1)
            self.assertAlmostEqual(card["epsilon_evaluation"], 0.2 * consortium.epsilon, 5)
            self.assertLessEqual(card["epsilon"], consortium.epsilon)
        ledgers = [word for owner in OWNERS for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]
        done = self.json("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
                         *ledgers)
        self.assertTrue(done["verified"] and done["recomputed"])
        self.assertEqual(done["evaluation"], evaluation)
        self.assertEqual([owner["answers"] for owner in done["owners"]], [4, 4, 4])

    def test_the_product_draws_its_own_noise_and_cannot_be_seeded(self):
        consortium = Consortium(self.folder, rounds=1)
        refused = self.parley("owner", "run", "bank-a/policy.toml", "--seed", "5", expect=2)
        self.assertIn("--seed", refused.stderr)
        first = self.train(consortium)
        for owner in OWNERS:
            for file in (self.folder / owner / "state").iterdir():
                file.unlink()
        for folder in (self.folder / "job", self.folder / "central-bank" / "receipts"):
            for file in folder.iterdir():  # A learner that remembered would stop them.
                file.unlink()
        self.assertNotEqual(self.train(consortium)["model"]["theta"], first["model"]["theta"])

    def test_every_ledger_holds_what_was_answered(self):
        consortium = Consortium(self.folder)
        self.train(consortium)
        for owner in OWNERS:
            ledger = self.folder / owner / "state" / "ledger.db"
            verified = self.json("ledger", "verify", ledger)
            self.assertEqual(verified["rows"], 1 + 3)  # a budget and three answers

    def test_the_doctor_says_whether_the_learner_runs_the_charter(self):
        consortium = Consortium(self.folder)
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        other = self.folder / "other.charter.toml"
        consortium.write_charter(other, replace=[('rounds = 3', 'rounds = 2')])
        ask = ["doctor", "bank-a/policy.toml", "--dial", f"127.0.0.1:{port}", "--charter"]
        checks = {c["check"]: c["state"] for c in self.json(*ask, consortium.charter)["checks"]}
        self.assertEqual(checks["job"], "ok")
        wrong = self.parley(*ask, other, expect=4).stdout  # It may be the learner's next job.
        self.assertRegex(wrong.splitlines()[0], "^Wrong: a message for charter [0-9a-f]{64} arrived")
        for owner in OWNERS:  # The learner goes on.
            self.addCleanup(consortium.owner(owner, port).wait)
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))

    def test_a_charter_that_waits_for_a_person_runs_once_approved(self):
        consortium = Consortium(self.folder, rounds=1)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text().replace("person = false", "person = true"))
        refused = self.parley("owner", "run", policy, consortium.charter, "--dial",
                              "127.0.0.1:9", expect=3)
        self.assertIn("waits for a person", refused.stderr)
        self.parley("owner", "approve", policy, consortium.charter)
        self.train(consortium)

    def test_a_daemon_attends_every_charter_that_is_put_into_its_folder(self):
        consortium = Consortium(self.folder, rounds=2)
        learner, port = consortium.learner()
        owners = [consortium.start(owner, "owner", "run", f"{owner}/policy.toml", "--dial",
                                   f"127.0.0.1:{port}") for owner in OWNERS]
        for process in owners:
            self.addCleanup(process.kill)
        for owner in OWNERS:
            folder = self.folder / owner / "charters"
            folder.mkdir()
            (folder / "data").symlink_to(self.folder / "data")  # where its pilot lies
            (folder / "job.charter.toml").write_text(consortium.charter.read_text())
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, process in zip(OWNERS, owners):
            process.terminate()
            self.assertEqual(process.wait(30), 0, consortium.log(name))
            self.assertIn("finished, model", consortium.log(name))

    def test_what_no_rule_accepts_is_refused_before_anyone_is_dialled(self):
        consortium = Consortium(self.folder, epsilon=1, budget=0.5)
        refused = self.parley("owner", "run", "bank-a/policy.toml", consortium.charter,
                              "--dial", "127.0.0.1:9", expect=3)
        self.assertIn("no [[accept]] rule", refused.stderr)


if __name__ == "__main__":
    main()
