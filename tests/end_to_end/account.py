"""parley account with the real binary: side by side, curves, calibration, a ledger's charges."""

import json

from parley import InFolder, main

EVENTS = {"self_composed": {"count": 20, "event": {"gaussian": {"noise_multiplier": 5.0}}}}


class Account(InFolder):
    def write(self, name, parsed):
        (self.folder / name).write_text(json.dumps(parsed))
        return name

    def refused(self, status, text, *arguments):
        done = self.parley(*arguments, expect=status)
        self.assertIn(text, done.stderr)

    def test_epsilon_has_the_documented_shape_and_values(self):
        found = self.json("account", "epsilon", self.write("events.json", EVENTS), "--delta", "1e-5")
        self.assertEqual(found["format"], "parley.account/1")
        self.assertEqual(found["events"], EVENTS)
        self.assertEqual(found["adjacency"], "replace_one")
        self.assertEqual(found["enforced_by"], "zcdp")
        epsilon = found["epsilon"]
        self.assertAlmostEqual(epsilon["gdp"], 3.84861028253798, places=10)
        self.assertAlmostEqual(epsilon["zcdp"], 4.161533497, places=8)
        self.assertAlmostEqual(epsilon["pld"], 3.8486102825, places=8)
        self.assertIsNone(epsilon["basic"])
        self.assertIn("basic", found["missing"])
        again = self.json("account", "epsilon", self.write("again.json", found), "--delta", "1e-5")
        self.assertEqual(again, found)  # its own output is a file of events

    def test_flags_stand_for_a_file(self):
        found = self.json("account", "epsilon", "--gaussian", "5", "--count", "20", "--delta", "1e-5")
        self.assertEqual(found["events"], EVENTS)
        text = self.parley("account", "epsilon", "--laplace", "10", "--count", "100",
                           "--delta", "1e-5", "--accountant", "pld").stdout
        self.assertIn("4.220348", text)
        self.assertNotIn("zcdp ", text)

    def test_curves_fall(self):
        found = self.json("account", "epsilon", "--laplace", "5", "--count", "20",
                          "--delta", "1e-2,1e-5,1e-9")
        values = [point["epsilon"]["pld"] for point in found["curve"]]
        self.assertEqual(values, sorted(values))
        self.assertAlmostEqual(values[1], 3.3973131, places=5)
        found = self.json("account", "delta", "--laplace", "20", "--count", "100", "--epsilon", "1,2")
        values = [point["delta"]["pld"] for point in found["curve"]]
        self.assertGreater(values[0], values[1])
        self.assertAlmostEqual(values[0], 0.006362968, places=7)

    def test_calibration_is_checked_forwards(self):
        found = self.json("account", "calibrate", "--gaussian", "1", "--count", "20", "--epsilon", "3",
                          "--delta", "1e-5", "--accountant", "gdp")
        self.assertAlmostEqual(found["factor"], 6.21892299638135, places=5)
        self.assertLessEqual(found["account"]["epsilon"]["gdp"], 3)
        found = self.json("account", "calibrate", "--gaussian", "1", "--sampling-probability", "0.01",
                          "--count", "1000", "--epsilon", "0.01", "--delta", "1e-6",
                          "--adjacency", "add_remove", "--accountant", "pld")
        self.assertLessEqual(found["account"]["epsilon"]["pld"], 0.01)

    def test_a_ledgers_charges_are_recomputed(self):
        self.parley("simulate", *self.charter(), "--standin", "lending", "--out", "run")
        ledger = self.folder / "run" / "simulated" / "bank-a" / "ledger.db"
        shown = self.json("ledger", "show", ledger)
        spent = shown["datasets"][0]
        found = self.json("account", "epsilon", self.write("ledger.json", shown), "--delta", "1e-6")
        self.assertEqual(found["enforced_by"], "basic")
        self.assertAlmostEqual(found["epsilon"]["basic"], spent["pure"]["spent"], places=12)
        self.assertLessEqual(found["epsilon"]["pld"], found["epsilon"]["basic"] * (1 + 1e-5))

    def test_mistakes_are_named(self):
        bad = self.write("bad.json", [{"gaussian": {"noise_multiplier": -1}}])
        self.refused(2, "[0].gaussian.noise_multiplier", "account", "epsilon", bad, "--delta", "1e-5")
        self.refused(2, "no events", "account", "epsilon", "--delta", "1e-5")
        self.refused(2, "Known: basic", "account", "epsilon", "--laplace", "1", "--delta", "1e-5",
                     "--accountant", "magic")
        self.refused(2, "delta is out of range", "account", "epsilon", "--laplace", "1", "--delta", "2")


if __name__ == "__main__":
    main()
