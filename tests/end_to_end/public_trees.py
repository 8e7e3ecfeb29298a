"""Public trees whose leaves are features: from the pilot to the prediction, by every protocol of rows."""

import csv
import hashlib
import json
import random
import statistics

from charters import block, number
from consortium import OWNERS, Consortium
from parley import InFolder, main

TREES, DEPTH = 12, 2
COLUMNS = [f"pc{j}" for j in range(1, 11)]


def features(bundle, row):
    """What docs/reference/bundle.md says of a bundle without rotation, and the bias."""
    values = [float(row[name]) for name in COLUMNS]
    cut = bundle["cut"]
    z = [min(max((values[j] - bundle["mean"][j]) / bundle["scale"][j], -cut), cut) for j in bundle["select"]]
    for tree in bundle["trees"]["trees"]:
        splits = {at: (column, threshold)
                  for at, column, threshold in zip(tree["at"], tree["column"], tree["threshold"])}
        order = leaves_below(splits, 1)
        node = 1
        while node in splits:
            column, threshold = splits[node]
            node = 2 * node + (not values[column] <= threshold)
        z += [bundle["trees"]["leaf"] * (leaf == node) for leaf in order]
    return [*z, 1.0]


def leaves_below(splits, node):
    """From left to right."""
    if node not in splits:
        return [node]
    return leaves_below(splits, 2 * node) + leaves_below(splits, 2 * node + 1)


