"""Forecasts of federated jobs and of columns in several places, beside what then comes out."""

import csv
import hashlib
import random

from charters import block, number
from parley import InFolder, main

CLINICS = [f"clinic-{i}" for i in range(5)]
AGENCIES = ["agency-1", "agency-2"]


class Federated(InFolder):
    def write(self, rows=2000, steps=None, epsilon=1.0, **protocol):
        """Five clinics with loans of their own and public ones; without steps a draft."""
        if not (self.folder / "data").exists():
            self.parley("data", "generate", "lending", "--drift", "0", "--out", "data", *[
                word for clinic in CLINICS for word in ("--owner", f"{clinic}={rows}")])
        pilot = (self.folder / "data" / "pilot.csv").read_bytes()
        given = {"rounds": 60 // steps, "local_steps": steps, "step": 0.3} if steps else {}
        (self.folder / "job.toml").write_text("\n".join([
            block("[charter]", {"version": 1, "name": "clinics", "consortium": "test.example"}),
            block("[pilot]", {"file": "pilot.csv", "rows": 10000,
                              "sha256": hashlib.sha256(pilot).hexdigest()}),
            block("[target]", {"column": "int_rate", "bounds": [5.0, 29.0], "center": 13.25,
                               "scale": 15.75}),
            block("[[column]]", {"name": "pc", "count": 10, "kind": "number",
                                 "bounds": [-40.0, 40.0], "missing": 0.0}),
            block("[model]", {"loss": "huber", "huber_delta": 0.5, "l2": 0.01, "box": 1.0}),
            block("[protocol]", {"name": "federated", **given, **protocol}),
            block("[privacy]", {"max_row_norm": 1.0, "max_grad_norm": 1.0}),
            block("[secure_aggregation]", {}),
            *[block("[[owner]]", {"name": clinic, "rows": rows, "epsilon": epsilon, "delta": 1e-6})
              for clinic in CLINICS],
            block("[learner]", {"name": "registry"})]))
        return "job.toml"

    def forecast(self, *arguments):
        return self.json("forecast", "job.toml", "--data", "data", *arguments)

    def test_says_what_a_simulation_then_finds(self):
        for steps in (2, 10):
            self.write(steps=steps)
            found = self.forecast()["expected"]
            runs = self.json("simulate", "job.toml", "--data", "data", "--runs", 20, "--out", "runs")
            realised = runs["result"]["relative_fitness"]
            # 20 runs of ten directions have a standard error of 10 % at most.
            self.assertLess(abs(found["relative_fitness"]["mean"] / realised["mean"] - 1), .6, steps)
            parts = found["parts"]
            self.assertAlmostEqual(found["relative_fitness"]["mean"],
                                   parts["optimisation"] + parts["privacy"], places=9)

    def test_of_synchronous_rounds_in_a_secure_sum_is_what_a_simulation_finds(self):
        self.write(steps=1)
        text = (self.folder / "job.toml").read_text()
        text = text.replace('name = "federated"', 'name = "sync"\nrule = "pilot_newton"')
        text = text.replace("local_steps = 1\n", "").replace("max_row_norm = 1.0\n", "")
        text = text.replace("rounds = 60", "rounds = 3").replace("step = 0.3", "step = 1.0")
        (self.folder / "job.toml").write_text(text)
        found = self.forecast()["expected"]
        runs = self.json("simulate", "job.toml", "--data", "data", "--runs", 20, "--out", "runs")
        realised = runs["result"]["relative_fitness"]
        self.assertGreater(found["parts"]["privacy"], found["parts"]["optimisation"])
        # 20 runs of ten directions have a standard error of 10 % at most.
        self.assertLess(abs(found["relative_fitness"]["mean"] / realised["mean"] - 1), .5)

    def test_reads_no_private_file_and_answers_in_the_same_form(self):
        self.write(steps=5)
        for clinic in CLINICS:
            (self.folder / "data" / f"{clinic}.csv").unlink()
        found = self.forecast("--html", "forecast.html")
        self.assertEqual(found["format"], "parley.forecast/1")
        self.assertEqual([o["owner"] for o in found["answers"]["for_whom"]], CLINICS)
        self.assertEqual(found["cost"]["rounds"], 12)
        self.assertEqual(len(found["shapley"]), 5)
        page = (self.folder / "forecast.html").read_text()
        for part in ("Worth it?", "Local steps between aggregations", "advised", "Break-even"):
            self.assertIn(part, page)
        self.assertNotIn("four scenarios", page)
        text = self.parley("forecast", "job.toml", "--data", "data").stdout
        self.assertIn("Local steps between aggregations:", text)

    def test_advises_more_local_steps_where_owners_are_alike_and_fewer_where_they_differ(self):
        self.write(rows=20000, steps=1)
        alike = self.forecast()["local_steps"]
        apart = self.forecast("--differ", "0.3")["local_steps"]
        self.assertGreaterEqual(alike["advised"], apart["advised"])
        self.assertGreater(apart["dissimilarity"]["gradients"],
                           3 * alike["dissimilarity"]["gradients"])
        for advice in (alike, apart):
            self.assertTrue(advice["why"])
            self.assertAlmostEqual(advice["communication_saved"], 1 - advice["rounds"] / 60)
        priced = self.forecast("--aggregation-price", "10")["local_steps"]
        self.assertEqual(priced["advised"], max(p["local_steps"] for p in priced["points"]))

    def test_noise_is_that_of_the_strictest_owner(self):
        self.write(steps=5)
        alike = self.forecast()["expected"]["parts"]["privacy"]
        text = (self.folder / "job.toml").read_text().replace("epsilon = 1.0", "epsilon = 0.5", 1)
        (self.folder / "job.toml").write_text(text)
        stricter = self.forecast()
        self.assertGreater(stricter["expected"]["parts"]["privacy"], 3 * alike)
        best = [c["members"] for c in stricter["coalitions"] if c["best"]]
        self.assertEqual(best, [CLINICS[1:]])  # without the strictest there is less noise

    def test_completes_a_draft_that_then_trains(self):
        self.write()
        self.parley("simulate", "job.toml", "--data", "data", expect=2)
        found = self.forecast("--tune", "--out", "complete.toml")
        chosen = {choice["key"]: choice for choice in found["chosen"]}
        self.assertLessEqual({"protocol.rounds", "protocol.local_steps", "protocol.step"},
                             set(chosen))
        self.assertTrue(all(choice["why"] for choice in chosen.values()))
        runs = self.json("simulate", "complete.toml", "--data", "data", "--runs", 6, "--out",
                         "runs")["result"]["relative_fitness"]
        mean = found["expected"]["relative_fitness"]["mean"]
        self.assertLess(mean / 3, runs["mean"])  # 6 runs have a standard error of 20 %
        self.assertGreater(mean * 3, runs["mean"])


class Columns(InFolder):
    def write(self, rule="gradients", records=3000, columns=6, epsilon=3.0, seed=1,
              dealer="learner"):
        """People whose columns lie in two places, and 3,000 public ones who have all of them."""
        luck = random.Random(seed)
        names = [f"{agency}-{j}" for agency in AGENCIES for j in range(columns // 2)]

        def person():
            x = {name: luck.gauss(0, 1) / columns ** .5 for name in names}
            score = sum(value if name.endswith(("0", "2")) else .3 * value
                        for name, value in x.items())
            return {**x, "income": "high" if score + luck.gauss(0, .3) > 0 else "low"}
        people = [{"person": f"p{i}", **person()} for i in range(records)]
        public = [person() for _ in range(3000)]
        folder = self.folder / "data"
        folder.mkdir(exist_ok=True)
        self.rows(folder / "pilot.csv", public, [*names, "income"])
        for agency in AGENCIES:
            own = [name for name in names if name.startswith(agency)]
            label = ["income"] if agency == "agency-1" else []
            self.rows(folder / f"{agency}.csv", people, ["person", *own, *label])
        once = rule == "statistics"

        def norm(value):
            return {} if dealer == "none" else {"max_row_norm": value}

        steps = {} if once else {"rounds": 20, "step": 1.0, "momentum": 0.5}
        if not once and dealer == "learner":
            steps["model_ball"] = 4.0
        if rule != "noisy_sharing":
            steps["dealer"] = dealer
        (self.folder / "job.toml").write_text("\n".join([
            block("[charter]", {"version": 1, "name": "columns", "consortium": "test.example"}),
            block("[pilot]", {"file": "pilot.csv", "rows": 3000, "sha256": hashlib.sha256(
                (folder / "pilot.csv").read_bytes()).hexdigest()}),
            block("[records]", {"id": "person", "count": records}),
            block("[target]", {"owner": "agency-1", "column": "income", "levels": ["low", "high"]}),
            *[number(name, -4, 4, 0, owner=name[:8]) for name in names],
            block("[model]", {"loss": "squared", "l2": 0.01, "box": 8.0}),
            block("[protocol]", {"name": "sharing", "rule": rule, **steps}),
            block("[privacy]", {"delta": 1e-5, **norm(1.42)}),
            *[block("[[owner]]", {"name": agency, "epsilon": epsilon, **norm(1.0),
                                  "columns": [n for n in names if n.startswith(agency)]})
              for agency in AGENCIES],
            block("[learner]", {"name": "office"})]))

    def rows(self, path, people, wanted):
        with open(path, "w", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, wanted, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(people)

    def forecast(self, *arguments, expect=0):
        return self.json("forecast", "job.toml", "--data", "data", *arguments, expect=expect)

    def test_says_what_a_simulation_then_finds(self):
        for rule, dealer in (("gradients", "learner"), ("gradients", "none"), ("statistics", "learner"),
                             ("statistics", "none")):
            self.write(rule, dealer=dealer)
            found = self.forecast()
            runs = self.json("simulate", "job.toml", "--data", "data", "--runs", 30)["result"]
            mean = found["expected"]["relative_fitness"]["mean"]
            # 30 runs of six directions have a standard error of 11 %.
            self.assertLess(abs(mean / runs["relative_fitness"]["mean"] - 1), .6, rule)
            for owner, realised in zip(found["answers"]["for_whom"], runs["owners"]):
                self.assertLess(abs(owner["local_only"] / realised["local_only"] - 1), .5, rule)

    def test_reads_no_private_file_and_answers_in_the_same_form(self):
        self.write()
        for agency in AGENCIES:
            (self.folder / "data" / f"{agency}.csv").unlink()
        found = self.forecast("--html", "forecast.html")
        self.assertEqual(found["format"], "parley.forecast/1")
        self.assertEqual([o["owner"] for o in found["answers"]["for_whom"]], AGENCIES)
        self.assertEqual(found["expected"]["metric"]["name"], "auc")
        self.assertEqual(found["coalitions"][0]["members"], AGENCIES)
        self.assertGreater(min(s["value"] for s in found["shapley"]), 0)
        page = (self.folder / "forecast.html").read_text()
        self.assertIn("Worth it?", page)
        self.assertEqual(page.count("<svg"), page.count("</svg>"))

    def test_says_before_anyone_spends_that_wide_data_does_not_pay(self):
        self.write(columns=6, epsilon=20.0, records=20000)
        self.assertNotEqual(self.forecast()["answers"]["worth_it"]["answer"], "no")
        self.write(columns=80, records=400, epsilon=0.5)
        wide = self.forecast()
        self.assertEqual(wide["answers"]["worth_it"]["answer"], "no")
        self.assertIn("worse_than_alone", [w["code"] for w in wide["warnings"]])
        text = self.parley("forecast", "job.toml", "--data", "data").stdout
        self.assertIn("own columns", text)

    def test_noisy_sharing_is_refused_by_name_with_its_reason(self):
        self.write()
        text = (self.folder / "job.toml").read_text()
        text = text.replace('"gradients"', '"noisy_sharing"').replace("momentum = 0.5\n", "")
        (self.folder / "job.toml").write_text(text)
        done = self.parley("forecast", "job.toml", "--data", "data", expect=2)
        self.assertIn("noisy_sharing", done.stderr)
        self.assertIn("a single record", done.stderr)


if __name__ == "__main__":
    main()
