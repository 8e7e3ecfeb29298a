"""Forecasts, with the real binary: what they say, what they read, and how they come out."""

import hashlib
import re

from parley import EXAMPLE, InFolder, main

OWNERS = ["bank-a", "bank-b", "bank-c"]


class Forecast(InFolder):
    def generate(self, rows=2000, drift=0.0):
        """Files of all owners and the pilot; the arguments that name the pilot by its hash."""
        owners = [word for name in OWNERS for word in ("--owner", f"{name}={rows}")]
        self.parley("data", "generate", "lending", *owners, "--drift", drift, "--out", "data")
        pilot = (self.folder / "data" / "pilot.csv").read_bytes()
        sets = ["--set", f'pilot.sha256="{hashlib.sha256(pilot).hexdigest()}"']
        for i in range(3):
            sets += ["--set", f"owner.{i}.rows={rows}"]
        return sets

    def forecast(self, sets, *arguments, charter=EXAMPLE):
        return self.json("forecast", charter, *sets, "--data", "data", *arguments)

    def without_private_files(self):
        for name in OWNERS:
            (self.folder / "data" / f"{name}.csv").unlink()

    def test_needs_no_private_file_and_answers_four_questions(self):
        sets = self.generate()
        self.without_private_files()
        text = self.parley("forecast", EXAMPLE, *sets, "--data", "data").stdout
        for question in ("Worth it?", "For whom?", "At which ε?", "How sure?"):
            self.assertRegex(text, rf"(?m)^{re.escape(question)} +\S")
        found = self.forecast(sets)
        self.assertEqual(found["format"], "parley.forecast/1")
        self.assertEqual(found["inputs"], {"pilot_rows": 10000, "private_rows_read": 0})
        self.assertEqual([o["owner"] for o in found["answers"]["for_whom"]], OWNERS)

    def test_says_what_a_simulation_then_finds(self):
        sets = self.generate()
        found = self.forecast(sets)["expected"]
        runs = self.json("simulate", EXAMPLE, *sets, "--data", "data", "--runs", 200, "--out",
                         "runs")["result"]["relative_fitness"]
        mean = found["relative_fitness"]["mean"]
        self.assertLess(abs(mean / runs["mean"] - 1), .15)
        self.assertLess(found["relative_fitness"]["p25"], runs["p50"])
        self.assertGreater(found["relative_fitness"]["p75"], runs["p50"])

    def test_parts_add_up_and_more_epsilon_brings_less_noise(self):
        sets = self.generate()
        found = self.forecast(sets)["expected"]
        parts = found["parts"]
        self.assertAlmostEqual(found["relative_fitness"]["mean"],
                               parts["optimisation"] + parts["privacy"], places=9)
        for i in range(3):
            sets += ["--set", f"owner.{i}.epsilon=10"]
        more = self.forecast(sets)["expected"]["parts"]
        self.assertLess(more["privacy"], parts["privacy"] / 50)

    def test_the_break_even_epsilon_is_where_joint_comes_ahead_of_alone(self):
        """By the papers' measure."""
        sets = self.generate()
        smallest = self.forecast(sets)["answers"]["at_which_epsilon"]["smallest_common"]
        for factor, ahead in ((.97, False), (1.03, True)):
            at = [w for i in range(3) for w in ("--set", f"owner.{i}.epsilon={smallest * factor}")]
            for owner in self.forecast(sets + at)["answers"]["for_whom"]:
                self.assertEqual(owner["joint"] < owner["local_only"], ahead, factor)

    def verdicts(self, sets, *arguments):
        """What every owner is told: against alone, and against own + public."""
        found = self.forecast(sets, *arguments)
        for owner in found["answers"]["for_whom"]:
            self.assertEqual([v["against"] for v in owner["verdicts"]], ["alone", "own_public"])
        return found, [tuple(v["answer"] for v in o["verdicts"])
                       for o in found["answers"]["for_whom"]]

    def test_every_owner_has_four_figures_and_two_verdicts_in_its_metric(self):
        found, _ = self.verdicts(self.generate())
        for owner in found["answers"]["for_whom"]:
            figures = owner["figures"]
            self.assertEqual(set(figures), {"alone", "own_public", "joint", "personal"})
            for figure in figures.values():
                self.assertLess(figure["low"], figure["mean"])
                self.assertLess(figure["mean"], figure["high"])
            # Mixing can do as it likes, so it is not worse than what it mixes.
            self.assertLess(figures["personal"]["mean"], figures["own_public"]["mean"])
            self.assertLess(figures["own_public"]["mean"], figures["alone"]["mean"])
            for verdict, base in zip(owner["verdicts"], ("alone", "own_public")):
                self.assertAlmostEqual(verdict["threshold"], .005 * figures[base]["mean"], places=9)
                self.assertLessEqual(verdict["gain"]["low"], verdict["gain"]["mean"])
                self.assertTrue(verdict["if_alike"])
                self.assertIn("if all owners were alike", verdict["sentence"])

    def test_large_owners_of_few_columns_are_told_plainly_that_nothing_is_to_be_gained(self):
        sets = self.generate()
        for i in range(3):
            sets += ["--set", f"owner.{i}.rows=100000"]
        found, told = self.verdicts(sets)
        self.assertEqual(told, [("no difference", "no difference")] * 3)
        self.assertEqual(found["answers"]["worth_it"]["answer"], "no")
        text = self.parley("forecast", EXAMPLE, *sets, "--data", "data").stdout
        self.assertIn("Worth it?     No difference: nobody gains", text)
        self.assertNotIn("times closer", text)

    def test_small_owners_gain_and_the_threshold_is_theirs(self):
        sets = self.generate()
        for i in range(3):
            sets += ["--set", f"owner.{i}.rows=60", "--set", f"owner.{i}.epsilon=100"]
        _, told = self.verdicts(sets)
        self.assertEqual([against_alone for against_alone, _ in told], ["worth it"] * 3)
        _, told = self.verdicts(sets, "--worth", "0.9")
        self.assertNotIn("worth it", [answer for both in told for answer in both])
        self.parley("forecast", EXAMPLE, *sets, "--data", "data", "--worth", "0", expect=2)

    def test_declared_differences_change_verdicts_and_the_words(self):
        sets = self.generate()
        alike, _ = self.verdicts(sets)
        unlike, _ = self.verdicts(sets, "--differ", "0.2")
        for one, other in zip(alike["answers"]["for_whom"], unlike["answers"]["for_whom"]):
            self.assertFalse(other["verdicts"][0]["if_alike"])
            # The rows of others tell less.
            self.assertLess(other["verdicts"][1]["gain"]["low"], one["verdicts"][1]["gain"]["low"])
            self.assertLess(other["figures"]["alone"]["mean"], other["figures"]["joint"]["mean"])
        self.assertIn("worse_than_alone", [w["code"] for w in unlike["warnings"]])
        text = self.parley("forecast", EXAMPLE, *sets, "--data", "data", "--differ", "0.2").stdout
        self.assertNotIn("alike", text)

    def test_names_columns_that_the_public_rows_hardly_know_before_anyone_pays(self):
        self.generate()
        pilot = self.folder / "data" / "pilot.csv"
        lines = pilot.read_text().split("\n")
        place = lines[0].split(",").index("pc10")
        for i, line in enumerate(lines[6:-1], 6):  # Five rows keep theirs.
            cells = line.split(",")
            lines[i] = ",".join(cells[:place] + ["0"] + cells[place + 1:])
        pilot.write_text("\n".join(lines))
        digest = hashlib.sha256(pilot.read_bytes()).hexdigest()
        found = self.forecast(["--set", f'pilot.sha256="{digest}"'])
        thin = [w["text"] for w in found["warnings"] if w["code"] == "thin_columns"]
        self.assertEqual(len(thin), 1)
        self.assertIn("pc10", thin[0])

    def test_small_cautious_owners_do_harm_by_rows_and_none_with_optimal_weights(self):
        """Scenario (i) of Wu et al., figure 6: more data is not always good, with weights n_i/n."""
        sets = self.generate()
        for i, (rows, epsilon) in enumerate(((100000, 10), (1000, .1), (1000, .1))):
            sets += ["--set", f"owner.{i}.rows={rows}", "--set", f"owner.{i}.epsilon={epsilon}"]
        by_rows = self.forecast(sets)
        best = [c["members"] for c in by_rows["coalitions"] if c["best"]]
        self.assertEqual(best, [["bank-a"]])
        self.assertIn("some_do_harm", [w["code"] for w in by_rows["warnings"]])
        self.assertLess(by_rows["shapley"][1]["value"], 0)
        optimal = self.forecast(sets + ["--set", "protocol.weights=noise_optimal"])
        best = [c["members"] for c in optimal["coalitions"] if c["best"]]
        self.assertEqual(best, [OWNERS])
        self.assertGreaterEqual(min(s["value"] for s in optimal["shapley"]), 0)
        self.assertLess(optimal["expected"]["relative_fitness"]["mean"],
                        by_rows["expected"]["relative_fitness"]["mean"] / 10)

    def test_the_four_scenarios_are_as_the_paper_has_them_and_gone_with_optimal_weights(self):
        found = self.forecast(self.generate())["scenarios"]
        self.assertEqual(len(found), 4)
        for scenario in found:  # With optimal weights nobody does harm.
            self.assertLessEqual(scenario["optimal"],
                                 min(scenario["by_rows"], scenario["first_alone"]) * (1 + 1e-6))
        harm = [s["by_rows"] > s["first_alone"] for s in found]
        self.assertEqual((harm[0], harm[2], harm[3]), (True, True, False))

    def test_does_not_say_yes_or_no_where_the_interval_contains_both(self):
        sets = self.generate()
        found, _ = self.verdicts(sets)
        gain = found["answers"]["for_whom"][0]["verdicts"][0]
        share = .005 * gain["gain"]["mean"] / gain["threshold"]
        near, told = self.verdicts(sets, "--worth", share)
        self.assertEqual([against_alone for against_alone, _ in told], ["not sure"] * 3)
        self.assertEqual(near["answers"]["worth_it"]["answer"], "unsure")
        self.assertIn("not_sure", [w["code"] for w in near["warnings"]])

    def test_by_the_papers_measure_owners_that_differ_gain_more_by_joining(self):
        sets = self.generate()
        alike = self.forecast(sets)["answers"]["at_which_epsilon"]["smallest_common"]
        found = self.forecast(sets, "--differ", ".01")["answers"]
        self.assertLess(found["at_which_epsilon"]["smallest_common"], alike / 2)
        self.assertGreater(found["for_whom"][0]["local_only"], .01)

    def test_chooses_the_mechanism_and_says_why(self):
        sets = self.generate(rows=20000)
        draft = self.draft()
        text = (self.folder / draft).read_text().replace("= 100000", "= 20000")
        text = re.sub(r"(?m)^mechanism .*\n", "", text)
        (self.folder / draft).write_text(text)

        def tuned(*arguments):
            found = self.json("forecast", draft, *sets[:2], "--data", "data", "--tune", "--out",
                              "complete.toml", *arguments)
            return found, {c["key"]: c for c in found["chosen"]}["privacy.mechanism"]
        pure, mechanism = tuned()
        self.assertEqual(mechanism["value"], "laplace")
        self.assertIn("gaussian would reach", mechanism["why"])
        found, mechanism = tuned("--delta", "1e-6")
        self.assertLessEqual(found["expected"]["relative_fitness"]["mean"],
                             pure["expected"]["relative_fitness"]["mean"] * 1.05)
        self.assertIn("would reach", mechanism["why"])
        self.parley("simulate", "complete.toml", "--data", "data", "--out", "run")

    def draft(self):
        """The example without what a forecast chooses."""
        chosen = r"(?m)^(rule|rounds|step|max_grad_norm) .*\n"
        (self.folder / "draft.toml").write_text(re.sub(chosen, "", EXAMPLE.read_text()))
        return "draft.toml"

    def test_completes_a_draft_that_then_trains(self):
        sets = self.generate(rows=20000)
        draft = self.draft()
        self.parley("simulate", draft, *sets, "--data", "data", expect=2)
        # Rows of single owners stand in their own blocks of the file.
        text = (self.folder / draft).read_text().replace("= 100000", "= 20000")
        (self.folder / draft).write_text(text)
        found = self.json("forecast", draft, *sets[:2], "--data", "data", "--tune", "--out",
                          "complete.toml")
        keys = {choice["key"] for choice in found["chosen"]}
        self.assertLessEqual({"protocol.rule", "protocol.rounds", "protocol.step",
                              "privacy.max_grad_norm", "protocol.weights"}, keys)
        self.assertTrue(all(choice["why"] for choice in found["chosen"]))
        runs = self.json("simulate", "complete.toml", "--data", "data", "--runs", 60, "--out",
                         "runs")["result"]["relative_fitness"]
        mean = found["expected"]["relative_fitness"]["mean"]
        # 60 runs have a standard error of about 6 %.
        self.assertLess(abs(mean / runs["mean"] - 1), .4)

    def test_the_report_stands_alone(self):
        sets = self.generate()
        self.parley("forecast", EXAMPLE, *sets, "--data", "data", "--html", "forecast.html")
        page = (self.folder / "forecast.html").read_text()
        for part in ("Worth it?", "bank-b", "<svg", "Owner by owner", "At which ε", "Break-even",
                     "What if: ε and rows", "Who with whom", "(iii) large and cautious",
                     "Forecast, bound, simulation", "runs each on the public rows", "@media print"):
            self.assertIn(part, page)
        for elsewhere in ("<script", "http:", "https:", "src=", "@import", "<link"):
            self.assertNotIn(elsewhere, page)
        self.assertEqual(page.count("<svg"), page.count("</svg>"))

    def test_a_market_pays_at_least_what_is_asked(self):
        sets = self.generate()
        for i in range(3):
            sets += ["--set", f"owner.{i}.rows=100000"]  # more than the pilot, or nothing is bought
        prices = ["--price", "bank-a=1", "--price", "bank-b=2", "--price", "bank-c=8"]
        self.parley("forecast", EXAMPLE, *sets, "--data", "data", *prices, "--value", "1e4",
                    expect=2)  # no cap
        market = self.forecast(sets, *prices, "--price", "cap=20", "--value", "1e4")["market"]
        self.assertGreater(sum(sale["epsilon"] for sale in market["sales"]), 0)
        for sale in market["sales"]:
            self.assertGreaterEqual(sale["payment"], sale["price"] * sale["epsilon"])

    def test_a_target_gets_its_epsilon_and_its_rows(self):
        sets = self.generate()
        answer = self.forecast(sets, "--target", "0.01")["answers"]["at_which_epsilon"]
        at = [w for i in range(3) for w in ("--set", f"owner.{i}.epsilon={answer['for_target']}")]
        mean = self.forecast(sets + at)["expected"]["relative_fitness"]["mean"]
        self.assertLess(abs(mean / .01 - 1), .05)
        self.assertGreater(answer["rows_for_target"], 0)

    def test_statistics_are_forecast_as_a_simulation_then_finds_them(self):
        sets = self.generate(rows=20000)
        text = EXAMPLE.read_text().replace("= 100000", "= 20000")
        text = re.sub(r"(?m)^(rounds|step) .*\n", "", text).replace("pilot_newton", "statistics")
        text = re.sub(r"(?m)^max_grad_norm .*$", "max_row_norm = 6.0", text)
        (self.folder / "statistics.toml").write_text(text)
        found = self.forecast(sets[:2], charter="statistics.toml")["expected"]["relative_fitness"]
        runs = self.json("simulate", "statistics.toml", *sets[:2], "--data", "data", "--runs", 100,
                         "--out", "runs")["result"]["relative_fitness"]
        self.assertLess(abs(found["mean"] / runs["mean"] - 1), .35)

    def test_an_owner_that_learns_from_noisy_answers_of_its_own_is_forecast(self):
        sets = self.generate()
        text = EXAMPLE.read_text().replace('name = "central-bank"', 'name = "bank-a"')
        text = text.replace("[protocol]", '[protocol]\nowner_learner = "own_noise"')
        (self.folder / "own.toml").write_text(text)
        central = self.forecast(sets)["expected"]["relative_fitness"]["mean"]
        own = self.forecast(sets, charter="own.toml")["expected"]["relative_fitness"]["mean"]
        self.assertEqual(own, central)

    def test_what_cannot_be_forecast_yet_is_said_by_name(self):
        sets = self.generate()
        text = EXAMPLE.read_text().replace('name = "central-bank"', 'name = "bank-a"')
        text = text.replace("[protocol]", '[protocol]\nowner_learner = "others_first"')
        (self.folder / "own.toml").write_text(text)
        done = self.parley("forecast", "own.toml", *sets, "--data", "data", expect=2)
        self.assertIn('owner_learner = "own_noise" only', done.stderr)
        self.assertIn("owner_learner", done.stderr)

    def test_without_public_rows_there_is_no_forecast(self):
        text = re.sub(r"(?s)\[pilot\].*?\n\n", "", EXAMPLE.read_text())
        text = text.replace('rule   = "pilot_newton"', 'rule   = "constant"')
        (self.folder / "no-pilot.toml").write_text(text)
        done = self.parley("forecast", "no-pilot.toml", expect=2)
        self.assertIn("[pilot]", done.stderr)


if __name__ == "__main__":
    main()
