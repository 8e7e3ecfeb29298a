"""How far owners differ, bought as one number in a secure sum, and the forecast that reads it."""

import json
import subprocess

from charters import block
from consortium import must
from federated import CLINICS, Clinics
from parley import InFolder, main


class Unlike(Clinics):
    """The clinics with public rows, one charter to buy the distance and one to train."""

    def __init__(self, folder, epsilon=0.5):
        self.epsilon = epsilon
        super().__init__(folder, 1, sync=True)

    def write(self, protocol, privacy, secure):
        must("data", "generate", "lending", "--seed", "2", "--pilot", "500", "--out", "public",
             "--owner", "nobody=1", cwd=self.folder)
        self.training = self.folder / "training.charter.toml"
        self.charter.write_text(self.text("distance", {"rule": "distance"}, {}, self.epsilon))
        self.training.write_text(self.text(
            "training", {"rule": "constant", "rounds": 4, "step": 0.2}, {"max_grad_norm": 2.0}, 1.0))

    def text(self, name, protocol, privacy, epsilon):
        pilot = self.folder / "public" / "pilot.csv"
        digest = subprocess.run(["sha256sum", pilot], text=True, capture_output=True,
                                check=True).stdout.split()[0]
        return "\n".join([
            block("[charter]", {"version": 1, "name": name, "consortium": "banks.example"}),
            block("[pilot]", {"file": "public/pilot.csv", "sha256": digest, "rows": 500}),
            block("[target]", {"column": "int_rate", "bounds": [5.0, 29.0], "center": 13.25,
                               "scale": 15.75}),
            block("[[column]]", {"name": "pc", "count": 10, "kind": "number",
                                 "bounds": [-40.0, 40.0], "missing": 0.0}),
            block("[model]", {"loss": "squared", "l2": 0.01, "box": 1.0}),
            block("[protocol]", {"name": "sync", **protocol}),
            block("[privacy]", privacy),
            block("[secure_aggregation]", {}),
            block("[network]", {"deadline_s": 60}),  # All must be in the sum.
            *[block("[[owner]]", {"name": clinic, "rows": 200, "epsilon": epsilon, "delta": 1e-6,
                                  "sign_key": self.sign_keys[clinic]}) for clinic in CLINICS],
            block("[learner]", {"name": "central-bank", "address": "127.0.0.1:7443"})])


