"""Bundles from LIBSVM pilots, and a pilot from moments that owners pay for."""

import csv
import hashlib
import json

from consortium import OWNERS, Consortium
from parley import InFolder, main


class Prepare(InFolder):
    def test_a_libsvm_pilot_gives_the_bundle_of_the_same_rows_as_csv(self):
        Consortium(self.folder)
        columns = [f"pc{j}" for j in range(1, 11)]
        with open(self.folder / "data" / "pilot.csv", encoding="utf8") as file:
            rows = list(csv.DictReader(file))
        with open(self.folder / "pilot.libsvm", "w", encoding="utf8") as file:
            for row in rows:
                file.write(row["int_rate"] + "".join(
                    f" {j}:{row[name]}" for j, name in enumerate(columns, 1)) + "\n")
        bundles = []
        for pilot, out in (("data/pilot.csv", "a.json"), ("pilot.libsvm", "b.json")):
            digest = hashlib.sha256((self.folder / pilot).read_bytes()).hexdigest()
            self.parley("data", "prepare", "job.charter.toml", "--pilot", pilot, "--components",
                        "4", "--whiten", "--out", out, "--set", f"pilot.sha256={digest}")
            bundle = json.loads((self.folder / out).read_text())
            self.assertEqual(bundle["made_from"].pop("pilot_sha256"), digest)
            bundles.append(bundle)
        self.assertEqual(bundles[0], bundles[1])
        self.assertEqual(bundles[0]["rotate"]["components"], 4)

    def test_owners_pay_for_moments_once_and_train_with_the_pilot_drawn_from_them(self):
        consortium = Consortium(self.folder, rows=4000, budget=3)
        pay = ["data", "prepare", "job.charter.toml", "--paid", "2", "--row-norm", "1.5"]
        for owner in OWNERS:
            done = self.parley(*pay, "--policy", f"{owner}/policy.toml")
            self.assertIn("epsilon 2 paid", done.stdout)
            ledger = self.json("ledger", "show", f"{owner}/state/ledger.db")
            self.assertAlmostEqual(ledger["datasets"][0]["pure"]["spent"], 2, 4)
        first = (self.folder / "bank-a.moments.json").read_text()
        self.parley(*pay, "--policy", "bank-a/policy.toml", "--out", "again.json")
        self.assertEqual((self.folder / "again.json").read_text(), first)
        self.assertEqual(self.json("ledger", "verify", "bank-a/state/ledger.db")["rows"], 1 + 1)
        refused = self.parley("data", "prepare", "job.charter.toml", "--paid", "2.5", "--policy",
                              "bank-a/policy.toml", expect=3)
        self.assertIn("budget", refused.stderr)
        refused = self.parley("data", "prepare", "job.charter.toml", "--paid", "3.5", "--policy",
                              "bank-a/policy.toml", expect=3)
        self.assertIn("no [[accept]] rule", refused.stderr)

        files = [f"{owner}.moments.json" for owner in OWNERS]
        drawn = self.json("data", "prepare", "job.charter.toml", "--moments", *files, "--rows",
                          "2000", "--out", "data/drawn.csv")
        self.assertEqual(drawn["pilot"]["file"], "data/drawn.csv")
        self.assertEqual(len(drawn["paid"]), 3)
        before = (self.folder / "data" / "drawn.csv").read_text()
        self.parley("data", "prepare", "job.charter.toml", "--moments", *files, "--rows", "2000",
                    "--out", "again.csv")
        self.assertEqual((self.folder / "again.csv").read_text(), before)
        changed = json.loads(first)
        changed["upper_triangle"][1] += 0.5
        (self.folder / "again.json").write_text(json.dumps(changed))
        draw = ["data", "prepare", "job.charter.toml", "--moments", "again.json", *files[1:]]
        self.assertIn("sign_key in the charter signed", self.parley(*draw, expect=5).stderr)
        del changed["signature"]
        (self.folder / "again.json").write_text(json.dumps(changed))
        self.assertIn("is not signed by bank-a", self.parley(*draw, expect=5).stderr)
        text = consortium.charter.read_text()
        digest = hashlib.sha256((self.folder / "data" / "pilot.csv").read_bytes()).hexdigest()
        self.assertIn(digest, text)
        text = text.replace(digest, drawn["pilot"]["sha256"]).replace("pilot.csv", "drawn.csv")
        consortium.charter.write_text(text)
        result = self.json("simulate", consortium.charter, "--data", "data")["result"]
        self.assertLess(result["relative_fitness"]["mean"], 1e3)  # it runs; how well is measured
        self.assertEqual(result["owners"][0]["answers"], 3)
        # Drawn rows look like rows; how noisy the moments were, only the moments tell.
        forecast = ["forecast", consortium.charter, "--data", "data"]
        as_rows = self.json(*forecast)["answers"]["how_sure"]["interval"]
        how_sure = self.json(*forecast, "--moments", *files)["answers"]["how_sure"]
        self.assertIn("noise of the paid moments", how_sure["includes"])
        # Wider on average only: the noise that was paid for is that of one draw.
        self.assertNotEqual(how_sure["interval"], as_rows)

    def test_one_way_at_a_time(self):
        consortium = Consortium(self.folder)
        self.parley("data", "prepare", consortium.charter, expect=2)
        self.parley("data", "prepare", consortium.charter, "--paid", "1", expect=2)
        self.parley("data", "prepare", consortium.charter, "--pilot", "data/pilot.csv", "--moments",
                    "a.json", expect=2)
        self.parley("data", "prepare", consortium.charter, "--pilot", "data/pilot.csv", "--policy",
                    "bank-a/policy.toml", expect=2)


if __name__ == "__main__":
    main()
