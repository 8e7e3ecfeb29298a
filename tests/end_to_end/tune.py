"""A draft by `init` is tuned as it stands: features, l2, mechanism, rule and protocol, with a ranking."""

import json
import re

from parley import InFolder, main

OWNERS = [f"bank-{letter}" for letter in "abcde"]


class Tune(InFolder):
    def setUp(self):
        super().setUp()
        owners = [word for name in OWNERS for word in ("--owner", f"{name}=400")]
        self.parley("--quiet", "data", "generate", "lending", "--raw", *owners, "--pilot", "600", "--out",
                    "data")

    def draft(self, *options):
        self.parley("init", *(f"data/{name}.csv" for name in OWNERS), "--pilot", "data/pilot.csv",
                    "--target", "int_rate", "--without", "installment,addr_state,purpose", "--out",
                    "draft.charter.toml", *options)

    def tune(self, *options):
        return self.json("forecast", "draft.charter.toml", "--data", "data", "--tune", "--out",
                         "rates.charter.toml", *options)

    def test_a_draft_becomes_a_charter_that_trains_and_says_what_else_there_was(self):
        self.draft("--epsilon", "2", "--epsilon", "bank-b=1")
        told = self.tune()
        chosen = {choice["key"]: choice for choice in told["chosen"]}
        for key in ("protocol.name", "preprocess.bundle", "model.l2", "privacy.mechanism", "protocol.rounds"):
            self.assertTrue(chosen[key]["why"], key)
        self.assertEqual(chosen["privacy.mechanism"]["value"], "gaussian")
        first, *others = told["ranking"]
        self.assertTrue(first["chosen"])
        self.assertFalse(any(one["chosen"] for one in others))
        self.assertGreaterEqual(len({one["protocol"] for one in told["ranking"]}), 3)
        self.assertGreaterEqual(len({one["features"] for one in told["ranking"]}), 3)
        # Nothing that was forecast is better by more than what counts as a tie.
        for one in others:
            self.assertGreaterEqual(one["loss"], first["loss"] - max(one["standard_error"], .0005 * first["loss"]) - 1e-12)
        text = (self.folder / "rates.charter.toml").read_text()
        self.assertNotIn("OPEN:", text)
        self.assertEqual(re.findall(r"(?m)^epsilon = (\S+)", text), ["2", "1", "2", "2", "2"])
        self.assertTrue((self.folder / "rates.bundle.json").exists())
        self.assertIn("complete", self.parley("charter", "check", "rates.charter.toml").stdout)
        self.parley("--quiet", "simulate", "rates.charter.toml", "--data", "data", "--out", "run",
                    *(f"--policy={name}.policy.toml" for name in OWNERS))

    def test_a_tuned_comment_does_not_contradict_its_value(self):
        self.draft()
        told = self.tune("--protocols", "sync")
        for choice in told["chosen"]:
            here = re.search(r"expected fitness (\S+) above the best", choice["why"])
            if here:
                for other in re.findall(r"would reach (\S+?)(?:;|$)", choice["why"]):
                    self.assertGreater(float(other), float(here[1]) * .99, choice)

    def test_without_a_delta_noise_is_laplace_and_what_a_delta_would_bring_is_said(self):
        self.draft("--delta", "0")
        told = self.tune("--protocols", "sync")
        chosen = {choice["key"]: choice["value"] for choice in told["chosen"]}
        self.assertEqual(chosen["privacy.mechanism"], "laplace")
        self.assertTrue(any(one["needs_delta"] for one in told["ranking"]))
        accepted = self.tune("--protocols", "sync", "--delta", "1e-6")
        chosen = {choice["key"]: choice["value"] for choice in accepted["chosen"]}
        self.assertEqual(chosen["privacy.mechanism"], "gaussian")

    def test_protocols_can_be_limited_and_what_is_written_stays(self):
        self.draft()
        told = self.tune("--protocols", "async")
        self.assertEqual({c["key"]: c["value"] for c in told["chosen"]}["protocol.name"], "async")
        told = self.tune("--protocols", "sync", "--set", "model.l2=0.02")
        self.assertNotIn("model.l2", {c["key"] for c in told["chosen"]})
        self.assertIn("l2 = 0.02", (self.folder / "rates.charter.toml").read_text())
        self.parley("forecast", "draft.charter.toml", "--data", "data", "--tune", "--protocols", "moon", expect=2)

    def test_progress_is_shown_on_stderr_only(self):
        self.draft()
        done = self.parley("--json", "forecast", "draft.charter.toml", "--data", "data", "--protocols", "sync")
        self.assertIn("comparing: 100 %", done.stderr)
        json.loads(done.stdout)


if __name__ == "__main__":
    main()
