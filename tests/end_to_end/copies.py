"""Every owner learns for itself, over the network: N jobs side by side, each owner in all that ask it."""

import json
import signal
import time

from consortium import OWNERS, Consortium
from parley import InFolder, main

NOBODY = [("[learner]\n", ""), ('name = "central-bank"', "")]


class Copies(InFolder):
    def consortium(self, how, *replace, **more):
        consortium = Consortium(self.folder, **more)
        for owner in OWNERS:
            consortium.join(owner, "learner", out=f"{owner}/learner")
        rounds = f"rounds = {consortium.rounds}"
        consortium.write_charter(replace=[
            *NOBODY, (rounds, f'{rounds}\ncopies = true\nowner_learner = "{how}"'), *replace])
        return consortium

    def learners(self, consortium):
        """All of them, and policies that say where they are."""
        learners, peers = {}, []
        for owner in OWNERS:
            learners[owner], port = consortium.learner(
                "run", 0, 60, "--as", owner, name=f"{owner}-learner", identity=f"{owner}/learner",
                out=f"job-{owner}")
            peers.append(f'{owner} = "127.0.0.1:{port}"')
        for owner in OWNERS:
            consortium.write_policy(owner, accept="[network]\npeers = { " + ", ".join(peers) + " }")
        return learners

    def all_end_well(self, consortium, learners, owners):
        for name, learner in learners.items():
            self.assertEqual(learner.wait(120), 0, consortium.log(f"{name}-learner"))
        for name, owner in owners.items():
            self.assertEqual(owner.wait(60), 0, consortium.log(name))

    def verified(self, consortium, owner, asked):
        ledgers = [word for each in asked for word in ("--ledger", f"{each}={each}/state/ledger.db")]
        done = self.json("verify", f"job-{owner}/model.json", f"job-{owner}/transcript.pb.zst",
                         consortium.charter, "--as", owner, *ledgers)
        self.assertTrue(done["verified"] and done["recomputed"])
        self.assertEqual([each["name"] for each in done["owners"]], list(asked))
        return done

    def theta(self, file):
        return json.loads((self.folder / file).read_text())["model"]["theta"]

    def test_every_copy_is_verified_and_the_first_is_the_simulated_one(self):
        for how, jobs in (("others_first", 2), ("own_noise", 3)):
            with self.subTest(how):
                consortium = self.consortium(how)
                self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out",
                            "sim")
                learners = self.learners(consortium)
                checked = self.json("owner", "check", "bank-a/policy.toml", consortium.charter)
                self.assertEqual(checked["charters"][0]["answers"], 3 * jobs)
                self.assertAlmostEqual(checked["charters"][0]["price"], 1, 6)
                doctor = ["doctor", "bank-a/policy.toml", "--charter", consortium.charter]
                self.assertTrue(self.json(*doctor, "--learner", "bank-b")["ok"])
                self.assertIn("whose copy is meant", self.parley(*doctor, expect=2).stderr)
                owners = {owner: consortium.owner(owner, seed=5) for owner in OWNERS}
                self.all_end_well(consortium, learners, owners)
                for owner in OWNERS:
                    self.verified(consortium, owner,
                                  [each for each in OWNERS if how == "own_noise" or each != owner])
                    rows = self.json("ledger", "verify", f"{owner}/state/ledger.db")["rows"]
                    self.assertEqual(rows, 1 + 3 * jobs, "one ledger pays for all jobs")
                self.assertEqual(self.theta("job-bank-a/model.json"), self.theta("sim/model.json"))
                self.assertNotEqual(self.theta("job-bank-a/model.json"),
                                    self.theta("job-bank-b/model.json"))
                wrong = ["verify", "job-bank-b/model.json", "job-bank-b/transcript.pb.zst",
                         consortium.charter]
                self.parley(*wrong, "--as", "bank-a", expect=5)
                self.assertIn("whose copy is meant", self.parley(*wrong, expect=2).stderr)
                self.setUp()

    def test_statistics_are_released_once_for_all_learners(self):
        consortium = self.consortium(
            "statistics", ('"pilot_newton"', '"statistics"'), ("rounds = 3", "rounds = 1"),
            ("step   = 1.0", ""), ("max_grad_norm = 8.0", "max_row_norm = 12.0"))
        learners = self.learners(consortium)
        owners = {owner: consortium.owner(owner) for owner in OWNERS}
        self.all_end_well(consortium, learners, owners)
        for owner in OWNERS:
            self.verified(consortium, owner, [each for each in OWNERS if each != owner])
            rows = self.json("ledger", "verify", f"{owner}/state/ledger.db")["rows"]
            self.assertEqual(rows, 1 + 1)
            self.json("owner", "tune", f"{owner}/policy.toml", consortium.charter,
                      f"job-{owner}/transcript.pb.zst", "--out", f"{owner}/tuned.json")

    def test_an_owner_that_is_killed_comes_back_into_all_its_jobs(self):
        consortium = self.consortium("others_first", ('"pilot_newton"', '"algorithm2"'), rows=500,
                                     rounds=600, epsilon=100, budget=100)
        learners = self.learners(consortium)
        owners = {owner: consortium.owner(owner) for owner in OWNERS}
        journal = self.folder / "job-bank-a" / "journal.pb"
        for owner in ("bank-b", "bank-c"):
            before = journal.stat().st_size
            while journal.stat().st_size < before + 40_000:
                self.assertIsNone(learners["bank-a"].poll(), consortium.log("bank-a-learner"))
                time.sleep(0.005)
            owners[owner].send_signal(signal.SIGKILL)
            owners[owner].wait()
            owners[owner] = consortium.owner(owner)
        self.all_end_well(consortium, learners, owners)
        for owner in OWNERS:
            self.verified(consortium, owner, [each for each in OWNERS if each != owner])

    def test_under_async_every_learner_has_its_own_clocks(self):
        consortium = Consortium(self.folder)
        for owner in OWNERS:
            consortium.join(owner, "learner", out=f"{owner}/learner")
        consortium.write_async_charter(rounds=20, answers=14, rate=50)
        text = consortium.charter.read_text()
        for old, new in [*NOBODY, ("answers = 14",
                                   'answers = 14\ncopies = true\nowner_learner = "others_first"')]:
            text = text.replace(old, new)
        consortium.charter.write_text(text)
        learners = self.learners(consortium)
        owners = {owner: consortium.owner(owner) for owner in OWNERS}
        self.all_end_well(consortium, learners, owners)
        for owner in OWNERS:
            self.verified(consortium, owner, [each for each in OWNERS if each != owner])


if __name__ == "__main__":
    main()
