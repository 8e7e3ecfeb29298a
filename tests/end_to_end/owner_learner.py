"""Owners that learn: over the network with their own noise, all other ways in the simulator."""

import json

from consortium import OWNERS, Consortium, must
from parley import InFolder, main

LEARNER = 'name = "central-bank"'


class OwnerLearner(InFolder):
    def test_an_owner_runs_both_programs_and_answers_itself_like_all_others(self):
        consortium = Consortium(self.folder)
        must("join", "ca/banks.example.join", "--name", "bank-a", "--role", "learner", "--out",
             "central-bank", cwd=self.folder)  # where the helper looks for the learner's papers
        must("certs", "sign", "central-bank/bank-a.csr", "--authority", "ca", cwd=self.folder)
        consortium.write_charter(replace=[
            (LEARNER, 'name = "bank-a"'), ("rounds = 3", 'rounds = 3\nowner_learner = "own_noise"')])
        self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out", "sim")
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port, seed=5) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        trained = json.loads((self.folder / "job" / "model.json").read_text())
        simulated = json.loads((self.folder / "sim" / "model.json").read_text())
        self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
        verified = self.json("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
                             "--ledger", "bank-a=bank-a/state/ledger.db")
        self.assertTrue(verified["verified"] and verified["recomputed"])
        self.assertEqual([owner["answers"] for owner in verified["owners"]], [3, 3, 3])

    def simulated(self, replace):
        consortium = Consortium(self.folder)
        consortium.write_charter(replace=replace)
        explained = self.parley("charter", "explain", consortium.charter).stdout
        result = self.json("simulate", consortium.charter, "--data", "data", "--out", "sim")
        refused = self.parley("learner", "run", consortium.charter, "--identity", "central-bank",
                              "--listen", "127.0.0.1:0", expect=2)
        return explained, result, refused.stderr

    def test_others_first_is_simulated_and_refused_over_the_network_by_name(self):
        explained, result, refused = self.simulated([
            (LEARNER, 'name = "bank-a"'),
            ("rounds = 3", 'rounds = 3\nowner_learner = "others_first"')])
        self.assertIn("bank-a, 2,000 records: epsilon 1, delta 0; is asked nothing", explained)
        self.assertIn('protocol.owner_learner: "others_first" is not available', refused)
        self.assertEqual(result["result"]["owners"][0]["epsilon_spent"], 0)
        self.assertEqual(result["result"]["own_models"][0]["owner"], "bank-a")
        self.assertFalse(result["result"]["own_models"][0]["published"])

    def test_a_graph_is_simulated_and_refused_over_the_network_by_name(self):
        explained, result, refused = self.simulated([
            ("[learner]\n", ""), (LEARNER, ""),
            ("rounds = 3", 'rounds = 3\ngraph = [["bank-a", "bank-b"], ["bank-b", "bank-c"]]')])
        self.assertIn("Nobody coordinates", explained)
        self.assertIn("protocol.graph", refused)
        for owner in result["result"]["owners"]:
            self.assertGreater(owner["epsilon_spent"], 0.99)
            ledger = self.json("ledger", "verify", f"sim/simulated/{owner['name']}/ledger.db")
            self.assertEqual(ledger["rows"], 1 + 3)


if __name__ == "__main__":
    main()
