"""Partial rounds over mutual TLS: where a quorum is enough, a job does without an owner that is away."""

import json
import signal
import time

from consortium import OWNERS, Consortium
from parley import InFolder, main


class Quorum(InFolder):
    def consortium(self, rounds, deadline=1, **more):
        consortium = Consortium(self.folder, rule="constant", rounds=rounds, **more)
        consortium.write_charter(replace=[
            ("step   = 1.0", 'step   = 0.2\nstart = "zero"'),
            ("evaluate      = 0.0 ", "evaluate      = 0.1 "),
            ("[learner]", f"[network]\nquorum = 2\ndeadline_s = {deadline}\n[learner]")])
        return consortium

    def verified(self, consortium, owners=OWNERS):
        ledgers = [word for owner in owners
                   for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]
        done = self.json("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
                         *ledgers)
        self.assertTrue(done["verified"] and done["recomputed"])
        return done

    def test_a_job_ends_without_an_owner_that_never_comes(self):
        consortium = self.consortium(rounds=3)
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port) for owner in OWNERS[:2]]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        done = self.verified(consortium, OWNERS[:2])
        self.assertEqual([owner["answers"] for owner in done["owners"]], [4, 4, 0])

    def test_when_all_come_nobody_waits_and_the_model_is_the_simulated_one(self):
        consortium = self.consortium(rounds=20, deadline=600)
        self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out", "sim")
        simulated = json.loads((self.folder / "sim" / "model.json").read_text())
        learner, port = consortium.learner()
        for owner in OWNERS:
            self.addCleanup(consortium.owner(owner, port, seed=5).wait)
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        trained = json.loads((self.folder / "job" / "model.json").read_text())
        self.assertEqual(trained["model"]["theta"], simulated["model"]["theta"])
        self.assertEqual(trained["evaluation"], simulated["evaluation"])
        self.verified(consortium)

    def test_an_owner_that_hangs_is_left_out_and_takes_part_again_when_it_is_back(self):
        consortium = self.consortium(rounds=1500, epsilon=100, budget=100)
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        journal = self.folder / "job" / "journal.pb"
        for _ in range(3):
            before = journal.stat().st_size
            while journal.stat().st_size < before + 60_000:
                self.assertIsNone(learner.poll(), consortium.log("learner"))
                time.sleep(0.01)
            owners["bank-b"].send_signal(signal.SIGSTOP)
            time.sleep(2.5)
            owners["bank-b"].send_signal(signal.SIGCONT)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        for name, owner in owners.items():
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        done = self.verified(consortium)
        answers = [owner["answers"] for owner in done["owners"]]
        self.assertEqual([answers[0], answers[2]], [1501, 1501])
        self.assertLess(answers[1], 1501, "no round was partial")
        self.assertGreater(answers[1], 1400)

    def test_kills_cost_nothing_and_the_journal_says_which_answers_counted(self):
        consortium = self.consortium(rounds=1500, epsilon=100, budget=100)
        learner, port = consortium.learner()
        processes = {"learner": learner, **{o: consortium.owner(o, port) for o in OWNERS}}
        journal = self.folder / "job" / "journal.pb"
        for name in ("bank-a", "learner", "bank-c", "learner", "bank-b", "bank-a", "learner"):
            before = journal.stat().st_size
            while journal.stat().st_size < before + 50_000:
                self.assertIsNone(processes[name].poll(), consortium.log(name))
                time.sleep(0.001)
            processes[name].kill()
            processes[name].wait()
            time.sleep(1.2 if name == "bank-c" else 0)  # long enough for a round without it
            processes[name] = (consortium.learner("resume", port)[0] if name == "learner"
                               else consortium.owner(name, port))
        for name, process in processes.items():
            self.assertEqual(process.wait(120), 0, f"{name}: {consortium.log(name)}")
        done = self.verified(consortium)
        for owner in done["owners"]:
            rows = self.json("ledger", "verify",
                             self.folder / owner["name"] / "state" / "ledger.db")["rows"]
            self.assertIn(rows - 1 - owner["answers"], (0, 1))


if __name__ == "__main__":
    main()
