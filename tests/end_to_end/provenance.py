"""Every JSON result says what made it: version, commit, command and seed."""

import json
import subprocess

from consortium import OWNERS, Consortium
from parley import BINARY, InFolder, main, run


class Provenance(InFolder):
    def made_by(self, *arguments, expect=0, seed=None):
        """Runs the command with --json and checks what it says of itself."""
        typed = ["--json", "--quiet", *map(str, arguments)]
        done = run(*typed, cwd=self.folder)
        self.assertEqual(done.returncode, expect, f"{arguments}: {done.stdout}{done.stderr}")
        made = json.loads(done.stdout)["parley"]
        self.assertEqual(list(made), ["version", "commit", "command", "seed"], arguments)
        self.assertEqual(made["version"], run("--version").stdout.strip())
        self.assertRegex(made["commit"], r"^([0-9a-f]{40}(-dirty)?|unknown)$")
        self.assertEqual(made["command"], [BINARY, *typed])
        self.assertEqual(made["seed"], seed, arguments)

    def test_charters_forecasts_and_simulations(self):
        consortium = Consortium(self.folder)
        charter = consortium.charter.name
        for action in ("hash", "check", "explain"):
            self.made_by("charter", action, charter)
        self.made_by("forecast", charter)
        self.made_by("forecast", charter, "--tune", "--out", "tuned.charter.toml")
        self.made_by("simulate", charter, "--data", "data", "--out", "run", "--held-out", "0", seed=1)
        self.made_by("simulate", charter, "--data", "data", "--out", "run", "--seed", "7", "--held-out", "0",
                     seed=7)
        self.made_by("predict", "run/model.json", "data/bank-a.csv")
        for action in ("show", "verify", "export"):
            self.made_by("ledger", action, "run/simulated/bank-a/ledger.db")
        # Printed as JSON with and without --json.
        exported = json.loads(self.parley("ledger", "export", "run/simulated/bank-a/ledger.db").stdout)
        self.assertEqual(exported["parley"]["command"][1:], ["ledger", "export", "run/simulated/bank-a/ledger.db"])
        self.made_by("owner", "check", "bank-a/policy.toml", charter, "--dial", "localhost:7443")
        self.made_by("owner", "approve", "bank-a/policy.toml", charter)
        self.made_by("ledger", "budget", "bank-a/policy.toml")
        self.made_by("doctor", "bank-a/policy.toml", "--charter", charter, "--dial",
                     "127.0.0.1:1", expect=4)
        self.made_by("data", "prepare", charter, "--pilot", "data/pilot.csv", "--components", "4",
                     "--out", "bundle.json", seed=1)

    def test_data(self):
        owners = [word for name in OWNERS for word in ("--owner", f"{name}=200")]
        self.made_by("data", "generate", "lending", *owners, "--out", "data", "--seed", "3", seed=3)
        self.made_by("data", "describe", "data/bank-a.csv")
        self.made_by("data", "split", "data/bank-a.csv", "--owners", "x", "y", "--out",
                     "parts")
        self.made_by("data", "split", "data/bank-a.csv", "--owners", "x", "y", "--out",
                     "parts", "--random", "5", seed=5)
        self.made_by("init", "data/bank-a.csv", "data/bank-b.csv", "--target", "int_rate", "--out",
                     "draft")

    def test_papers(self):
        self.made_by("certs", "init", "banks.example", "--out", "ca")
        self.made_by("join", "ca/banks.example.join", "--name", "bank-a", "--out", "a")
        self.made_by("certs", "sign", "a/bank-a.csr", "--authority", "ca")

    def test_accounts_audits_and_studies(self):
        self.made_by("account", "epsilon", "--gaussian", "5", "--count", "20", "--delta", "1e-5")
        self.made_by("account", "calibrate", "--gaussian", "1", "--epsilon", "1", "--delta",
                     "1e-5")
        self.made_by("audit", "--mechanism", "laplace", "--runs", "2000", "--seed", "2", seed=2)
        self.made_by("audit", "--list", seed=1)
        self.made_by("reproduce", "--list", seed=1)

    def test_errors_and_names_that_are_no_text(self):
        self.made_by("charter", "check", "absent.toml", expect=2)
        done = subprocess.run([BINARY, "--json", "charter", "check", b"\xff.toml"],
                              cwd=self.folder, capture_output=True, timeout=60, check=False)
        self.assertEqual(json.loads(done.stdout)["parley"]["command"][-1], "\ufffd.toml")

    def test_files_that_others_read_do_not_say_who_typed_what(self):
        consortium = Consortium(self.folder)
        for out, seed in (("one", "7"), ("two", "7")):
            self.parley("simulate", consortium.charter.name, "--data", "data", "--seed", seed,
                        "--out", out)
        models = [(self.folder / out / "model.json").read_bytes() for out in ("one", "two")]
        self.assertEqual(models[0], models[1])


if __name__ == "__main__":
    main()
