"""Federated training under secure aggregation: ten owners over mutual TLS, some of whom are killed."""

import json
import math
import time

from clinics import CLINICS, Clinics
from parley import InFolder, main


class Federated(InFolder):
    def verified(self, clinics):
        ledgers = [word for clinic in CLINICS
                   for word in ("--ledger", f"{clinic}={clinic}/state/ledger.db")]
        done = self.json("verify", "job/model.json", "job/transcript.pb.zst", clinics.charter,
                         *ledgers)
        self.assertTrue(done["verified"] and done["recomputed"])
        return done

    def wait_for(self, clinics, learner, size):
        journal = self.folder / "job" / "journal.pb"
        before = journal.stat().st_size
        while journal.stat().st_size < before + size:
            self.assertIsNone(learner.poll(), clinics.log("learner"))
            time.sleep(0.001)

    def test_a_job_goes_on_when_two_of_ten_are_killed_in_the_middle_of_a_round(self):
        clinics = Clinics(self.folder, 30, repeats=2)
        learner, port = clinics.learner()
        owners = {clinic: clinics.owner(clinic, port) for clinic in CLINICS}
        self.wait_for(clinics, learner, 10_000)
        for clinic in ("clinic-3", "clinic-8"):
            owners[clinic].kill()
        self.assertEqual(learner.wait(60), 0, clinics.log("learner"))
        for clinic, owner in owners.items():
            status = owner.wait(60)
            self.assertEqual(status, -9 if clinic in ("clinic-3", "clinic-8") else 0,
                             clinics.log(clinic))
        for owner in self.verified(clinics)["owners"]:
            killed = owner["name"] in ("clinic-3", "clinic-8")
            self.assertEqual(owner["answers"] < 30, killed, owner)
            self.assertLessEqual(owner["epsilon"], 4)
            self.json("ledger", "verify", self.folder / owner["name"] / "state" / "ledger.db")

    def test_when_all_come_the_model_is_the_simulated_one(self):
        clinics = Clinics(self.folder, 5, evaluate=0.2)
        done = self.json("simulate", clinics.charter, "--data", "data", "--seed", "5", "--out", "sim")
        self.assertEqual([owner["answers"] for owner in done["result"]["owners"]], [5] * 10)
        checked = self.json("owner", "check", "clinic-0/policy.toml", clinics.charter)
        self.assertEqual(checked["charters"][0]["answers"], 6)  # one repeat
        learner, port = clinics.learner()
        for clinic in CLINICS:
            self.addCleanup(clinics.owner(clinic, port, seed=5).wait)
        self.assertEqual(learner.wait(60), 0, clinics.log("learner"))
        trained, simulated = (json.loads((self.folder / folder / "model.json").read_text())
                              for folder in ("job", "sim"))
        self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
        self.assertEqual(trained["evaluation"], simulated["evaluation"])
        self.assertGreater(trained["evaluation"]["loss_standard_error"], 0)
        self.assertEqual(trained["privacy_card"]["protocol"], "federated")
        self.verified(clinics)

    def test_the_papers_algorithm_is_simulated_as_printed(self):
        clinics = Clinics(self.folder, 20)
        charter = clinics.charter.read_text().replace("[privacy]\n", "[privacy]\ncalibration = \"paper\"\n")
        clinics.charter.write_text(charter)
        done = self.json("simulate", clinics.charter, "--data", "data", "--seed", "5", "--out", "sim")
        self.assertFalse(done["private"])
        deviation = 2 * math.sqrt(8 * 100 * math.log(1e6)) / (10 * 200 * 4)  # equation (2), T = 100 local steps
        for owner in done["result"]["owners"]:
            self.assertAlmostEqual(owner["noise_scale"], deviation, 12)
            self.assertEqual((owner["answers"], owner["epsilon_spent"]), (20, 0))
        self.assertFalse((self.folder / "sim/model.json").exists())
        self.assertFalse(list((self.folder / "sim").rglob("ledger*")))
        text = self.parley("simulate", clinics.charter, "--data", "data", "--seed", "5").stdout
        self.assertIn("NOT PRIVATE", text)

    def test_a_synchronous_job_in_a_secure_sum_is_the_simulated_one(self):
        clinics = Clinics(self.folder, 5, sync=True)
        self.json("simulate", clinics.charter, "--data", "data", "--seed", "5", "--out", "sim")
        learner, port = clinics.learner()
        for clinic in CLINICS:
            self.addCleanup(clinics.owner(clinic, port, seed=5).wait)
        self.assertEqual(learner.wait(60), 0, clinics.log("learner"))
        trained, simulated = (json.loads((self.folder / folder / "model.json").read_text())
                              for folder in ("job", "sim"))
        self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
        self.assertEqual(trained["privacy_card"]["protocol"], "sync")
        self.verified(clinics)

    def test_a_gram_matrix_comes_first_as_in_the_simulation(self):
        clinics = Clinics(self.folder, 5, sync=True)
        clinics.write({"name": "sync", "rule": "gram", "rounds": 5}, {"evaluate": 0.1}, {})
        self.json("simulate", clinics.charter, "--data", "data", "--seed", "5", "--out", "sim")
        checked = self.json("owner", "check", "clinic-0/policy.toml", clinics.charter)["charters"][0]
        self.assertTrue(checked["runs"], checked)
        self.assertIn("eigenvalues below", checked["noise"])
        learner, port = clinics.learner()
        for clinic in CLINICS:
            self.addCleanup(clinics.owner(clinic, port, seed=5).wait)
        self.assertEqual(learner.wait(60), 0, clinics.log("learner"))
        trained, simulated = (json.loads((self.folder / folder / "model.json").read_text())
                              for folder in ("job", "sim"))
        self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
        self.assertEqual(trained["evaluation"], simulated["evaluation"])
        self.verified(clinics)
        rows = self.json("ledger", "show", self.folder / "clinic-0" / "state" / "ledger.db")["rows"]
        kinds = [row["kind"] for row in rows if row["kind"] not in ("budget", "approval")]
        self.assertEqual(kinds, ["gram"] + ["answer"] * 5 + ["evaluation"])

    def test_a_synchronous_job_in_a_secure_sum_goes_on_without_one_that_is_killed(self):
        clinics = Clinics(self.folder, 30, sync=True, repeats=2)
        learner, port = clinics.learner()
        owners = {clinic: clinics.owner(clinic, port) for clinic in CLINICS}
        self.wait_for(clinics, learner, 10_000)
        owners["clinic-3"].kill()
        self.assertEqual(learner.wait(60), 0, clinics.log("learner"))
        for clinic, owner in owners.items():
            self.assertEqual(owner.wait(60), -9 if clinic == "clinic-3" else 0, clinics.log(clinic))
        for owner in self.verified(clinics)["owners"]:
            self.assertEqual(owner["answers"] < 30, owner["name"] == "clinic-3", owner)

    def test_a_learner_that_is_killed_resumes_and_owners_pay_the_lost_aggregation_again(self):
        clinics = Clinics(self.folder, 20, repeats=2)
        learner, port = clinics.learner()
        owners = {clinic: clinics.owner(clinic, port) for clinic in CLINICS}
        for _ in range(2):
            self.wait_for(clinics, learner, 5_000)
            learner.kill()
            learner.wait()
            learner, _ = clinics.learner("resume", port)
        self.assertEqual(learner.wait(60), 0, clinics.log("learner"))
        for clinic, owner in owners.items():
            self.assertEqual(owner.wait(60), 0, clinics.log(clinic))
        for owner in self.verified(clinics)["owners"]:
            rows = self.json("ledger", "verify",
                             self.folder / owner["name"] / "state" / "ledger.db")["rows"]
            self.assertIn(rows - 1, (20, 21, 22))

    def test_a_job_that_loses_more_than_it_may_says_so_and_opens_nothing(self):
        clinics = Clinics(self.folder, 200)
        learner, port = clinics.learner("run", 0, 4)
        owners = {clinic: clinics.owner(clinic, port, wait=3) for clinic in CLINICS}
        self.wait_for(clinics, learner, 5_000)
        for clinic in CLINICS[:3]:
            owners[clinic].kill()
        self.assertEqual(learner.wait(60), 4, clinics.log("learner"))
        error = json.loads(clinics.output("learner"))
        self.assertIn("clinic-0", error["error"]["what"] if "error" in error else str(error))
        for owner in owners.values():
            owner.wait(60)


if __name__ == "__main__":
    main()
