"""An owner's private look at what a job is worth on its own rows, before and after it: figures,
answers, the personal model's file; and that no trace of it is anywhere else."""

import csv
import io
import json
import re
import shutil
import struct
import subprocess

from consortium import OWNERS, Consortium
from parley import InFolder, main

VALUE = ["owner", "value", "bank-a/policy.toml", "job.charter.toml"]
FIGURES = ("alone", "own_public", "joint", "personal")


class OwnerValue(InFolder):
    def train(self, consortium, out="job"):
        learner, port = consortium.learner(out=out)
        owners = {owner: consortium.owner(owner, port, seed=5) for owner in OWNERS}
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in owners.items():
            self.assertEqual(owner.wait(60), 0, consortium.log(name))

    def files(self, folder):
        return {file.relative_to(self.folder): file.read_bytes()
                for file in sorted((self.folder / folder).rglob("*")) if file.is_file()}

    def test_before_a_job_public_rows_are_the_competitor(self):
        Consortium(self.folder)
        before = self.files(".")
        found = self.json(*VALUE)
        self.assertEqual(self.files("."), before, "nothing is kept")
        self.assertEqual(found["format"], "parley.owner.value/1")
        self.assertEqual(found["metric"], "rmse")
        self.assertEqual((found["trained_rows"], found["held_out_rows"]), (1600, 400))
        self.assertFalse(found["after_job"])
        self.assertIsNone(found["figures"]["joint"])
        self.assertIsNone(found["figures"]["personal"])
        for name in FIGURES[:2]:
            figure = found["figures"][name]
            low, high = figure["interval"]
            self.assertTrue(0 < low < figure["value"] < high, figure)
        self.assertEqual([verdict["against"] for verdict in found["verdicts"]], ["alone"])
        self.assertTrue(found["unlike"]["unlike"], "generated rates drift along the file")
        self.assertIn("For bank-a only", found["for_owner_only"])
        self.assertIn("depends on the records", found["for_owner_only"])
        self.assertEqual(found["parley"]["seed"], 1)
        text = self.parley(*VALUE).stdout
        self.assertIn("A decision to join or leave taken after this look", text)
        self.assertIn("own + public", text)
        self.assertIn("Your rows differ, beyond chance, from the public ones", text)
        shutil.copy(self.folder / "data/pilot.csv", self.folder / "data/bank-a.csv")
        self.assertFalse(self.json(*VALUE)["unlike"]["unlike"])

    def test_after_a_job_four_figures_and_a_personal_model_for_its_owner(self):
        consortium = Consortium(self.folder)
        self.train(consortium)
        policy = self.folder / "bank-a/policy.toml"
        policy.write_text(policy.read_text() + "\n[worth]\nrmse = 0.02\n")
        state = self.files("bank-a")
        after = [*VALUE, "job/model.json"]
        self.assertEqual(self.json(*after)["worth"], 0.02)
        found = self.json(*after, "--out", "mine.json", "--worth", "0.01")
        for name in FIGURES:
            self.assertGreater(found["figures"][name]["value"], 0, name)
        against = {verdict["against"]: verdict for verdict in found["verdicts"]}
        self.assertEqual(set(against), {"alone", "own_public"})
        figures = found["figures"]
        for name, verdict in against.items():
            self.assertIn(verdict["answer"],
                          ("worth it", "no difference", "not worth it", "not sure"))
            self.assertAlmostEqual(verdict["threshold"], 0.01 * figures[name]["value"])
            self.assertAlmostEqual(verdict["gain"]["value"],
                                   figures[name]["value"] - figures["personal"]["value"])
        self.assertEqual(self.files("bank-a"), state, "no file of the owner's changed")
        self.check_model(self.folder / "mine.json", found)
        self.assertIn("mine.json", self.parley(*after, "--out", "mine.json", expect=2).stderr)
        self.refuses_wrong_models(consortium, after)

    def check_model(self, file, found):
        """An ordinary model file, for its owner alone."""
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        card = json.loads(file.read_text())["privacy_card"]
        self.assertFalse(card["private"])
        self.assertIn("NOT PRIVATE: made of the exact records of bank-a", card["statement"])
        table = self.parley("predict", file, "data/bank-a.csv").stdout
        predicted = [float(row[-1]) for row in list(csv.reader(io.StringIO(table)))[1:]]
        with open(self.folder / "data" / "bank-a.csv", encoding="utf8") as data:
            rates = [float(row["int_rate"]) for row in csv.DictReader(data)]
        error = (sum((p - y) ** 2 for p, y in zip(predicted, rates)) / len(rates)) ** 0.5
        self.assertAlmostEqual(error, found["figures"]["linear"]["value"], delta=0.15 * error)

    def refuses_wrong_models(self, consortium, after):
        own = self.parley(*VALUE, "mine.json", expect=5).stderr
        self.assertIn("made of one owner's exact records", own)
        model = json.loads((self.folder / "job/model.json").read_text())
        model["model"]["theta"].append(0.5)
        (self.folder / "longer.json").write_text(json.dumps(model))
        self.assertNotEqual(self.parley(*VALUE, "longer.json", expect=2).stderr, "")
        consortium.rounds = 4
        consortium.write_charter()
        self.assertIn("is the model of another charter", self.parley(*after, expect=5).stderr)
        self.parley(*VALUE, "--out", "mine2.json", expect=2)

    def test_a_job_is_the_same_with_and_without_a_look_and_keeps_nothing_of_it(self):
        """What an owner looks at privately leaves no trace (theory (W3))."""
        consortium = Consortium(self.folder)
        self.train(consortium)
        plain = (self.folder / "job/model.json").read_bytes()
        answers = self.answers("job")
        before = self.files("bank-a/state")
        for owner in OWNERS:
            shutil.rmtree(self.folder / owner / "state")
            (self.folder / owner / "state").mkdir()
        shutil.rmtree(self.folder / "central-bank" / "receipts", ignore_errors=True)
        looks = [self.parley("--json", *VALUE).stdout]
        self.train(consortium, out="again")
        self.assertEqual(self.answers("again"), answers)
        theta = [json.loads(text)["model"]["theta"]
                 for text in (plain, (self.folder / "again/model.json").read_bytes())]
        self.assertEqual(theta[0], theta[1])
        looks.append(self.parley("--json", *VALUE, "again/model.json", "--out", "mine.json").stdout)
        after = self.files("bank-a/state")
        self.assertEqual(set(before), set(after))
        mine = json.loads((self.folder / "mine.json").read_text())["model"]["theta"]
        for look in map(json.loads, looks):
            mine += [figure["value"] for figure in look["figures"].values() if figure is not None]
        secrets = [json.dumps(number).encode() for number in mine]  # as text, and as 8 bytes
        secrets += [struct.pack("<d", number) for number in mine]
        for file, content in {**after, **self.files("again"), **self.files("job")}.items():
            for secret in secrets:
                self.assertNotIn(secret, content, file)

    def answers(self, out):
        """All bytes of the transcript but those that depend on the time: its head and, in receipts, the
        hash of the ledger's row and the signature over it. Owners come in any order."""
        packed = self.folder / out / "transcript.pb.zst"
        data = subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True).stdout
        pieces = []
        while data:
            size = int.from_bytes(data[:8], "little")
            pieces.append(data[8:8 + size])
            data = data[8 + size:]
        self.assertEqual(len(pieces), 1 + len(OWNERS) * 3)
        timed = re.compile(rb"\*\x20.{32}2\x40.{64}", re.DOTALL)  # Receipt.chain, .signature
        found = [timed.subn(b"", piece) for piece in pieces[1:]]
        self.assertEqual({count for _, count in found}, {1})
        return sorted(rest for rest, _ in found)

    def test_own_columns_that_the_charter_lacks_count_for_alone(self):
        Consortium(self.folder)
        file = self.folder / "data" / "bank-a.csv"
        rows = list(csv.DictReader(io.StringIO(file.read_text())))
        for number, row in enumerate(rows):
            row["score"] = "" if number % 50 == 0 else 3 * float(row["int_rate"]) + number % 7
        with open(file, "w", encoding="utf8", newline="") as out:
            writer = csv.DictWriter(out, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        plain, more = self.json(*VALUE), self.json(*VALUE, "--own-columns", "score")
        self.assertEqual(more["own_columns"], ["score"])
        self.assertLess(more["figures"]["alone"]["value"], 0.7 * plain["figures"]["alone"]["value"])
        known = self.parley(*VALUE, "--own-columns", "int_rate", expect=2).stderr
        self.assertIn("has the column int_rate already", known)
        self.parley(*VALUE, "--own-columns", "nowhere", expect=2)

    def test_classes_are_judged_by_auc_and_records_of_no_class_left_out(self):
        consortium = Consortium(self.folder, rows=400, epsilon=20, budget=40)
        for name in ("pilot", *OWNERS):
            file = self.folder / "data" / f"{name}.csv"
            rows = list(csv.DictReader(io.StringIO(file.read_text())))
            for number, row in enumerate(rows):
                row["high"] = "yes" if float(row["int_rate"]) > 13 else "no"
                if name != "pilot" and number % 100 == 5:
                    row["high"] = "unknown"
            with open(file, "w", encoding="utf8", newline="") as out:
                writer = csv.DictWriter(out, rows[0].keys())
                writer.writeheader()
                writer.writerows(rows)
        consortium.write_charter(replace=[
            ('loss = "squared"', 'loss = "logistic"'), ("box  = 1.0", "box  = 20.0"),
            ("max_grad_norm = 8.0", "max_grad_norm = 2.0")])
        text = consortium.charter.read_text()
        begin = text.index("[target]")
        end = text.index("\n[", begin)
        consortium.charter.write_text(text[:begin] + '[target]\ncolumn = "high"\n'
                                      'levels = ["no", "yes"]\n' + text[end:])
        self.parley("simulate", consortium.charter, "--data", "data", "--held-out", "0", "--out", "sim")
        found = self.json(*VALUE, "sim/model.json")
        self.assertEqual(found["metric"], "auc")
        self.assertEqual(found["trained_rows"] + found["held_out_rows"], 396)
        for name in FIGURES:
            figure = found["figures"][name]
            self.assertTrue(0.7 < figure["value"] <= figure["interval"][1] <= 1, figure)
        self.assertEqual({verdict["threshold"] for verdict in found["verdicts"]}, {0.002})
        few = self.json(*VALUE, "--held-out", "0.02")
        self.assertLess(few["held_out_smaller_class"], 10)
        self.assertEqual({verdict["answer"] for verdict in few["verdicts"]}, {"not sure"})

    def test_an_owner_that_the_charter_does_not_name_is_refused(self):
        Consortium(self.folder)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text().replace('name = "bank-a"', 'name = "bank-x"'))
        self.parley(*VALUE, expect=3)


if __name__ == "__main__":
    main()
