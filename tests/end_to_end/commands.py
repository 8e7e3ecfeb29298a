"""What a user types, with the real binary: each command, as text and as JSON."""

import hashlib
import json
import math
import re
import shutil
import statistics
from random import Random

from parley import EXAMPLE, InFolder, main, run

OWNERS = ["bank-a", "bank-b", "bank-c"]


class Commands(InFolder):
    def generate(self, rows=2000):
        owners = [word for name in OWNERS for word in ("--owner", f"{name}={rows}")]
        return self.json("data", "generate", "lending", *owners, "--out", "data")

    def test_help_and_version_go_to_stdout(self):
        self.assertRegex(self.parley("--version").stdout, r"^\d+\.\d+\.\d+\n$")
        self.assertIn("simulate", self.parley("--help").stdout)
        self.assertIn("--seed", self.parley("simulate", "--help").stdout)

    def test_generate_writes_what_it_says_and_repeats_itself(self):
        files = self.generate()["files"]
        self.assertEqual([f["rows"] for f in files], [2000, 2000, 2000, 10000])
        for file in files:
            content = (self.folder / file["file"]).read_bytes()
            self.assertEqual(hashlib.sha256(content).hexdigest(), file["sha256"])
            self.assertEqual(content.count(b"\n"), file["rows"] + 1)
        self.assertEqual(self.generate()["files"], files)

    def test_generated_rows_do_not_depend_on_how_they_are_cut(self):
        self.generate()
        self.parley("data", "generate", "lending", "--rows", "6000", "--out", "one")
        lines = (self.folder / "one" / "lending.csv").read_text().splitlines()[1:]
        parts = []
        for name in OWNERS:
            parts += (self.folder / "data" / f"{name}.csv").read_text().splitlines()[1:]
        self.assertEqual(lines, parts)

    def test_charter_commands_agree_on_the_hash(self):
        digest = self.parley("charter", "hash", EXAMPLE).stdout.strip()
        self.assertEqual(len(digest), 64)
        self.assertIn(digest, self.parley("charter", "check", EXAMPLE).stdout)
        self.assertIn(digest, self.parley("charter", "explain", EXAMPLE).stdout)
        described = self.json("charter", "check", EXAMPLE)
        self.assertEqual(described["sha256"], digest)
        self.assertTrue(described["complete"])
        changed = self.parley("charter", "hash", EXAMPLE, "--set", "protocol.rounds=4").stdout
        self.assertNotEqual(changed.strip(), digest)

    def test_simulate_from_files_and_from_the_stand_in_give_the_same_model(self):
        self.generate()
        pilot = (self.folder / "data" / "pilot.csv").read_bytes()
        charter = self.charter(pilot__sha256=f'"{hashlib.sha256(pilot).hexdigest()}"')
        self.parley("simulate", *charter, "--data", "data", "--seed", "7", "--out", "files")
        self.parley("simulate", *charter, "--standin", "lending", "--seed", "7", "--out", "standin")
        one = [f"--data={name}=data/{name}.csv" for name in OWNERS]
        self.parley("simulate", *charter, *one, "--seed", "7", "--out", "named")
        models = [(self.folder / out / "model.json").read_bytes()
                  for out in ("files", "standin", "named")]
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])

    def test_sparse_files_give_the_model_of_dense_ones(self):
        files = {f["file"]: f["sha256"] for f in self.generate()["files"]}
        charter = self.charter(pilot__sha256=f'"{files["data/pilot.csv"]}"')
        for name in OWNERS:
            lines = (self.folder / "data" / f"{name}.csv").read_text().splitlines()[1:]
            rows = [line.split(",") for line in lines]
            (self.folder / f"{name}.libsvm").write_text("".join(
                row[-1] + "".join(f" {j}:{value}" for j, value in enumerate(row[:-1], 1)
                                  if float(value) != 0) + "\n" for row in rows))
        shutil.copy(self.folder / "data" / "pilot.csv", self.folder)
        self.parley("simulate", *charter, "--data", "data", "--out", "dense")
        sparse = [f"--data={name}={name}.libsvm" for name in OWNERS]
        self.parley("simulate", *charter, *sparse, "--out", "sparse")
        models = [(self.folder / out / "model.json").read_bytes() for out in ("dense", "sparse")]
        self.assertEqual(models[0], models[1])

    def test_simulate_json_has_the_documented_shape(self):
        result = self.json("simulate", *self.charter(), "--standin", "lending", "--runs", "5")
        self.assertEqual(result["format"], "parley.simulate/1")
        self.assertFalse(result["private"])
        self.assertEqual(result["runs"], 5)
        self.assertEqual([o["name"] for o in result["result"]["owners"]], OWNERS)
        for owner in result["result"]["owners"]:
            self.assertEqual(owner["answers"], 3)
            self.assertLessEqual(owner["epsilon_spent"], owner["epsilon"])
            self.assertGreater(owner["epsilon_spent"], 0.999 * owner["epsilon"])
        self.assertEqual(len(result["result"]["by_round"]), 3)
        self.assertLess(result["optimum"]["relative_gap"], 1e-8)
        model = self.folder / result["model"]
        self.assertTrue(model.exists())

    def test_simulate_gives_every_owner_four_figures_on_its_own_rows(self):
        charter = self.charter(owner__0__rows=300, owner__1__rows=2000, owner__2__rows=2000)
        result = self.json("simulate", *charter, "--standin", "lending", own_figures=True)
        own = result["result"]["own_rows"]
        self.assertEqual(own["held_out"], 0.2)
        self.assertEqual(own["metric"], "rmse")
        self.assertEqual([o["owner"] for o in own["owners"]], OWNERS)
        for owner in own["owners"]:
            for figure in ("alone", "own_public", "joint", "personal"):
                self.assertGreater(owner[figure]["value"], 1)
                self.assertGreater(owner[figure]["standard_error"], 0)
            gain = owner["alone"]["value"] - owner["personal"]["value"]
            self.assertAlmostEqual(owner["gain_over_alone"]["value"], gain, 9)
        self.assertEqual(own["owners"][0]["held_out_rows"], 60)
        text = self.parley("simulate", *charter, "--standin", "lending", own_figures=True).stdout
        self.assertIn("On each owner's own held-out rows, RMSE:", text)
        self.assertIn("The papers' measure", text)
        self.assertNotIn("times closer", text)
        off = self.json("simulate", *charter, "--standin", "lending", "--held-out", "0")
        self.assertNotIn("own_rows", off["result"])
        self.parley("simulate", *charter, "--standin", "lending", "--held-out", "0.7", expect=2)
        for key in ("relative_fitness", "metrics"):
            self.assertEqual(off["result"][key], result["result"][key], "the job is the same")

    def test_simulate_trains_classifiers_and_says_how_good_they_are(self):
        random = Random(1)
        for name, rows in (("bank-a", 1500), ("bank-b", 1500), ("bank-c", 1500), ("pilot", 300)):
            lines = [",".join([f"pc{i + 1}" for i in range(10)] + ["approved"])]
            for _ in range(rows):
                z = [random.uniform(-2, 2) for _ in range(10)]
                lines.append(",".join([f"{x:.3f}" for x in z]
                                      + ["yes" if z[0] + z[1] + random.gauss(0, 1) > 0 else "no"]))
            (self.folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        digest = hashlib.sha256((self.folder / "pilot.csv").read_bytes()).hexdigest()
        text = re.sub(r"\[target\].*?(?=\n\[)",
                      '[target]\ncolumn = "approved"\nlevels = ["no", "yes"]\n',
                      EXAMPLE.read_text(), flags=re.DOTALL)
        (self.folder / "c.toml").write_text(text)
        sets = [f"--set=owner.{i}.rows=1500" for i in range(3)]
        sets += [f'--set=pilot.sha256="{digest}"', "--set=pilot.rows=300", "--set=model.l2=0.01"]
        for loss, more in (("logistic", ["--set=model.class_weights=[1, 2]"]),
                           ("hinge", ["--set=protocol.rule=algorithm2", "--set=protocol.step=0.3"]),
                           ("huber", ["--set=model.huber_delta=0.7"])):
            result = self.json("simulate", "c.toml", *sets, f"--set=model.loss={loss}", *more,
                               "--data", ".", "--seed", "7")
            metrics = result["result"]["metrics"]["joint"]
            self.assertGreater(metrics["auc"], 0.8, loss)
            self.assertGreater(metrics["accuracy"], 0.7, loss)
            self.assertEqual("log_loss" in metrics, loss == "logistic")
            self.assertLess(result["optimum"]["relative_gap"], 1e-8)
            model = json.loads((self.folder / "runs" / "7" / "model.json").read_text())["model"]
            self.assertEqual(model["loss"], loss)
            self.assertEqual(model.get("class_weights"),
                             {"logistic": [1, 2], "hinge": [1, 1]}.get(loss))

    def test_progress_goes_to_stderr_and_quiet_silences_it(self):
        loud = self.parley("simulate", *self.charter(), "--standin", "lending")
        self.assertIn("training: 100 %", loud.stderr)
        self.assertNotIn("training:", loud.stdout)
        quiet = self.parley("--quiet", "simulate", *self.charter(), "--standin", "lending")
        self.assertEqual(quiet.stderr, "")
        self.assertEqual(quiet.stdout.splitlines()[-1], loud.stdout.splitlines()[-1])

    def test_predict_reads_only_the_model_and_the_data(self):
        self.generate()
        self.parley("simulate", *self.charter(), "--standin", "lending", "--seed", "7")
        shutil.copy(self.folder / "runs" / "7" / "model.json", self.folder / "m.json")
        lines = self.parley("predict", "m.json", "data/pilot.csv").stdout.splitlines()
        self.assertEqual(lines[0], "int_rate")
        predicted = [float(x) for x in lines[1:]]
        rates = [float(line.split(",")[-1])
                 for line in (self.folder / "data" / "pilot.csv").read_text().splitlines()[1:]]
        self.assertEqual(len(predicted), len(rates))
        rmse = math.sqrt(statistics.fmean((a - b) ** 2 for a, b in zip(predicted, rates)))
        self.assertLess(rmse, 0.6 * statistics.pstdev(rates))
        values = self.json("predict", "m.json", "data/pilot.csv")["values"]
        self.assertEqual(values, predicted)

    def test_ledger_shows_and_verifies_what_the_simulation_spent(self):
        self.parley("simulate", *self.charter(), "--standin", "lending", "--seed", "7")
        ledger = "runs/7/simulated/bank-b/ledger.db"
        verified = self.json("ledger", "verify", ledger)
        shown = self.json("ledger", "show", ledger)
        self.assertEqual(verified["rows"], 4)
        self.assertEqual(verified["head"], shown["head"])
        self.assertEqual([row["kind"] for row in shown["rows"]], ["budget"] + ["answer"] * 3)
        self.assertLessEqual(shown["datasets"][0]["pure"]["spent"], 1)
        self.assertIn("chain whole", self.parley("ledger", "verify", ledger).stdout)

    def test_three_large_banks_gain_by_the_papers_measure(self):
        # The joint model beats each bank's own over all rows in every run of 20, because its error is
        # several times smaller than theirs.
        result = self.json("simulate", EXAMPLE, "--standin", "lending", "--runs", "20")
        self.assertEqual(result["result"]["pilot_alarms"], 20)  # The pilot is the newest part of rows that drift.
        for owner in result["result"]["owners"]:
            self.assertTrue(owner["gains"], owner)
            self.assertLess(2 * result["result"]["relative_fitness"]["p75"], owner["local_only"])


if __name__ == "__main__":
    main()