class Distance(InFolder):
    def fails(self, code, why, *arguments):
        self.assertIn(why, self.parley(*arguments, expect=code).stderr)

    def completed(self, clinics):
        """The draft with its clip chosen; returns what the forecast said."""
        said = self.json("forecast", clinics.charter, "--out", clinics.charter)
        self.assertEqual([choice["key"] for choice in said["chosen"]], ["privacy.max_grad_norm"])
        return said

    def test_bought_over_the_network_it_is_the_simulated_number_and_the_forecast_reads_it(self):
        clinics = Unlike(self.folder)
        price = self.completed(clinics)["distance"]
        self.assertIn("noise of deviation", self.parley("charter", "explain", clinics.charter).stdout)
        done = self.json("simulate", clinics.charter, "--data", "data", "--seed", "5", "--out", "sim")
        self.assertAlmostEqual(done["result"]["distance"]["norm_standard_error"], price["noise"])
        before = self.json("owner", "check", "clinic-0/policy.toml", clinics.charter)["charters"][0]
        self.assertEqual(before["left"], self.left(clinics))
        learner, port = clinics.learner()
        for clinic in CLINICS:
            self.addCleanup(clinics.owner(clinic, port, seed=5).wait)
        self.assertEqual(learner.wait(60), 0, clinics.log("learner"))
        bought, simulated = (json.loads((self.folder / folder / "model.json").read_text())
                             for folder in ("job", "sim"))
        self.assertEqual(bought["distance"], simulated["distance"])
        self.assertTrue(bought["privacy_card"]["private"])
        ledgers = [word for clinic in CLINICS
                   for word in ("--ledger", f"{clinic}={clinic}/state/ledger.db")]
        verified = self.json("verify", "job/model.json", "job/transcript.pb.zst", clinics.charter,
                             *ledgers)
        self.assertTrue(verified["verified"] and verified["recomputed"])
        self.assertEqual(verified["distance"]["norm"], bought["distance"]["norm"])
        for owner in verified["owners"]:
            self.assertEqual(owner["answers"], 1)
            self.assertLessEqual(owner["epsilon"], 0.5)
        self.assertAlmostEqual(self.left(clinics), before["left_after"])  # One account for both jobs.
        self.forecast_reads_it(clinics)
        bought["distance"]["norm"] *= 1.01
        (self.folder / "job" / "model.json").write_text(json.dumps(bought))
        done = self.parley("verify", "job/model.json", "job/transcript.pb.zst", clinics.charter,
                           expect=5)
        self.assertIn("distance.norm", done.stdout + done.stderr)

    def left(self, clinics):
        """Of the lifetime budget of the data set, for the training job."""
        said = self.json("owner", "check", "clinic-0/policy.toml", clinics.training)
        return said["charters"][0]["left"]

    def forecast_reads_it(self, clinics):
        blind = self.json("forecast", clinics.training)["answers"]
        said = self.json("forecast", clinics.training, "--distance", "job/model.json")["answers"]
        self.assertEqual([blind["how_unlike"]["from"], said["how_unlike"]["from"]],
                         ["nobody", "paid"])
        tau = said["how_unlike"]["tau"]
        self.assertTrue(0 <= tau["low"] <= tau["mean"] <= tau["high"])
        for before, after in zip(blind["for_whom"], said["for_whom"]):
            self.assertTrue(before["verdicts"][0]["if_alike"])
            self.assertFalse(after["verdicts"][0]["if_alike"])
        text = self.parley("forecast", clinics.training, "--distance", "job/model.json").stdout
        self.assertNotIn("alike", text)
        self.assertIn("the numbers that owners paid for", text)

    def test_a_file_that_says_something_else_is_refused(self):
        clinics = Unlike(self.folder)
        self.completed(clinics)
        self.parley("simulate", clinics.charter, "--data", "data", "--out", "sim")
        self.parley("simulate", clinics.training, "--data", "data", "--out", "other")
        self.fails(2, "no result of rule", "forecast", clinics.training, "--distance",
                   "other/model.json")
        self.fails(2, "given twice", "forecast", clinics.training, "--distance", "sim/model.json",
                   "--differ", "0.1")
        model = json.loads((self.folder / "sim" / "model.json").read_text())
        model["distance"]["pilot_sha256"] = "0" * 64
        (self.folder / "sim" / "model.json").write_text(json.dumps(model))
        self.fails(2, "other public rows", "forecast", clinics.training, "--distance",
                   "sim/model.json")

    def test_a_simulation_says_what_the_number_would_be_without_noise(self):
        clinics = Unlike(self.folder, epsilon=10000.0)
        self.completed(clinics)
        done = self.json("simulate", clinics.charter, "--data", "data", "--runs", "3")
        bought = done["result"]["bought"]
        self.assertGreater(bought["noiseless"], 0)
        self.assertAlmostEqual(bought["tau"] / bought["noiseless"], 1, 2)
        self.assertLess(bought["deviation"], 0.01 * bought["mean"])
        self.assertTrue(bought["forecast_low"] < bought["noiseless"] < bought["forecast_high"])
        text = self.parley("simulate", clinics.charter, "--data", "data", "--out", "again").stdout
        self.assertIn("Without noise the numbers would say", text)

    def test_an_owner_without_the_public_rows_says_so_and_pays_nothing(self):
        clinics = Unlike(self.folder)
        self.completed(clinics)
        (self.folder / "public" / "pilot.csv").unlink()
        done = self.parley("owner", "check", "clinic-0/policy.toml", clinics.charter, expect=3)
        self.assertIn("pilot.csv was not found", done.stdout + done.stderr)

    def test_sites_of_the_public_rows_say_it_for_nothing(self):
        clinics = Unlike(self.folder)
        rows = (self.folder / "public" / "pilot.csv").read_text().splitlines()
        named = [rows[0] + ",site"] + [f"{row},{'abcdefgh'[i % 8]}"
                                       for i, row in enumerate(rows[1:])]
        (self.folder / "public" / "pilot.csv").write_text("\n".join(named) + "\n")
        text = clinics.text("training", {"rule": "constant", "rounds": 4, "step": 0.2},
                            {"max_grad_norm": 2.0}, 1.0)
        blind = self.json("forecast", self.write("blind.toml", text))
        text = text.replace("rows = 500\n", 'rows = 500\ngroup = "site"\n', 1)
        said = self.json("forecast", self.write("sites.toml", text))
        self.assertEqual(blind["answers"]["how_unlike"]["from"], "nobody")
        self.assertEqual(said["answers"]["how_unlike"]["from"], "sites")
        self.assertFalse(said["answers"]["for_whom"][0]["verdicts"][0]["if_alike"])
        self.assertGreater(said["answers"]["how_unlike"]["tau"]["high"], 0)
        text = text.replace('group = "site"', 'group = "nowhere"')
        self.fails(2, "nowhere", "forecast", self.write("wrong.toml", text))

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name


if __name__ == "__main__":
    main()
