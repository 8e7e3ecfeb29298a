"""Columns in several places without noise: simulated, and refused by everything else."""

import json

from consortium import OWNERS
from parley import InFolder, main
from sharing import RECORDS, Agencies

SAID = ['"admm" adds no noise', "parley simulate", '"gradients"']


class Admm(InFolder):
    def setUp(self):
        super().setUp()
        self.agencies = Agencies(self.folder, rounds=40, rule="admm")

    def simulate(self, *more, **how):
        return self.parley("simulate", self.agencies.charter, "--data", "data", "--out", "sim",
                           *more, **how)

    def test_every_output_says_that_nothing_is_private(self):
        text = self.simulate().stdout
        self.assertIn("NO PRIVACY AT ALL", text)
        self.assertIn("NOT PRIVATE: rule \"admm\" adds no noise", text)
        self.assertIn("owner's own columns", text)
        self.assertIn("nothing was sent", text)
        found = json.loads(self.simulate("--json").stdout)
        self.assertFalse(found["private"])
        self.assertIn("epsilon is infinite", found["why_not_private"][0])
        for owner in found["result"]["owners"]:
            self.assertEqual((owner["epsilon"], owner["delta"], owner["epsilon_spent"]),
                             (None, None, None))
            self.assertEqual(owner["noise_scale"], 0)
            self.assertGreater(owner["local_only"], owner["joint"])
        self.assertLess(found["result"]["relative_fitness"]["mean"], 1e-3)
        self.assertFalse(list((self.folder / "sim").rglob("ledger*")))
        for owner in OWNERS:
            part = json.loads((self.folder / "sim/simulated" / owner / "part.json").read_text())
            self.assertFalse(part["model"]["privacy_card"]["private"])
            self.assertIn("NOT PRIVATE", part["model"]["privacy_card"]["statement"])
        explained = self.parley("charter", "explain", self.agencies.charter).stdout
        self.assertIn("NOT PRIVATE", explained)
        self.assertIn("epsilon is infinite", explained)

    def test_its_parts_predict_the_sum(self):
        self.simulate()
        files = []
        for owner in OWNERS:
            file = self.folder / f"{owner}.scores"
            file.write_text(self.parley("predict", f"sim/simulated/{owner}/part.json",
                                        f"data/{owner}.csv", "--query", "first").stdout)
            files.append(file)
        opened = self.json("predict", "sim/manifest.json", *files)
        scores = dict(zip(opened["ids"], opened["values"]))
        right = sum((scores[p["person"]] > 0) == (p["income"] == "high")
                    for p in self.agencies.people)
        self.assertGreater(right, 0.85 * RECORDS)

    def test_everything_but_the_simulator_refuses_it_by_name(self):
        charter, policy = self.agencies.charter, "bank-a/policy.toml"
        self.simulate()
        (self.folder / "none.pb").write_bytes(b"")
        for command in (("owner", "run", policy, charter, "--dial", "127.0.0.1:9"),
                        ("owner", "approve", policy, charter),
                        ("learner", "run", charter, "--identity", "central-bank"),
                        ("verify", "sim/manifest.json", "none.pb", charter),
                        ("forecast", charter),
                        ("audit", charter),
                        ("simulate", charter, "--policy", policy)):
            with self.subTest(command=command[:2]):
                refused = self.parley(*command, expect=2)
                for words in SAID:
                    self.assertIn(words, refused.stderr)
        checked = self.parley("owner", "check", policy, charter, expect=3)
        self.assertIn("would NOT run", checked.stdout)
        self.assertIn(SAID[0], checked.stdout)
        ledger = self.json("ledger", "verify", "bank-a/state/ledger.db")
        self.assertLessEqual(ledger["rows"], 1, "nothing was paid")

    def test_a_label_that_is_no_class_is_refused_and_counted(self):
        people = [dict(p) for p in self.agencies.people]
        people[3]["income"] = people[7]["income"] = "middling"
        self.agencies.write_rows("bank-b", people)
        self.assertIn("2 records have a label that is neither of the two levels",
                      self.simulate(expect=2).stderr)

    def test_other_records_stop_it(self):
        people = [dict(p) for p in self.agencies.people]
        people[3]["person"] = "stranger"
        self.agencies.write_rows("bank-c", people)
        self.assertIn("the records of bank-a and bank-c are not the same",
                      self.simulate(expect=2).stderr)

    def test_keys_of_other_rules_and_wrong_calibration_are_refused(self):
        for change, words in (("protocol.momentum=0.5", "unknown key momentum"),
                              ("protocol.scaling=\"none\"", "protocol.scaling"),
                              ("privacy.calibration=\"sound\"", "which has no privacy"),
                              ("model.l2=0.0", "or l1 must be above 0")):
            self.assertIn(words, self.simulate("--set", change, expect=2).stderr)

    def test_a_lasso_leaves_out_the_columns_that_say_nothing(self):
        file = self.folder / "lasso.toml"
        self.agencies.write_charter(file, replace=[("l2 = 0.01", "l1 = 0.1")])
        self.parley("simulate", file, "--data", "data", "--out", "lasso")
        part = json.loads((self.folder / "lasso/simulated/bank-a/part.json").read_text())
        says, nothing = part["model"]["model"]["theta"]
        self.assertGreater(says, 0.1)
        self.assertEqual(nothing, 0)
        self.assertIn("l1 included", self.parley("simulate", file, "--data", "data").stdout)


if __name__ == "__main__":
    main()
