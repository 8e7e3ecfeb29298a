"""Real processes over mutual TLS on one machine: three owners and a learner."""

import json

from consortium import OWNERS, Consortium
from parley import InFolder, main


class Network(InFolder):
    def train(self, consortium, seed=None):
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port, seed) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        return json.loads((self.folder / "job" / "model.json").read_text())

    def test_a_networked_job_gives_the_simulated_model_bit_for_bit(self):
        consortium = Consortium(self.folder)
        self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out", "sim")
        simulated = json.loads((self.folder / "sim" / "model.json").read_text())
        trained = self.train(consortium, seed=5)
        self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
        self.assertTrue(trained["privacy_card"]["private"])
        self.assertFalse(simulated["privacy_card"]["private"])

    def test_the_product_draws_its_own_noise_and_cannot_be_seeded(self):
        consortium = Consortium(self.folder, rounds=1)
        refused = self.parley("owner", "run", "bank-a/policy.toml", "--seed", "5", expect=2)
        self.assertIn("--seed", refused.stderr)
        first = self.train(consortium)
        for owner in OWNERS:
            for file in (self.folder / owner / "state").iterdir():
                file.unlink()
        for file in (self.folder / "job").iterdir():
            file.unlink()
        self.assertNotEqual(self.train(consortium)["model"]["theta"], first["model"]["theta"])

    def test_every_ledger_holds_what_was_answered(self):
        consortium = Consortium(self.folder)
        self.train(consortium)
        for owner in OWNERS:
            ledger = self.folder / owner / "state" / "ledger.db"
            verified = self.json("ledger", "verify", ledger)
            self.assertEqual(verified["rows"], 1 + 3)  # a budget and three answers


if __name__ == "__main__":
    main()
