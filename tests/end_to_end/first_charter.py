"""From files to a simulated model with the real binary: init, prepare, simulate, predict."""

import csv
import hashlib
import io
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import unittest

from parley import InFolder, main

DATA = os.environ.get("PARLEY_DATA")
# What a person, later `parley forecast --tune`, decides.
DECIDED = {"protocol.name": "sync", "protocol.rule": "pilot_newton", "protocol.rounds": 3,
           "protocol.step": 1, "privacy.mechanism": "laplace",
           "privacy.max_grad_norm": 16}
OWNERS = ["bank-a", "bank-b", "bank-c"]


class FirstCharter(InFolder):
    def decided(self, **more):
        return [word for key, value in {**DECIDED, **more}.items()
                for word in ("--set", f"{key.replace('__', '.')}={value}")]

    def split(self, file, pilot_share=1):
        self.parley("data", "split", file, "--owners", ",".join(["pilot", *OWNERS]), "--shares",
                    f"{pilot_share},3,3,3", "--random", "7", "--out", "data")

    def draft(self, target, leave_out=()):
        files = [f"data/{name}.csv" for name in OWNERS]
        without = ["--without", ",".join(leave_out)] if leave_out else []
        done = self.parley("init", *files, "--pilot", "data/pilot.csv", "--target", target, "--out",
                           "draft.toml", "--delta", "0", *without)
        self.assertIn("a draft; undecided: protocol.name protocol.rule",
                      self.parley("charter", "check", "draft.toml").stdout)
        return done.stderr

    def prepare(self, *options):
        done = self.parley("data", "prepare", "draft.toml", "--pilot", "data/pilot.csv", *options)
        with open(self.folder / "draft.toml", "a", encoding="utf-8") as charter:
            charter.write(done.stdout)
        digest = hashlib.sha256((self.folder / "bundle.json").read_bytes()).hexdigest()
        self.assertIn(digest, done.stdout)

    def simulate(self, **more):
        return self.json("simulate", "draft.toml", "--data", "data", "--seed", "7",
                         *self.decided(**more))

    def predicted(self, target):
        """Predictions of the model alone, in another folder, beside the truth."""
        (self.folder / "elsewhere").mkdir(exist_ok=True)
        shutil.copy(self.folder / "runs/7/model.json", self.folder / "elsewhere/model.json")
        values = self.json("predict", "elsewhere/model.json", "data/pilot.csv")["values"]
        with open(self.folder / "data/pilot.csv", newline="", encoding="utf-8") as file:
            truth = [row[target] for row in csv.DictReader(file)]
        self.assertEqual(len(values), len(truth))
        return values, truth


