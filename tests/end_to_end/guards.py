"""What commands do not overwrite, do not mistake for something else, and say before and not after."""

import csv
import io
import json
import math
import random

from parley import InFolder, main, run

OWNERS = ["bank-a", "bank-b"]


class Guards(InFolder):
    def write(self, name, rows, separator=",", decimal=".", header=True):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        if header:
            writer.writerow(["age", "sex", "hours", "rich"])
        for row in rows:
            writer.writerow([str(cell).replace(".", decimal) if isinstance(cell, float) else cell for cell in row])
        (self.folder / "data").mkdir(exist_ok=True)
        (self.folder / "data" / f"{name}.csv").write_text(out.getvalue())

    def people(self, seed, count=400):
        luck = random.Random(seed)
        rows = []
        for _ in range(count):
            age, sex, hours = luck.uniform(20, 70), luck.choice("fm"), luck.uniform(10, 60)
            score = (age - 45) / 15 + (hours - 35) / 20 + luck.gauss(0, 1)
            rows.append([round(age, 2), sex, round(hours, 1), "yes" if score > 0 else "no"])
        return rows

    def setUp(self):
        super().setUp()
        for seed, name in enumerate(["pilot", *OWNERS]):
            self.write(name, self.people(seed))

    def init(self, *options, expect=0, target="rich"):
        return self.parley("init", *(f"data/{name}.csv" for name in OWNERS), "--pilot", "data/pilot.csv", "--target",
                           target, "--out", "draft.charter.toml", *options, expect=expect)

    def complete(self, *sets):
        """A charter of the draft that trains."""
        self.parley("forecast", "draft.charter.toml", "--data", "data", "--tune", "--protocols", "sync", "--out",
                    "job.charter.toml", *sets)

    def test_init_and_prepare_never_overwrite(self):
        self.init()
        before = (self.folder / "draft.charter.toml").read_text()
        said = self.init("--epsilon", "9", expect=2).stderr
        self.assertIn("nothing is overwritten", said)
        self.assertIn("--out", said)
        self.assertEqual((self.folder / "draft.charter.toml").read_text(), before)
        (self.folder / "draft.charter.toml").rename(self.folder / "mine.toml")
        self.init(expect=2)  # The policies are there.
        self.assertFalse((self.folder / "draft.charter.toml").exists())
        prepare = ["data", "prepare", "mine.toml", "--pilot", "data/pilot.csv"]
        self.parley(*prepare)
        bundle = (self.folder / "bundle.json").read_text()
        self.parley(*prepare)  # the same file
        self.assertIn("it stays", self.parley(*prepare, "--whiten", expect=2).stderr)
        self.assertEqual((self.folder / "bundle.json").read_text(), bundle)
        self.parley(*prepare, "--whiten", "--out", "other.json")

    def test_a_random_split_leaves_no_order(self):
        rows = sorted(self.people(9, 1000))
        self.write("sorted", rows)
        self.parley("data", "split", "data/sorted.csv", "--owners", "x,y", "--random", "3", "--out", "parts")
        found = []
        for name in ("x", "y"):
            with open(self.folder / f"parts/{name}.csv", newline="", encoding="utf-8") as file:
                ages = [float(row["age"]) for row in csv.DictReader(file)]
            rising = sum(a <= b for a, b in zip(ages, ages[1:]))
            self.assertLess(abs(rising - len(ages) / 2), 5 * math.sqrt(len(ages) / 12))
            found += ages
        self.assertEqual(sorted(found), [row[0] for row in rows])

    def test_files_without_a_header_are_refused(self):
        self.write("bare", self.people(3), header=False)
        (self.folder / "data/sparse.csv").write_text("-1 1:0.5 3:1\n+1 2:1\n")
        for command in (["data", "describe", "data/bare.csv"],
                        ["init", "data/bare.csv", "--pilot", "data/pilot.csv", "--target", "rich"],
                        ["init", "--pilot", "data/bare.csv", "--target", "rich"],
                        ["data", "split", "data/bare.csv", "--owners", "x,y"]):
            self.assertIn("looks like a record", self.parley(*command, expect=2).stderr)
        self.assertIn("LIBSVM", self.parley("data", "describe", "data/sparse.csv", expect=2).stderr)
        self.assertIn("LIBSVM", self.parley("init", "--pilot", "data/sparse.csv", "--target", "x", expect=2).stderr)

    def test_separator_and_decimal_sign_are_found_and_remembered(self):
        self.init()
        self.complete()
        self.parley("--quiet", "simulate", "job.charter.toml", "--data", "data", "--out", "plain")
        text = (self.folder / "draft.charter.toml").read_text()
        for name in ["draft.charter.toml", *(f"{name}.policy.toml" for name in OWNERS)]:
            (self.folder / name).unlink()
        for seed, name in enumerate(["pilot", *OWNERS]):
            self.write(name, self.people(seed), ";", ",")
        self.init()
        kept = [[line for line in charter.splitlines() if not line.startswith("sha256")]
                for charter in (text, (self.folder / "draft.charter.toml").read_text())]
        self.assertEqual(*kept)
        policy = (self.folder / "bank-a.policy.toml").read_text()
        self.assertIn('separator = ";"', policy)
        self.assertIn('decimal = ","', policy)
        self.complete()
        self.parley("--quiet", "simulate", "job.charter.toml", "--data", "data", "--out", "found")
        thetas = [json.loads((self.folder / out / "model.json").read_text())["model"]["theta"]
                  for out in ("plain", "found")]
        self.assertEqual(*thetas)
        values = self.json("predict", "found/model.json", "data/bank-a.csv")["values"]
        self.assertEqual(len(values), 400)

    def test_a_pilot_drawn_from_moments_is_read_beside_semicolons(self):
        for seed, name in enumerate(OWNERS, 1):
            self.write(name, self.people(seed), ";", ",")
        (self.folder / "data/pilot.csv").unlink()
        self.parley("init", *(f"data/{name}.csv" for name in OWNERS), "--target", "rich", "--delta", "0", "--epsilon",
                    "100", "--out", "draft.charter.toml")
        text = (self.folder / "draft.charter.toml").read_text()
        text = text.replace('bounds = [-1,1]', 'levels = ["no", "yes"]').replace('loss = "squared"', 'loss = "logistic"')
        text = "\n".join(line for line in text.splitlines() if not line.startswith(("center", "scale")))
        blocks = text.split("[[column]]")
        described = {"age": "bounds = [20, 70]", "hours": "bounds = [10, 60]"}
        for i, block in enumerate(blocks[1:], 1):
            name = block.split('"')[1]
            rest = block[block.index("\n\n"):] if "\n\n" in block else ""
            blocks[i] = f'\nname = "{name}"\n' + (
                f'kind = "number"\n{described[name]}\nmissing = 40\n' if name in described
                else 'kind = "category"\nlevels = ["f", "m"]\nencode = "integer"\n') + rest
        (self.folder / "draft.charter.toml").write_text("[[column]]".join(blocks) + "\n")
        mechanism = ["--set", "privacy.mechanism=laplace"]
        for name in OWNERS:
            self.parley("data", "prepare", "draft.charter.toml", "--paid", "5", "--policy", f"{name}.policy.toml",
                        *mechanism)
        done = self.parley("data", "prepare", "draft.charter.toml", "--moments",
                           *(f"{name}.moments.json" for name in OWNERS), "--rows", "500", "--out", "pilot.csv",
                           *mechanism)
        with open(self.folder / "draft.charter.toml", "a", encoding="utf-8") as charter:
            charter.write(done.stdout)
        decided = [word for change in ("protocol.name=sync", "protocol.rule=pilot_newton", "protocol.rounds=2",
                                       "protocol.step=1", "privacy.max_grad_norm=2", "privacy.mechanism=laplace",
                                       "model.l2=0.01") for word in ("--set", change)]
        for signs in ([], ["--separator", ";", "--decimal", ","]):
            self.parley("--quiet", "simulate", "draft.charter.toml", "--data", "data", "--out", f"run{len(signs)}",
                        *decided, *signs)
            self.parley("forecast", "draft.charter.toml", *decided, *signs)

    def test_check_refuses_what_simulate_refuses(self):
        self.init()
        self.complete()
        self.assertIn("complete", self.parley("charter", "check", "job.charter.toml").stdout)
        def both(*sets):
            simulated = run("--quiet", "simulate", "job.charter.toml", "--data", "data", "--out", "x", *sets,
                            cwd=self.folder)
            checked = run("charter", "check", "job.charter.toml", *sets, cwd=self.folder)
            self.assertEqual(checked.returncode, simulated.returncode)
            self.assertEqual(checked.stderr, simulated.stderr)
            return checked.returncode
        self.assertEqual(both("--set", "privacy.evaluate=0.5"), 0)
        weights = ["--set", "protocol.weights=noise_optimal"]
        self.assertEqual(both(*weights), 0)
        self.assertEqual(both(*weights, "--set", "secure_aggregation.survivors=2", "--set", "privacy.evaluate=0"), 2)
        bundle = self.folder / "job.bundle.json"
        bundle.write_text(bundle.read_text().replace('"rows":400', '"rows":401'))
        self.assertEqual(both(), 5)

    def test_a_baseline_without_l2_is_refused_before_anything_runs(self):
        self.init()
        self.complete("--set", "model.l2=0")
        done = self.parley("simulate", "job.charter.toml", "--data", "data", "--baseline", "--out", "run", expect=2)
        self.assertIn("model.l2", done.stderr)
        self.assertNotIn("training", done.stderr)
        self.parley("--quiet", "simulate", "job.charter.toml", "--data", "data", "--out", "run2")

    def test_predictions_of_classes_are_labelled_probabilities(self):
        self.init()
        self.complete()
        self.parley("--quiet", "simulate", "job.charter.toml", "--data", "data", "--out", "run")
        lines = self.parley("predict", "run/model.json", "data/bank-a.csv").stdout.splitlines()
        self.assertEqual(lines[0], "probability of rich = yes")
        shown = [float(line) for line in lines[1:]]
        told = self.json("predict", "run/model.json", "data/bank-a.csv")
        self.assertEqual(told["scores_of"], "yes")
        for p, q, score in zip(shown, told["probabilities"], told["values"]):
            self.assertEqual(p, q)
            self.assertAlmostEqual(p, 1 / (1 + math.exp(-score)), places=12)
        with open(self.folder / "data/bank-a.csv", newline="", encoding="utf-8") as file:
            truth = [row["rich"] == "yes" for row in csv.DictReader(file)]
        right = sum((p > .5) == yes for p, yes in zip(shown, truth))
        self.assertGreater(right, 280)

    def test_differ_moves_groups_and_every_owners_figures(self):
        self.init()
        self.complete()
        alike, apart = (self.json("forecast", "job.charter.toml", "--data", "data", "--differ", differ)
                        for differ in ("0", "0.2"))
        def alone(told):
            return [c["relative_fitness"] for c in told["coalitions"] if len(c["members"]) == 1]
        for before, after in zip(alone(alike), alone(apart)):
            self.assertGreater(after, before + .05)
        for before, after in zip(alike["answers"]["for_whom"], apart["answers"]["for_whom"]):
            for figure in ("alone", "own_public", "joint", "personal"):
                self.assertNotEqual(before["figures"][figure], after["figures"][figure])


if __name__ == "__main__":
    main()
