"""parley audit with the real binary: certified beside claimed, exit codes, interruption."""

import signal
import subprocess
import time

from parley import BINARY, EXAMPLE, InFolder, main


class Audit(InFolder):
    def test_a_mechanism_passes_and_its_report_has_the_documented_shape(self):
        found = self.json("audit", "--mechanism", "gaussian", "--runs", "20000")
        self.assertEqual(found["format"], "parley.audit/1")
        self.assertEqual(found["target"]["mechanism"], "gaussian")
        self.assertIsNone(found["target"]["charter"])
        self.assertAlmostEqual(found["claimed"]["epsilon"], 1, places=6)
        self.assertEqual(found["claimed"]["delta"], 1e-5)
        self.assertEqual((found["method"], found["runs_per_world"]), ("two_world", 20000))
        self.assertAlmostEqual(found["confidence"], 0.999999, places=12)
        certified = found["certified_epsilon"]
        self.assertLess(certified["clopper_pearson"], certified["gaussian"])
        self.assertLessEqual(certified["gaussian"], found["claimed"]["epsilon"])
        self.assertEqual(found["verdict"], "passes")
        self.assertTrue(found["power"]["flagged"])
        self.assertGreater(found["power"]["if_perfect"], 6)

    def test_every_planted_bug_is_an_integrity_failure(self):
        bugs = self.json("audit", "--list")["planted"]
        self.assertEqual(len(bugs), 11)
        for bug in bugs:
            if bug["name"] == "ledger-reset":  # Takes seconds; a unit test has it.
                continue
            found = self.json("audit", "--planted", bug["name"], expect=5)
            self.assertEqual(found["verdict"], "fails", bug)
            self.assertGreater(max(v or 0 for v in found["certified_epsilon"].values()),
                               found["claimed"]["epsilon"], bug)

    def test_a_charter_is_attacked_owner_by_owner(self):
        found = self.json("audit", EXAMPLE, "--owner", "bank-b", "--runs", "300",
                          "--set", "owner.1.epsilon=3.0")
        self.assertEqual(found["target"]["owner"], "bank-b")
        self.assertEqual(len(found["target"]["charter"]), 64)
        self.assertAlmostEqual(found["claimed"]["epsilon"], 3, places=6)
        self.assertEqual(found["verdict"], "passes")
        text = self.parley("audit", EXAMPLE, "--method", "one_run").stdout
        self.assertIn("one run, 1,000 canaries", text)
        self.assertIn("Claimed     ε = 1\n", text)

    def test_the_same_seed_gives_the_same_certificate(self):
        again = [self.parley("audit", "--mechanism", "laplace", "--runs", "5000", "--threads", n).stdout
                 for n in (1, 3)]
        self.assertEqual(*again)

    def test_records_in_a_database_give_the_certificate_of_records_that_are_read(self):
        asked = ["audit", EXAMPLE, "--runs", "60", "--set", "owner.0.epsilon=6.0"]
        read, there = self.json(*asked), self.json(*asked, "--sql")
        self.assertGreater(there["power"]["certified_epsilon"], 0)
        for key in ("claimed", "certified_epsilon", "power", "verdict"):
            self.assertEqual(read[key], there[key], key)
        self.assertIn("in SQLite", self.parley(*asked, "--sql").stdout)
        clinics = EXAMPLE.parent / "ten-clinics.charter.toml"
        self.assertIn("secure_aggregation", self.parley("audit", clinics, "--sql", expect=2).stderr)

    def test_too_few_runs_are_called_that(self):
        self.assertIn("Proves little", self.parley("audit", "--mechanism", "laplace",
                                                   "--runs", "20").stdout)

    def test_an_interrupt_ends_it_without_a_certificate(self):
        with subprocess.Popen([BINARY, "audit", "--mechanism", "gaussian", "--runs", "100000000"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (1, ""))
        self.assertIn("interrupted", err)

    def test_mistakes_are_named(self):
        for text, *arguments in [("nothing to audit",), ("no mechanism 'magic'", "--mechanism", "magic"),
                                 ("no planted bug", "--planted", "magic"),
                                 ("no owner 'bank-z'", EXAMPLE, "--owner", "bank-z"),
                                 ("cannot be audited in one run", "--planted", "no-clip",
                                  "--method", "one_run")]:
            self.assertIn(text, self.parley("audit", *arguments, expect=2).stderr)


if __name__ == "__main__":
    main()
