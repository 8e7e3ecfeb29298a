"""Any party is killed at random moments, again and again; the job ends as if nothing had happened."""

import json
import random
import signal
import time

from consortium import OWNERS, Consortium
from parley import InFolder, main

KILLS = 50
ROUNDS = 4000


class Crash(InFolder):
    def restart(self, consortium, name, port):
        """The journal is there from the first moment on, so that a learner is always resumed."""
        if name == "learner":
            return consortium.learner("resume", port)[0]
        return consortium.owner(name, port)

    def wait_for_growth(self, file, more):
        """A thousand bytes are about one round."""
        enough, until = file.stat().st_size + more, time.monotonic() + 2
        while file.stat().st_size < enough and time.monotonic() < until:
            time.sleep(0.001)

    def test_fifty_kills_change_nothing(self):
        consortium = Consortium(self.folder, rows=500, rounds=ROUNDS, rule="algorithm2",
                                epsilon=100, budget=100)
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        learner, port = consortium.learner()
        processes = {"learner": learner}
        for owner in OWNERS:
            processes[owner] = consortium.owner(owner, port)
        killed = dict.fromkeys(processes, 0)
        journal = self.folder / "job" / "journal.pb"
        sizes = set()  # at the moments of the kills: the job must have gone on between them
        for _ in range(KILLS):
            self.wait_for_growth(journal, chance.choice([0, chance.randrange(40_000)]))
            time.sleep(chance.uniform(0, 0.02))
            sizes.add(journal.stat().st_size)
            name = chance.choice(list(processes))
            self.assertIsNone(processes[name].poll(), f"seed {seed}: {name} ended before its time")
            processes[name].send_signal(signal.SIGKILL)
            processes[name].wait()
            killed[name] += 1
            processes[name] = self.restart(consortium, name, port)
        for name, process in processes.items():
            self.assertEqual(process.wait(120), 0, f"seed {seed}: {name}: {consortium.log(name)}")
        self.assertGreater(len(sizes), KILLS // 5, f"seed {seed}: hardly a kill met a round")
        self.check(consortium, seed)
        print(f"seed {seed}: killed {killed}, {ROUNDS} rounds, at {len(sizes)} different ones")

    def check(self, consortium, seed):
        ledgers = []
        for owner in OWNERS:
            ledger = self.folder / owner / "state" / "ledger.db"
            verified = self.json("ledger", "verify", ledger)
            self.assertEqual(verified["rows"], 1 + ROUNDS, f"seed {seed}: {owner} paid twice")
            ledgers += ["--ledger", f"{owner}={ledger}"]
        # Recomputed from what owners signed, which must be what their ledgers hold, byte for byte.
        self.parley("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
                    *ledgers)
        for owner in OWNERS:
            told = json.loads(consortium.output(owner))["jobs"][0]["model"]
            self.assertIn(told, (None, json.loads(consortium.output("learner"))["model_sha256"]))


if __name__ == "__main__":
    main()
