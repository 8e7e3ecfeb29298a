"""Real files through the real commands: what they hold and how many of their cells are replaced is
what the description of the data says. Left out where PARLEY_DATA is unset."""

import collections
import csv
import hashlib
import math
import os
import pathlib
import random
import subprocess
import unittest

from charters import block, category, charter, number, policy, write
from parley import InFolder, main

DATA = os.environ.get("PARLEY_DATA")
ADULT = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
         "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
         "native-country", "income"]


@unittest.skipUnless(DATA, "PARLEY_DATA is unset")
class RealData(InFolder):
    def described(self, file, target, features, rows, privacy=None, unit=None, **dataset):
        """What `data describe` says about a file under a policy, and that the charter's rows are
        enough for `simulate` to train on it."""
        write(self.folder, "c.toml", charter(target, features, {"owner": rows}, privacy))
        write(self.folder, "p.toml",
              policy("owner", {"source": "csv", "path": str(pathlib.Path(DATA) / (file + ".zst")),
                               **dataset}, unit))
        described = self.json("data", "describe", "--charter", "c.toml", "--policy", "p.toml")
        self.assertEqual(described["rows"], rows)
        self.assertEqual(described["for"], "the owner only")
        result = self.json("simulate", "c.toml", "--policy", "p.toml", "--out", "run")
        self.assertEqual([owner["rows"] for owner in result["data"]], [rows])
        self.replaced = {c["name"]: c["replaced"] for c in described["columns"]}
        self.moved = {c["name"]: c["out_of_bounds"] for c in described["columns"]}
        return described

    def fields(self, file, column, separator=","):
        """The texts of a column, read without Parley, for files without quotes."""
        text = subprocess.run(["zstd", "-dc", f"{DATA}/{file}.zst"], check=True, text=True,
                              capture_output=True).stdout.splitlines()
        at = text[0].split(separator).index(column)
        return [line.split(separator)[at] for line in text[1:]]

    def loans(self, folder, pilot_years, owners_year, rows=4000):
        """Interest rates of one year at three owners, the pilot from other years; numbers in [-1, 1] by
        public bounds. Returns the charter."""
        text = subprocess.run(["zstd", "-dc", f"{DATA}/lendingclub/LoanStats3a_42537x54.csv.zst"], check=True,
                              text=True, capture_output=True).stdout.splitlines()
        bounds = {"loan_amnt": (0, 35000), "annual_inc": (0, 200000), "dti": (0, 30), "inq_last_6mths": (0, 6),
                  "open_acc": (0, 25), "revol_util": (0, 100), "total_acc": (0, 60)}
        levels = {"term": ["36 months", "60 months"], "home_ownership": ["RENT", "MORTGAGE", "OWN"],
                  "verification_status": ["Not Verified", "Verified", "Source Verified"]}
        years = collections.defaultdict(list)
        for row in csv.DictReader(text):
            values = {"rate": row["int_rate"].rstrip("%")}
            for name, (low, high) in bounds.items():
                value = row[name].rstrip("%")
                middle = (low + high) / 2
                scaled = (float(value) - middle) / (high - middle) if value else 0.0
                values[name] = min(max(scaled, -1), 1)
            values.update({name: row[name].strip() for name in levels})
            if values["rate"]:
                years[row["issue_d"][:4]].append(values)
        pilot = [row for year in pilot_years for row in years[year]]
        random.Random(1).shuffle(pilot)
        random.Random(2).shuffle(years[owners_year])
        files = {"pilot": pilot[:1000]}
        for i, owner in enumerate("abc"):
            files[owner] = years[owners_year][i * rows:(i + 1) * rows]
        (self.folder / folder).mkdir()
        for name, some in files.items():
            with open(self.folder / folder / f"{name}.csv", "w", newline="") as out:
                writer = csv.DictWriter(out, list(some[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(some)
        digest = hashlib.sha256((self.folder / folder / "pilot.csv").read_bytes()).hexdigest()
        write(self.folder, f"{folder}.toml", "\n".join([
            block("[charter]", {"version": 1, "name": "loans", "consortium": "test.example"}),
            block("[pilot]", {"file": "pilot.csv", "sha256": digest, "rows": len(files["pilot"])}),
            block("[target]", {"column": "rate", "bounds": [5.0, 25.0], "center": 15.0, "scale": 10.0}),
            *[number(name, -1.0, 1.0, 0.0) for name in bounds],
            *[category(name, some, other=False) for name, some in levels.items()],
            block("[model]", {"loss": "squared", "l2": 0.001, "bias": True, "box": 20.0}),
            block("[protocol]", {"name": "sync", "rule": "pilot_newton", "rounds": 4, "step": 1.0,
                                 "on_alarm": "ask"}),
            block("[privacy]", {"mechanism": "gaussian", "max_grad_norm": 2.0, "evaluate": 0.0}),
            *[block("[[owner]]", {"name": owner, "rows": rows, "epsilon": 10.0, "delta": 1e-6}) for owner in "abc"],
            block("[learner]", {"name": "office"})]))
        return f"{folder}.toml"

    def test_a_pilot_of_other_years_raises_an_alarm(self):
        """Loans of 60 months came after 2008. Unguarded Newton steps end
        2,000 times above the best."""
        charter = self.loans("late", ["2007", "2008"], "2011")
        stopped = self.json("simulate", charter, "--data", "late", "--out", "stopped")["result"]
        self.assertTrue(stopped["pilot_check"]["alarm"] and stopped["stopped_by_alarm"])
        on = self.json("simulate", charter, "--data", "late", "--out", "on", "--continue-after-alarm")
        self.assertTrue(any("60 months" in warning for warning in on["warnings"]))
        # Two levels of a category make up the bias of this pilot: steps along what they lack are cut, and refuted.
        self.assertLessEqual(on["result"]["relative_fitness"]["mean"], stopped["relative_fitness"]["mean"])
        same = self.loans("same", ["2011"], "2011", rows=3000)
        like = self.json("simulate", same, "--data", "same", "--out", "like")["result"]
        self.assertFalse(like["pilot_check"]["alarm"] or like["stopped_by_alarm"])
        self.assertLess(like["relative_fitness"]["mean"], 0.02)

    def test_a9a(self):
        target = {"column": "income", "levels": ["-1", "+1"]}
        columns = [number("f", 0, 1, 0, count=123)]
        for file, rows in [("a9a/a9a", 32561), ("a9a/a9a.t", 16281)]:
            described = self.described(file, target, columns, rows, source="libsvm")
            self.assertEqual((described["replaced"], described["out_of_bounds"],
                              described["ignored"]), (0, 0, 0))

    def write_columns(self, file, folder):
        """a9a's 66 + 57 columns as two owners' files in orders of their own; returns the labels."""
        lines = subprocess.run(["zstd", "-dc", f"{DATA}/{file}.zst"], check=True, text=True,
                               capture_output=True).stdout.splitlines()
        records = [(f"r{i:06d}", *line.split()) for i, line in enumerate(lines)]
        (self.folder / folder).mkdir()
        for owner, columns in (("first", range(1, 67)), ("second", range(67, 124))):
            random.Random(owner).shuffle(records)
            with open(self.folder / folder / f"{owner}.csv", "w", newline="") as out:
                writer = csv.writer(out, lineterminator="\n")
                writer.writerow(["id", "income", *[f"{owner}{j + 1}" for j in range(len(columns))]])
                for name, label, *ones in records:
                    here = {int(one.split(":")[0]) for one in ones}
                    writer.writerow([name, label, *[int(j in here) for j in columns]])
        return {name: float(label) for name, label, *_ in records}

    def test_a9a_in_columns_without_noise_is_the_specifications(self):
        """Table 1.8: Boyd's scaling, rho = 0.1, warm; the paper's diverges at rho = 0.03."""
        labels, judged = self.write_columns("a9a/a9a", "data"), self.write_columns("a9a/a9a.t", "test")
        write(self.folder, "c.toml", "\n".join([
            block("[charter]", {"version": 1, "name": "a9a", "consortium": "test.example"}),
            block("[records]", {"id": "id", "count": len(labels)}),
            block("[target]", {"owner": "first", "column": "income", "levels": ["-1", "+1"]}),
            number("first", 0, 1, 0, count=66, owner="first"),
            number("second", 0, 1, 0, count=57, owner="second"),
            block("[model]", {"loss": "logistic", "l2": 1 / len(labels), "box": 8.0}),
            block("[protocol]", {"name": "sharing", "rule": "admm", "rounds": 20, "step": 0.1}),
            block("[privacy]", {"calibration": "paper", "max_row_norm": 4.0, "delta": 1e-6}),
            *[block("[[owner]]", {"name": owner, "epsilon": 1.0, "max_row_norm": norm,
                                  "columns": [f"{owner}{j + 1}" for j in range(count)]})
              for owner, count, norm in (("first", 66, 3.0), ("second", 57, 2.5))],
            block("[learner]", {"name": "office"})]))
        found = self.json("simulate", "c.toml", "--data", "data", "--out", "run")
        by_round = found["result"]["by_round"]
        self.assertAlmostEqual(found["optimum"]["fitness"], 0.323380, delta=1e-6)
        self.assertEqual(len(by_round), 20)
        self.assertLessEqual(by_round[10]["p50"], 0.001)
        files = []
        for owner in ("first", "second"):
            files.append(self.folder / f"{owner}.scores")
            files[-1].write_text(self.parley("predict", f"run/simulated/{owner}/part.json",
                                             f"test/{owner}.csv", "--query", "test").stdout)
        opened = self.json("predict", "run/manifest.json", *files)
        loss = sum(math.log1p(math.exp(-judged[name] * score))
                   for name, score in zip(opened["ids"], opened["values"])) / len(judged)
        self.assertGreaterEqual(loss, 0.3236)
        self.assertLessEqual(loss, 0.3246)
        diverged = self.parley("simulate", "c.toml", "--data", "data", "--out", "run", "--set",
                               "protocol.step=0.03", "--set", 'protocol.scaling="paper"', expect=1)
        self.assertIn("ADMM sharing diverges", diverged.stderr)
        self.assertIn('scaling "boyd" converges', diverged.stderr)

    def test_adult_has_no_header_and_question_marks(self):
        columns = [number("age", 17, 90, 38), number("education-num", 1, 16, 10),
                   category("workclass", ["Private", "State-gov", "Federal-gov", "Local-gov",
                                          "Self-emp-inc", "Self-emp-not-inc", "Without-pay",
                                          "Never-worked"]),
                   category("sex", ["Female", "Male"], encode="integer"),
                   number("hours-per-week", 1, 99, 40)]
        target = {"column": "income", "levels": ["<=50K", ">50K"], "strip": "."}
        for file, rows, unknown in [("adult/adult.data", 32561, 1836), ("adult/adult.test", 16281, 963)]:
            self.described(file, target, columns, rows, header=ADULT)
            self.assertEqual(self.replaced, {"age": 0, "education-num": 0, "workclass": unknown,
                                             "sex": 0, "hours-per-week": 0, "income": 0})

    def test_creditcard(self):
        columns = [number(f"V{i}", -200, 200, 0) for i in range(1, 29)]
        target = {"column": "Class", "levels": ["0", "1"]}
        file = "creditcard/creditcard_subset_28266.csv"
        described = self.described(file, target, columns, 28266)
        self.assertEqual((described["replaced"], described["out_of_bounds"]), (0, 0))
        amounts = [float(text) for text in self.fields(file, "Amount")]
        self.described(file, target, [number("Amount", 0, 1000, 22)], 28266)
        self.assertEqual(self.moved["Amount"], sum(amount > 1000 for amount in amounts))

    def test_loanstats_has_percents_blanks_and_two_rows_that_are_none(self):
        columns = [number("loan_amnt", 500, 35000, 10000), number("annual_inc", 0, 6e6, 64000, log=True),
                   category("term", ["36 months", "60 months"], encode="integer"),
                   number("revol_util", 0, 120, 50), number("dti", 0, 30, 13),
                   category("home_ownership", ["RENT", "MORTGAGE", "OWN", "OTHER", "NONE"])]
        target = {"column": "int_rate", "bounds": [5.42, 24.59], "center": 12.17, "scale": 10}
        file = "lendingclub/LoanStats3a_42537x54.csv"
        described = self.described(file, target, columns, 42535,
                                   where={"column": "term", "not_in": [""]})
        self.assertEqual(described["left_out"], 2)
        self.assertEqual(described["out_of_bounds"], 0)
        self.assertEqual(self.replaced, {"loan_amnt": 0, "annual_inc": 4, "term": 0,
                                         "revol_util": 90, "dti": 0, "home_ownership": 0,
                                         "int_rate": 0})
        self.described(file, target, columns, 42537)
        self.assertEqual(self.replaced["int_rate"], 2)
        self.assertEqual(self.replaced["revol_util"], 92)

    def test_lendingclub_combined(self):
        columns = [number("loan_amnt", 500, 35000, 12700), number("annual_inc", 0, 1e7, 64000, log=True),
                   number("revol_util", 0, 200, 50), number("open_acc", 0, 100, 10),
                   number("emp_length", 0, 10, 5), category("purpose", ["credit_card"], other=True)]
        target = {"column": "int_rate", "bounds": [0, 40], "center": 13.64, "scale": 10}
        self.described("lendingclub/lendingclub_combined.csv", target, columns, 124794)
        self.assertEqual(self.replaced, {"loan_amnt": 0, "annual_inc": 4, "revol_util": 90,
                                         "open_acc": 29, "emp_length": 4114, "purpose": 0,
                                         "int_rate": 0})

    def test_diabetes130_caps_patients(self):
        columns = [category("race", ["Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other"]),
                   category("age", [f"[{a}-{a + 10})" for a in range(0, 100, 10)], encode="integer"),
                   number("num_medications", 1, 81, 16)]
        target = {"column": "time_in_hospital", "bounds": [1, 14], "center": 4.4, "scale": 5}
        file = "diabetes130/diabetic_data.csv"
        described = self.described(file, target, columns, 101766,
                                   {"unit": "patient", "unit_records": 3},
                                   {"column": "patient_nbr", "records": 2},
                                   columns={"patient": "patient_nbr"})
        encounters = collections.Counter(self.fields(file, "patient_nbr"))
        self.assertEqual(described["over_unit_records"],
                         sum(max(0, count - 2) for count in encounters.values()))
        self.assertEqual(described["without_unit"], 0)
        self.described(file, target, columns, 101766)
        self.assertEqual(self.replaced, {"race": 2273, "age": 0, "num_medications": 0,
                                         "time_in_hospital": 0})

    def test_sparcs_has_thousands_commas_and_120_plus(self):
        columns = [number("Total Charges", 0, 1e7, 20000, log=True), number("Facility Id", 0, 10000, 0),
                   number("APR Severity of Illness Code", 0, 4, 1),
                   category("Age Group", ["0 to 17", "18 to 29", "30 to 49", "50 to 69",
                                          "70 or Older"], encode="integer")]
        target = {"column": "Length of Stay", "bounds": [1, 120], "center": 5.3, "scale": 20,
                  "strip": "+"}
        self.described("sparcs/sparcs_2016_raw_sample_1000.csv", target, columns, 1000)
        self.assertEqual(self.replaced, {"Total Charges": 0, "Facility Id": 3, "Age Group": 0,
                                         "APR Severity of Illness Code": 0, "Length of Stay": 0})
        self.assertEqual(sum(self.moved.values()), 0)
        heart = [number("charges", 0, 1e8, 20000, log=True), number("apr_severity_code", 0, 4, 1)]
        self.described("sparcs/sparcs_2024_heart_failure.csv",
                       {"column": "los", "bounds": [1, 120], "center": 6, "scale": 20}, heart, 27925)
        self.assertEqual(sum(self.replaced.values()) + sum(self.moved.values()), 0)
        # The full files say "120 +" for longer stays, and the sample holds none.
        write(self.folder, "stays.csv", "Length of Stay,apr_severity_code\n120 +,1\n3,2\n")
        write(self.folder, "c.toml", charter(target, heart[1:], {"owner": 2}))
        described = self.json("data", "describe", "stays.csv", "--charter", "c.toml")
        self.assertEqual((described["replaced"], described["out_of_bounds"]), (0, 0))


if __name__ == "__main__":
    main()
