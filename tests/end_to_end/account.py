"""parley account with the real binary: side by side, curves, calibration, a ledger's charges."""

import importlib
import json
import os
import subprocess
import sys
import types

from parley import BINARY, SOURCE, InFolder, main

EVENTS = {"self_composed": {"count": 20, "event": {"gaussian": {"noise_multiplier": 5.0}}}}

# What ledgers write about the mechanisms, one answer each.
SHARES = {"gaussian_shares": {"variance": 400, "honest": 6, "present": 10, "dimension": 100,
                              "sensitivity": 16}}
NARROW = {"gaussian_shares": {"variance": 1, "honest": 10, "present": 10, "dimension": 1000,
                              "sensitivity": 1}}
SKELLAM = {"skellam": {"variance": 1000, "dimension": 100, "sensitivity": 16}}
SAMPLED = {"poisson_sampled": {"sampling_probability": 0.0078125, "delta": 1e-10, "event": {
    "gaussian": {"noise_multiplier": 5, "sensitivity": 200, "variance": 1000000}}}}


def dp_events():
    """experiments/dp_events.py without the library that it hands events to: what it would get."""
    names = ["ZCDpEvent", "GaussianDpEvent", "LaplaceDpEvent", "DiscreteLaplaceDpEvent", "ComposedDpEvent",
             "PoissonSampledDpEvent", "SelfComposedDpEvent", "NoOpDpEvent"]
    fake = types.ModuleType("dp_accounting")
    for name in names:
        setattr(fake, name, lambda *arguments, name=name: (name, *arguments))
    fake.pld = fake.rdp = None
    fake.dp_event = fake
    fake.NeighboringRelation = types.SimpleNamespace(ADD_OR_REMOVE_ONE="add_remove", REPLACE_ONE="replace")
    sys.modules["dp_accounting"] = fake
    sys.path.insert(0, str(SOURCE / "experiments"))
    return importlib.import_module("dp_events")


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
        del again["parley"], found["parley"]  # what was typed
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

    def test_a_gaussian_ledgers_charges_are_those_of_discrete_noise(self):
        self.parley("simulate", *self.charter(privacy__mechanism='"gaussian"', owner__0__delta=1e-6,
                                              owner__1__delta=1e-6, owner__2__delta=1e-6),
                    "--standin", "lending", "--out", "run")
        shown = self.json("ledger", "show", self.folder / "run" / "simulated" / "bank-a" / "ledger.db")
        found = self.json("account", "epsilon", self.write("ledger.json", shown), "--delta", "1e-6")
        self.assertIn("discrete_gaussian", json.dumps(found["events"]))
        self.assertEqual(found["enforced_by"], "zcdp")
        self.assertIsNone(found["epsilon"]["gdp"])  # It is exact for continuous noise only.
        rho = {"zcdp": {"rho": shown["datasets"][0]["rho"]["spent"]}}
        spent = self.json("account", "epsilon", self.write("rho.json", rho), "--delta", "1e-6")
        self.assertAlmostEqual(found["epsilon"]["zcdp"], spent["epsilon"]["zcdp"], places=12)
        self.assertLess(found["epsilon"]["pld"], found["epsilon"]["zcdp"])

    def test_events_of_every_mechanism_go_in_and_out(self):
        events = [SHARES, SKELLAM, SAMPLED, {"zcdp": {"rho": 0.01}}]
        found = self.json("account", "epsilon", self.write("events.json", events), "--delta", "1e-5",
                          "--accountant", "zcdp")
        again = self.json("account", "epsilon", self.write("again.json", found), "--delta", "1e-5",
                          "--accountant", "zcdp")
        del again["parley"], found["parley"]  # what was typed
        self.assertEqual(again, found)
        self.assertEqual(found["enforced_by"], "zcdp")
        self.assertGreater(found["epsilon"]["zcdp"], 0)
        alone = {"poisson_sampled": {"sampling_probability": 0.0078125,
                                     "event": {"gaussian": {"noise_multiplier": 5}}}}
        without = self.json("account", "epsilon", self.write("sampled.json", alone), "--delta", "1e-5")
        self.assertIn("delta of its own", without["missing"]["zcdp"])
        self.assertEqual(without["enforced_by"], "rdp")

    def test_another_library_gets_the_same_rho(self):
        convert = dp_events().convert
        for event in [SHARES, NARROW, SKELLAM]:
            name, rho = convert(event)
            self.assertEqual(name, "ZCDpEvent")
            ours = self.json("account", "epsilon", self.write("event.json", event), "--delta", "1e-5")
            theirs = self.json("account", "epsilon", self.write("rho.json", {"zcdp": {"rho": rho}}),
                               "--delta", "1e-5")
            self.assertAlmostEqual(ours["epsilon"]["zcdp"], theirs["epsilon"]["zcdp"], places=10)
        self.assertEqual(convert({"discrete_gaussian": {"sigma": 10, "sensitivity": 4}}),
                         ("GaussianDpEvent", 2.5))

    # At small epsilon another implementation asked for more memory than machines have.
    def test_small_epsilons_take_little_memory(self):
        for epsilon in ["0.01", "0.001"]:
            command = [BINARY, "--json", "--quiet", "account", "calibrate", "--gaussian", "1", "--count",
                       "1000", "--sampling-probability", "0.01", "--epsilon", epsilon, "--delta", "1e-6",
                       "--adjacency", "add_remove", "--accountant", "pld"]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                found = json.loads(process.stdout.read())
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            self.assertLessEqual(found["account"]["epsilon"]["pld"], float(epsilon))
            self.assertLess(used.ru_maxrss, 200_000, "kB")

    def test_mistakes_are_named(self):
        bad = self.write("bad.json", [{"gaussian": {"noise_multiplier": -1}}])
        self.refused(2, "[0].gaussian.noise_multiplier", "account", "epsilon", bad, "--delta", "1e-5")
        self.refused(2, "no events", "account", "epsilon", "--delta", "1e-5")
        self.refused(2, "Known: basic", "account", "epsilon", "--laplace", "1", "--delta", "1e-5",
                     "--accountant", "magic")
        self.refused(2, "delta is out of range", "account", "epsilon", "--laplace", "1", "--delta", "2")


if __name__ == "__main__":
    main()
