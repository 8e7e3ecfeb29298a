"""Asynchronous jobs over mutual TLS: owners come when their clocks tick; parties are killed at random."""

import json
import random
import signal
import time

from consortium import OWNERS, Consortium
from parley import InFolder, main


class AsyncNetwork(InFolder):
    def ledgers(self):
        return [word for owner in OWNERS
                for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]

    def verified(self, consortium):
        """Recomputed from what owners signed, which must be what their ledgers hold."""
        for owner in OWNERS:
            self.parley("ledger", "verify", self.folder / owner / "state" / "ledger.db")
        done = self.json("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
                         *self.ledgers())
        self.assertTrue(done["verified"] and done["recomputed"])
        return done

    def test_owners_come_by_their_clocks_and_the_transcript_gives_the_model(self):
        consortium = Consortium(self.folder)
        for contact in ("owner_requests", "broadcast"):
            with self.subTest(contact):
                consortium.write_async_charter(rounds=30, answers=14, rate=50, contact=contact)
                learner, port = consortium.learner()
                owners = [consortium.owner(owner, port) for owner in OWNERS]
                self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
                for name, owner in zip(OWNERS, owners):
                    self.assertEqual(owner.wait(60), 0, consortium.log(name))
                model = json.loads((self.folder / "job" / "model.json").read_text())
                done = self.verified(consortium)
                self.assertEqual(done["evaluation"], model["evaluation"])
                answers = [owner["answers"] for owner in done["owners"]]
                self.assertEqual(sum(answers), 30 + 3, "the rounds, and an evaluation of each")
                for owner, card in zip(done["owners"], model["privacy_card"]["owners"]):
                    self.assertLessEqual(owner["answers"], 14 + 1)
                    self.assertEqual(card["receipts"], owner["answers"])
                    self.assertLessEqual(card["epsilon"], consortium.epsilon)
                    self.assertAlmostEqual(card["epsilon_evaluation"], 0.1 * consortium.epsilon, 5)
                said = json.loads(consortium.output("learner"))["model_sha256"]
                for owner in OWNERS:
                    self.assertEqual(json.loads(consortium.output(owner))["jobs"][0]["model"], said)
                (self.folder / "job").rename(self.folder / f"job-{contact}")

    def test_an_owner_that_never_comes_is_done_without(self):
        consortium = Consortium(self.folder)
        consortium.write_async_charter(rounds=20, answers=20, rate=100, deadline=1)
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port) for owner in OWNERS[:2]]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for owner in owners:
            self.assertEqual(owner.wait(60), 0)
        transcript = ["job/model.json", "job/transcript.pb.zst", consortium.charter]
        done = self.json("verify", *transcript)
        self.assertTrue(done["recomputed"])
        self.assertEqual(done["owners"][2]["answers"], 0)
        model = json.loads((self.folder / "job" / "model.json").read_text())
        self.assertEqual([card["epsilon_evaluation"] > 0 for card in model["privacy_card"]["owners"]],
                         [True, True, False])

    def test_a_stopped_owner_loses_the_word_and_its_answer_is_used_when_it_returns(self):
        """Stopped like a machine that hangs: its stream stays open, and it is dismissed."""
        consortium = Consortium(self.folder)
        consortium.write_async_charter(rounds=1200, answers=800, rate=60, deadline=1)
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        journal = self.folder / "job" / "journal.pb"
        for _ in range(3):
            before = journal.stat().st_size
            while journal.stat().st_size < before + 10_000:
                self.assertIsNone(learner.poll(), consortium.log("learner"))
                time.sleep(0.01)
            owners["bank-b"].send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            owners["bank-b"].send_signal(signal.SIGCONT)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        for name, owner in owners.items():
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        self.verified(consortium)

    def test_kills_of_any_party_at_any_moment_change_nothing(self):
        self.kill_at_random(30, rounds=3000)

    def test_nor_do_they_where_the_learner_calls(self):
        self.kill_at_random(10, rounds=1000, contact="broadcast")

    def kill_at_random(self, kills, rounds, contact="owner_requests"):
        consortium = Consortium(self.folder, rows=500, epsilon=100, budget=100)
        answers = rounds * 2 // 5
        consortium.write_async_charter(rounds, answers, rate=1000, contact=contact, deadline=10)
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        learner, port = consortium.learner()
        processes = {"learner": learner}
        for owner in OWNERS:
            processes[owner] = consortium.owner(owner, port)
        killed = dict.fromkeys(processes, 0)
        journal = self.folder / "job" / "journal.pb"
        sizes = set()
        for _ in range(kills):
            more = chance.randrange(200 * rounds // kills)  # A round is about 500 bytes.
            enough, until = journal.stat().st_size + more, time.monotonic() + 2
            while journal.stat().st_size < enough and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.02))
            sizes.add(journal.stat().st_size)
            name = chance.choice(list(processes))
            self.assertIsNone(processes[name].poll(),
                              f"seed {seed}: {name} ended before its time: {consortium.log(name)}")
            processes[name].send_signal(signal.SIGKILL)
            processes[name].wait()
            killed[name] += 1
            processes[name] = (consortium.learner("resume", port)[0] if name == "learner"
                               else consortium.owner(name, port))
        for name, process in processes.items():
            self.assertEqual(process.wait(120), 0, f"seed {seed}: {name}: {consortium.log(name)}")
        self.assertGreater(len(sizes), kills // 5, f"seed {seed}: hardly a kill met a round")
        done = self.verified(consortium)
        self.assertLessEqual(max(owner["answers"] for owner in done["owners"]), answers + 1)
        for owner in OWNERS:
            rows = self.json("ledger", "verify", self.folder / owner / "state" / "ledger.db")["rows"]
            told = next(each for each in done["owners"] if each["name"] == owner)["answers"]
            self.assertIn(rows - 1 - told, (0, 1), f"seed {seed}: at most its last was not used")
        print(f"seed {seed}: killed {killed}, at {len(sizes)} different sizes of the journal")

    def test_another_learner_cannot_ask_again_what_its_journal_does_not_know(self):
        consortium = Consortium(self.folder)
        consortium.write_async_charter(rounds=2000, answers=1000, rate=50)
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        while (self.folder / "job" / "journal.pb").stat().st_size < 30_000:
            time.sleep(0.01)
        for process in (learner, *owners):
            process.kill()
            process.wait()
        (self.folder / "job").rename(self.folder / "lost")
        for file in (self.folder / "central-bank" / "receipts").iterdir():
            file.unlink()
        learner, port = consortium.learner()
        self.addCleanup(learner.wait)
        self.addCleanup(learner.kill)
        self.assertEqual(consortium.owner("bank-a", port).wait(60), 5, consortium.log("bank-a"))
        self.assertIn("journal does not know", consortium.log("bank-a"))


if __name__ == "__main__":
    main()
