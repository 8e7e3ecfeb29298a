"""A pilot unlike the owners, over mutual TLS: nothing is paid a second time before a person has said so."""

import csv
import json

from consortium import OWNERS, Consortium
from parley import InFolder, main


class PilotAlarm(InFolder):
    def consortium(self, **more):
        """Its pilot has high interest rates where the owners have low ones."""
        consortium = Consortium(self.folder, rounds=3, epsilon=4, **more)
        file = self.folder / "data" / "pilot.csv"
        with open(file, newline="") as text:
            rows = list(csv.reader(text))
        place = rows[0].index("int_rate")
        for row in rows[1:]:
            row[place] = str(min(max(26.5 - float(row[place]), 5), 29))
        with open(file, "w", newline="") as text:
            csv.writer(text, lineterminator="\n").writerows(rows)
        consortium.write_charter(replace=[("step   = 1.0", 'step   = 1.0\non_alarm = "ask"')])
        return consortium

    def run_until_asked(self, consortium):
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 3, consortium.log("learner"))
        self.assertIn("unlike the pilot", consortium.log("learner"))
        self.assertIn("--after-alarm continue", consortium.log("learner"))
        for owner in owners:
            owner.terminate()
            owner.wait(60)

    def answers(self):
        """In every owner's ledger."""
        return [sum(row["kind"] == "answer"
                    for row in self.json("ledger", "show", f"{owner}/state/ledger.db")["rows"])
                for owner in OWNERS]

    def resumed(self, consortium, word):
        learner, port = consortium.learner("resume", 0, 60, "--after-alarm", word)
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        ledgers = [part for owner in OWNERS
                   for part in ("--ledger", f"{owner}={owner}/state/ledger.db")]
        done = self.json("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter,
                         *ledgers)
        self.assertTrue(done["verified"] and done["recomputed"])
        self.assertTrue(done["pilot_check"]["alarm"])
        return json.loads(consortium.output("learner"))

    def test_the_learner_pauses_and_goes_on_when_told(self):
        consortium = self.consortium()
        self.run_until_asked(consortium)
        self.assertEqual(self.answers(), [1, 1, 1])
        again = self.parley("learner", "run", consortium.charter, "--identity", "central-bank",
                            "--listen", "127.0.0.1:0", "--out", "job", expect=3)
        self.assertIn("--after-alarm", again.stderr)
        result = self.resumed(consortium, "continue")
        self.assertFalse(result["stopped_by_alarm"])
        self.assertEqual(self.answers(), [3, 3, 3])

    def test_stopped_it_ends_with_the_pilots_model(self):
        consortium = self.consortium()
        self.run_until_asked(consortium)
        result = self.resumed(consortium, "stop")
        self.assertTrue(result["stopped_by_alarm"])
        self.assertEqual(self.answers(), [1, 1, 1])
        self.assertEqual(json.loads((self.folder / "job" / "model.json").read_text())
                         ["training"]["rounds"], 1)

    def test_nobody_decides_before_there_is_an_alarm(self):
        consortium = self.consortium()
        refused = self.parley("learner", "run", consortium.charter, "--identity", "central-bank",
                              "--listen", "127.0.0.1:0", "--out", "job", "--after-alarm", "continue",
                              expect=2)
        self.assertIn("--after-alarm", refused.stderr)


if __name__ == "__main__":
    main()