class Generated(FirstCharter):
    def setUp(self):
        super().setUp()
        owners = [word for name in OWNERS for word in ("--owner", f"{name}=3000")]
        self.parley("--quiet", "data", "generate", "lending", "--raw", *owners, "--pilot", "2000",
                    "--out", "data")

    def test_init_prepare_simulate_predict(self):
        note = self.draft("int_rate", leave_out=["installment"])
        self.assertIn("marked CONFIRM", note)
        self.prepare("--components", "8", "--whiten")
        result = self.simulate()
        self.assertLess(result["result"]["relative_fitness"]["mean"], 0.2)
        values, truth = self.predicted("int_rate")
        rates = [float(x) for x in truth]
        rmse = math.sqrt(statistics.fmean((a - b) ** 2 for a, b in zip(values, rates)))
        self.assertLess(rmse, 0.7 * statistics.pstdev(rates))

    def test_raw_columns_of_the_stand_in_give_the_model_of_the_files(self):
        self.draft("int_rate", leave_out=["installment"])
        self.prepare("--top", "6", "--fourier", "20", "--scale", "3", "--seed", "5")
        self.simulate()
        self.parley("--quiet", "simulate", "draft.toml", "--standin", "lending", "--seed", "7",
                    "--out", "standin", *self.decided())
        models = [(self.folder / path / "model.json").read_text() for path in ("runs/7", "standin")]
        self.assertEqual(models[0], models[1])
        model = json.loads(models[0])
        self.assertEqual(model["model"]["features"], [f"rff{i}" for i in range(1, 21)] + ["bias"])
        digest = hashlib.sha256((self.folder / "bundle.json").read_bytes()).hexdigest()
        self.assertEqual(model["preprocess"]["sha256"], digest)

    def test_policies_of_the_draft_allow_the_job(self):
        self.draft("int_rate")
        self.prepare()
        policies = [f"--policy={name}.policy.toml" for name in OWNERS]
        self.parley("--quiet", "simulate", "draft.toml", "--data", "data", *policies,
                    *self.decided())

    def test_another_bundle_or_pilot_is_refused_with_5(self):
        self.draft("int_rate")
        self.prepare("--whiten")
        bundle = self.folder / "bundle.json"
        bundle.write_text(bundle.read_text().replace('"whiten":true', '"whiten":false'))
        self.parley("simulate", "draft.toml", "--data", "data", *self.decided(), expect=5)
        self.parley("data", "prepare", "draft.toml", "--pilot", "data/bank-a.csv", expect=5)
        bundle.unlink()
        self.parley("simulate", "draft.toml", "--data", "data", *self.decided(), expect=2)
        self.assertFalse((self.folder / "runs").exists())

    def test_without_a_pilot_private_rows_are_only_counted(self):
        files = [f"data/{name}.csv" for name in OWNERS]
        done = self.parley("init", *files, "--target", "int_rate")
        self.assertIn("placeholder", done.stderr)
        self.assertIn("--paid", done.stderr)
        before = done.stdout
        for file in files:
            path = self.folder / file
            lines = path.read_text().splitlines()
            width = lines[0].count(",")
            path.write_text("\n".join([lines[0]] + ["," * width] * (len(lines) - 1)) + "\n")
        self.assertEqual(self.parley("init", *files, "--target", "int_rate").stdout, before)
        (self.folder / "draft.toml").write_text(before)
        self.parley("charter", "check", "draft.toml")

    def test_a_draft_without_a_pilot_works_as_written(self):
        """Kinds and bounds are placeholders; all else is decided, and too few rows are said to be so."""
        self.parley("data", "generate", "lending", "--seed", "1", "--out", "many",
                    *[word for name in OWNERS for word in ("--owner", f"{name}=20000")])
        files = [f"many/{name}.csv" for name in OWNERS]
        self.parley("init", *files, "--target", "int_rate", "--out", "job.toml")
        self.assertIn("complete", self.parley("charter", "check", "job.toml").stdout)
        self.assertIn("eigenvalues below", self.parley("charter", "explain", "job.toml").stdout)
        said = self.json("forecast", "job.toml", "--tune", "--out", "tuned.toml")
        self.assertIn("not sure", said["worth_it"])
        self.assertLess(said["noise"]["eigenvalue_floor"], 1)
        done = self.json("simulate", "job.toml", "--data", "many", "--seed", "1")
        self.assertEqual([owner["answers"] for owner in done["result"]["owners"]], [21] * 3)
        refused = self.parley("charter", "check", "job.toml", "--set", "owner.0.epsilon=0.001", expect=2)
        self.assertIn("would be noise", refused.stderr)
        self.assertIn("would bring it to 0.3", refused.stderr)

    def test_a_draft_for_columns_in_several_places_works_as_written(self):
        """Once bounds are right: placeholders from files alone, guesses from a pilot with all columns."""
        with open(self.folder / "data" / "bank-a.csv") as file:
            rows = list(csv.DictReader(file))
        columns = [name for name in rows[0] if name != "int_rate"]
        parts = {"bank": ["int_rate", *columns[0::2]], "bureau": columns[1::2]}
        (self.folder / "columns").mkdir()
        for owner, names in parts.items():
            with open(self.folder / "columns" / f"{owner}.csv", "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["id", *names])
                writer.writerows([i, *(row[name] for name in names)] for i, row in enumerate(rows))
        (self.folder / "pilot.csv").write_bytes((self.folder / "data" / "pilot.csv").read_bytes())
        files = [f"columns/{owner}.csv" for owner in parts]
        for pilot in ([], ["--pilot", "data/pilot.csv"]):
            name = f"columns-{len(pilot)}.toml"
            done = self.json("init", *files, *pilot, "--id", "id", "--target", "int_rate", "--epsilon", "10")
            (self.folder / name).write_text(done["charter"])
            self.assertEqual(set(done["kept"]), set(columns))
            self.assertIn("complete", self.parley("charter", "check", name).stdout)
            found = self.json("simulate", name, "--data", "columns", "--seed", "1")["result"]["owners"]
            self.assertEqual([owner["answers"] for owner in found], [1, 1])
        self.parley("init", *files, "--id", "id", "--target", "int_rate", "--out", "columns/job.toml")
        self.assertIn('protocol = ["sharing"]', (self.folder / "columns" / "bank.policy.toml").read_text())
        for wrong in (["--id", "absent"], ["--id", "id", "--delta", "0"]):
            self.parley("init", *files, "--target", "int_rate", *wrong, expect=2)

    def test_semicolons_decimal_commas_and_packed_files_give_the_same_model(self):
        def rewritten(text):
            rows = list(csv.reader(io.StringIO(text)))
            out = io.StringIO()
            csv.writer(out, delimiter=";", lineterminator="\n").writerows(
                [re.sub(r"^(-?\d*)\.(\d)", r"\1,\2", cell) for cell in row] for row in rows)
            return out.getvalue()
        def described(folder, *signs):
            file, = self.json("data", "describe", f"{folder}/pilot.csv", *signs)["files"]
            return file["columns"]
        def drafted(folder, *signs):
            for file in ["draft.toml", "bundle.json", *(f"{name}.policy.toml" for name in OWNERS)]:
                (self.folder / file).unlink(missing_ok=True)
            self.parley("init", *(f"{folder}/{name}.csv" for name in OWNERS), "--pilot",
                        f"{folder}/pilot.csv", "--target", "int_rate", "--out", "draft.toml",
                        "--delta", "0", *signs)
            done = self.parley("data", "prepare", "draft.toml", "--pilot", f"{folder}/pilot.csv",
                               "--whiten", *signs)
            with open(self.folder / "draft.toml", "a", encoding="utf-8") as charter:
                charter.write(done.stdout)
            self.parley("--quiet", "simulate", "draft.toml", "--data", folder, "--out", f"{folder}-out",
                        *self.decided(), *signs)
            model = json.loads((self.folder / f"{folder}-out/model.json").read_text())
            shutil.copy(self.folder / f"{folder}/pilot.csv", self.folder / "pilot.csv")
            policies = [f"--policy={name}.policy.toml" for name in OWNERS]
            self.parley("--quiet", "simulate", "draft.toml", *policies, "--out", "by-policy", *signs,
                        *self.decided())
            by_policy = json.loads((self.folder / "by-policy/model.json").read_text())
            self.assertEqual(by_policy["model"]["theta"], model["model"]["theta"])
            return model["model"]
        signs = ["--separator", ";", "--decimal", ","]
        (self.folder / "european").mkdir()
        for name in ["pilot", *OWNERS]:
            text = rewritten((self.folder / f"data/{name}.csv").read_text())
            packed = subprocess.run(["zstd", "-qc"], input=text.encode(), capture_output=True,
                                    check=True).stdout  # The first bytes tell, not the name.
            (self.folder / f"european/{name}.csv").write_bytes(packed)
        self.assertEqual(described("european", *signs), described("data"))
        self.assertEqual(drafted("european", *signs), drafted("data"))
        for folder, separator, more in [("data", ",", []), ("european", ";", signs)]:
            self.parley("data", "split", f"{folder}/bank-a.csv", "--owners", "x,y", "--by", "addr_state",
                        "--out", f"{folder}-parts", *more)
        for name in ["x", "y"]:
            self.assertEqual((self.folder / f"european-parts/{name}.csv").read_text(),
                             rewritten((self.folder / f"data-parts/{name}.csv").read_text()))
        for bad in [["--separator", ";;"], ["--separator", "."], ["--decimal", "5"]]:
            self.parley("data", "describe", "data/pilot.csv", *bad, expect=2)

    def test_describe_says_that_it_is_private(self):
        text = self.parley("data", "describe", "data/bank-a.csv").stdout
        self.assertIn("PRIVATE", text)
        described = self.json("data", "describe", "data/bank-a.csv", "data/pilot.csv")
        self.assertTrue(described["private"])
        self.assertEqual([file["rows"] for file in described["files"]], [3000, 2000])
        names = [column["name"] for column in described["files"][0]["columns"]]
        self.assertIn("loan_amnt", names)

    def test_split_by_a_column_keeps_its_values_together(self):
        self.parley("data", "split", "data/bank-a.csv", "--owners", "x,y", "--by", "addr_state",
                    "--out", "parts")
        states = []
        for name in ("x", "y"):
            with open(self.folder / f"parts/{name}.csv", newline="", encoding="utf-8") as file:
                states.append({row["addr_state"] for row in csv.DictReader(file)})
        self.assertFalse(states[0] & states[1])
        self.assertEqual(len(states[0] | states[1]), 51)

    def test_impossible_requests_exit_with_2(self):
        for arguments in [["init", "--target", "x"],
                          ["init", "data/bank-a.csv", "--target", "absent"],
                          ["init", "data/bank-a.csv", "--target", "term", "--without", "absent"],
                          ["init", "--pilot", "absent.csv", "--target", "x"],
                          ["data", "describe", "absent.csv"], ["data", "describe"],
                          ["data", "split", "data/pilot.csv", "--owners", "a,a"],
                          ["data", "split", "data/pilot.csv", "--owners", "../a"],
                          ["data", "split", "data/pilot.csv", "--owners", "a,b", "--shares", "1"],
                          ["data", "split", "data/pilot.csv", "--owners", "a", "--by", "absent"]]:
            self.parley(*arguments, expect=2)


class OtherStandIns(FirstCharter):
    def columns(self, names):
        return "".join(f'[[column]]\nname = "{name}"\nkind = "number"\nbounds = [-200, 200]\n'
                       "missing = 0\n" for name in names)

    def charter_of(self, target, names, owners):
        owners = "".join(f'[[owner]]\nname = "{name}"\nrows = {rows}\nepsilon = 5\n'
                         for name, rows in owners)
        (self.folder / "c.toml").write_text(
            '[charter]\nversion = 1\nname = "standin"\nconsortium = "x.example"\n'
            f'[pilot]\nfile = "pilot.csv"\nsha256 = "{"0" * 64}"\nrows = 1000\n{target}'
            + self.columns(names) + '[model]\nloss = "squared"\nbias = true\nbox = 2\n[protocol]\n'
            'name = "sync"\nrule = "pilot_newton"\nrounds = 3\nstep = 1\n[privacy]\n'
            f'max_grad_norm = 20\n{owners}[learner]\nname = "learner"\n')

    def both_ways(self, name, owners):
        files = [word for owner, rows in owners for word in ("--owner", f"{owner}={rows}")]
        self.parley("--quiet", "data", "generate", name, *files, "--pilot", "1000", "--out", "data")
        digest = hashlib.sha256((self.folder / "data/pilot.csv").read_bytes()).hexdigest()
        pilot = ["--set", f'pilot.sha256="{digest}"']
        self.parley("--quiet", "simulate", "c.toml", "--standin", name, "--out", "a", *pilot)
        self.parley("--quiet", "simulate", "c.toml", "--data", "data", "--out", "b", *pilot)
        self.assertEqual((self.folder / "a/model.json").read_bytes(),
                         (self.folder / "b/model.json").read_bytes())

    def test_credit_from_files_and_as_a_stand_in_gives_the_same_model(self):
        owners = [("card-a", 2000), ("card-b", 3000)]
        self.charter_of('[target]\ncolumn = "Class"\nlevels = ["0", "1"]\n',
                        [f"v{i}" for i in range(1, 29)] + ["amount"], owners)
        self.both_ways("credit", owners)

    def test_hospital_from_files_and_as_a_stand_in_gives_the_same_model(self):
        owners = [("st-anna", 2000), ("st-vincent", 3000)]
        self.charter_of('[target]\ncolumn = "log_los"\nbounds = [-1.5, 2.5]\nscale = 2.5\n',
                        [f"x{i}" for i in range(1, 11)], owners)
        self.both_ways("hospital", owners)


@unittest.skipUnless(DATA, "PARLEY_DATA is not set: real data are left out")
class RealData(FirstCharter):
    def unpack(self, name):
        packed = pathlib.Path(DATA) / f"{name}.zst"
        subprocess.run(["zstd", "-qdf", str(packed), "-o", str(self.folder / "whole.csv")],
                       check=True)
        self.split("whole.csv")

    def test_lending_club(self):
        self.unpack("lendingclub/lendingclub_combined.csv")
        # `installment` gives the rate away together with amount and term; the last two say which
        # rates were derived from it, and `default` comes after the loan.
        self.draft("int_rate", ["installment", "default", "rate_derived", "source"])
        self.prepare("--whiten")
        result = self.simulate(privacy__max_grad_norm=32)
        self.assertLess(result["result"]["relative_fitness"]["mean"], 0.01)
        values, truth = self.predicted("int_rate")
        rates = [float(x) for x in truth]
        rest = statistics.fmean((a - b) ** 2 for a, b in zip(values, rates))
        # A ridge regression without installment reaches R^2 = 0.41 (the data's README).
        self.assertGreater(1 - rest / statistics.pvariance(rates), 0.38)

    def test_loan_stats(self):
        self.unpack("lendingclub/LoanStats3a_42537x54.csv")
        later = ["funded_amnt", "funded_amnt_inv", "installment", "grade", "sub_grade", "out_prncp",
                 "out_prncp_inv", "total_pymnt", "total_pymnt_inv", "total_rec_prncp",
                 "total_rec_int", "total_rec_late_fee", "recoveries", "collection_recovery_fee",
                 "last_pymnt_amnt", "loan_status", "acc_now_delinq", "pymnt_plan"]
        note = self.draft("int_rate", later)
        for name in ("id", "member_id", "emp_title", "policy_code", "issue_d", "zip_code"):
            self.assertIn(name, note)
        self.prepare("--top", "20", "--whiten")
        result = self.simulate(privacy__max_grad_norm=32)
        self.assertLess(result["result"]["relative_fitness"]["mean"], 0.02)
        values, truth = self.predicted("int_rate")
        pairs = [(a, float(b.rstrip("%"))) for a, b in zip(values, truth) if b.endswith("%")]
        rest = statistics.fmean((a - b) ** 2 for a, b in pairs)
        self.assertGreater(1 - rest / statistics.pvariance([b for _, b in pairs]), 0.4)

    def test_credit_card(self):
        self.unpack("creditcard/creditcard_subset_28266.csv")
        self.draft("Class", ["Time"])
        self.assertIn('levels = ["0","1"]', (self.folder / "draft.toml").read_text())
        self.prepare("--top", "12")
        for loss, rule in [("squared", "pilot_newton"), ("logistic", "pilot_newton"),
                           ("hinge", "algorithm2")]:
            with self.subTest(loss=loss):
                result = self.simulate(model__loss=loss, protocol__rule=rule,
                                       privacy__max_grad_norm=8)
                self.assertGreaterEqual(result["result"]["relative_fitness"]["mean"], 0)
                self.assertGreater(self.area("Class"), 0.9)

    def area(self, target):
        """Under the ROC curve of the model's predictions, by ranks."""
        values, truth = self.predicted(target)
        ranked = sorted(zip(values, truth))
        positive = sum(label == "1" for _, label in ranked)
        ranks = sum(rank for rank, (_, label) in enumerate(ranked, 1) if label == "1")
        return (ranks - positive * (positive + 1) / 2) / (positive * (len(ranked) - positive))


if __name__ == "__main__":
    main()