class PublicTrees(InFolder):
    def setUp(self):
        super().setUp()
        self.parley("data", "generate", "lending", "--seed", 1, "--pilot", 500, "--out", "data",
                    *[word for owner in OWNERS for word in ("--owner", f"{owner}=300")])
        self.write({})
        self.lines = self.prepare().stdout
        self.bundle = json.loads((self.folder / "bundle.json").read_text())

    def prepare(self, *options, expect=0):
        (self.folder / "bundle.json").unlink(missing_ok=True)  # No bundle is overwritten.
        return self.parley("data", "prepare", "job.charter.toml", "--pilot", "data/pilot.csv", "--trees", TREES,
                           "--depth", DEPTH, "--out", "bundle.json", *options, expect=expect)

    def write(self, protocol, privacy=None, more="", delta=0.0):
        digest = hashlib.sha256((self.folder / "data" / "pilot.csv").read_bytes()).hexdigest()
        newton = {"name": "sync", "rule": "pilot_newton", "rounds": 2, "step": 1.0}
        (self.folder / "job.charter.toml").write_text("\n".join([
            block("[charter]", {"version": 1, "name": "leaves", "consortium": "banks.example"}),
            block("[pilot]", {"file": "data/pilot.csv", "sha256": digest, "rows": 500}), more,
            block("[target]", {"column": "int_rate", "bounds": [5.0, 29.0], "center": 13.25, "scale": 15.75}),
            *[number(name, -40.0, 40.0, 0.0) for name in COLUMNS],
            block("[model]", {"loss": "squared", "l2": 0.01, "box": 2.0, "bias": True}),
            block("[protocol]", protocol or newton),
            block("[privacy]", {"evaluate": 0.0, **(privacy or {"max_grad_norm": 8.0})}),
            *[block("[[owner]]", {"name": owner, "rows": 300, "epsilon": 1.0, "delta": delta}) for owner in OWNERS],
            block("[learner]", {"name": "central-bank"})]))

    def check_predictions(self, model):
        """`parley predict` against the sum of theta times the features, computed here."""
        found = json.loads((self.folder / model).read_text())
        theta = found["model"]["theta"]
        self.assertEqual(found["preprocess"]["bundle"], self.bundle)
        self.assertEqual(found["model"]["features"][10], "tree1=1")
        values = self.parley("predict", model, "data/bank-a.csv").stdout.split()[1:]
        with open(self.folder / "data" / "bank-a.csv", encoding="utf8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(values), len(rows))
        for value, row in zip(values, rows):
            z = features(self.bundle, row)
            self.assertEqual(len(z), len(theta))
            score = sum(a * b for a, b in zip(theta, z))
            self.assertAlmostEqual(float(value), 13.25 + 15.75 * score, delta=1e-9)

    def test_trees_are_part_of_the_hash_and_follow_the_options(self):
        self.assertIn(f"leaves of {TREES} trees of depth {DEPTH}", self.lines)
        self.write({}, more=self.lines)
        texts = {(self.folder / "bundle.json").read_text()}
        self.prepare()
        self.assertEqual({(self.folder / "bundle.json").read_text()}, texts)
        for options in (("--seed", 2), ("--leaf-rows", 100), ("--learning-rate", 0.3), ("--subsample", 0.5),
                        ("--top", 3), ("--components", 3, "--whiten")):
            self.prepare(*options)
            texts.add((self.folder / "bundle.json").read_text())
        self.assertEqual(len(texts), 7)
        other = self.parley("simulate", "job.charter.toml", "--data", "data", expect=5)
        self.assertIn("is not the charter's bundle", other.stderr)
        for impossible in (("--fourier", 5), ("--components", 3, "--cut", 4), ("--length", 0)):
            self.prepare(*impossible, expect=2)

    def test_every_protocol_of_rows_takes_leaves(self):
        sums = self.lines + block("[secure_aggregation]", {"survivors": 3, "colluders": 1, "threshold": 2})
        for name, protocol, privacy, more, delta in (
                ("sync", None, None, self.lines, 0.0), ("secure sums", None, None, sums, 1e-6),
                ("async", {"name": "async", "rounds": 9, "answers": 3, "step": 0.01}, None, self.lines, 0.0),
                ("federated", {"name": "federated", "rounds": 2, "local_steps": 2, "step": 0.002},
                 {"max_row_norm": 16.0, "max_grad_norm": 8.0}, sums, 1e-6),  # no row is longer
                ("statistics", {"name": "sync", "rule": "statistics"}, {"max_row_norm": 4.0}, self.lines, 0.0)):
            with self.subTest(name):
                self.write(protocol, privacy, more, delta)
                result = self.json("simulate", "job.charter.toml", "--data", "data", "--out", name)["result"]
                self.assertGreater(result["relative_fitness"]["mean"], 0)
                self.check_predictions(f"{name}/model.json")

    def test_trees_that_saw_the_labels_promise_nothing_where_there_is_nothing(self):
        path = self.folder / "data" / "pilot.csv"
        with open(path, encoding="utf8") as file:
            rows = list(csv.DictReader(file))
        labels = [row["int_rate"] for row in rows]
        random.Random(1).shuffle(labels)
        with open(path, "w", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({**row, "int_rate": label} for row, label in zip(rows, labels))
        self.write({})
        self.write({}, more=self.prepare().stdout)
        said = self.json("forecast", "job.charter.toml", "--data", "data")["answers"]["for_whom"][0]["figures"]
        spread = statistics.pstdev(map(float, labels))
        for figure in ("alone", "own_public", "joint", "personal"):
            self.assertGreater(said[figure]["mean"], .97 * spread, figure)

    def test_describe_and_forecast_know_the_features(self):
        self.write({}, more=self.lines)
        described = self.parley("data", "describe", "data/bank-a.csv", "--charter", "job.charter.toml")
        self.assertIn("300", described.stdout)
        forecast = self.json("forecast", "job.charter.toml", "--data", "data")
        self.assertGreater(forecast["expected"]["relative_fitness"]["mean"], 0)


class Networked(InFolder):
    def test_a_job_is_trained_and_verified(self):
        job = Consortium(self.folder, rows=300)
        lines = self.parley("data", "prepare", job.charter, "--pilot", "data/pilot.csv", "--trees", 5, "--out",
                            "bundle.json").stdout
        job.write_charter(replace=[("[target]", lines + "[target]"), ("box  = 1.0 ", "l2 = 0.01\nbox  = 2.0 ")])
        learner, port = job.learner()
        owners = [job.owner(owner, port) for owner in OWNERS]
        for name, process in zip(("learner", *OWNERS), (learner, *owners)):
            self.assertEqual(process.wait(60), 0, job.log(name))
        done = self.parley("verify", "job/model.json", "job/transcript.pb.zst", job.charter)
        self.assertIn("Model recomputed from 9 signed answers: identical.", done.stdout)
        self.parley("predict", "job/model.json", "data/bank-a.csv")


if __name__ == "__main__":
    main()
