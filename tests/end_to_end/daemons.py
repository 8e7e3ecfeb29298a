"""Daemons obey those who may tell them something, and nobody else: SIGTERM and SIGINT end them at once,
a closed terminal or a reader of the log that goes away does not."""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import time

from consortium import OWNERS, Consortium, must
from parley import BINARY, InFolder, main


class Daemons(InFolder):
    def all_end_well(self, consortium, learner, owners):
        self.assertEqual(learner.wait(300), 0, consortium.log("learner"))
        for name, owner in owners.items():
            self.assertEqual(owner.wait(60), 0, consortium.log(name))

    def answers(self, owner):
        """In the owner's ledger."""
        with contextlib.closing(sqlite3.connect(
                f"file:{self.folder}/{owner}/state/ledger.db?mode=ro", uri=True)) as ledger:
            return ledger.execute("SELECT count(*) FROM charge").fetchone()[0]

    def await_answers(self, owner, count):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(sqlite3.Error):
                if self.answers(owner) >= count:
                    return
            time.sleep(0.02)
        raise AssertionError(f"{owner} has not answered {count} times")

    def test_a_busy_owner_stops_when_it_is_told_to_and_pays_no_more(self):
        consortium = Consortium(self.folder, rows=1000, rounds=1000, rule="algorithm2",
                                epsilon=1000, budget=1000)
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        self.addCleanup(lambda: [each.kill() for each in (learner, *owners.values())])
        for told in (signal.SIGTERM, signal.SIGINT):
            self.await_answers("bank-a", self.paid("bank-a") + 20)
            began = time.monotonic()
            owners["bank-a"].send_signal(told)
            self.assertEqual(owners["bank-a"].wait(60), 4, consortium.log("bank-a"))
            self.assertLess(time.monotonic() - began, 10, "two seconds on a machine of its own")
            self.assertLess(self.paid("bank-a"), 1000, "it has not answered to the end")
            owners["bank-a"] = consortium.owner("bank-a", port)  # Nothing is lost.
        self.all_end_well(consortium, learner, owners)
        must("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter, *[
            word for owner in OWNERS
            for word in ("--ledger", f"{owner}={owner}/state/ledger.db")], cwd=self.folder)

    def paid(self, owner):
        with contextlib.suppress(sqlite3.Error):
            return self.answers(owner)
        return 0

    def test_they_outlive_the_readers_of_their_logs_and_their_terminal(self):
        consortium = Consortium(self.folder, rounds=3)
        learner = subprocess.Popen(
            [BINARY, "--quiet", "--json", "learner", "run", consortium.charter, "--identity",
             "central-bank", "--listen", "127.0.0.1:0", "--out", "job", "--wait", "60"],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        port = None
        while port is None:
            port = re.search(r"listening on port (\d+)", learner.stderr.readline())
        learner.stderr.close()  # From now on every line it logs has no reader.
        learner.send_signal(signal.SIGHUP)
        owners = {}
        for owner in OWNERS:
            reading, writing = os.pipe()
            os.close(reading)
            owners[owner] = subprocess.Popen(
                [BINARY, "owner", "run", f"{owner}/policy.toml", consortium.charter, "--dial",
                 f"127.0.0.1:{port[1]}", "--wait", "60"], cwd=self.folder, stderr=writing,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            os.close(writing)
        self.all_end_well(consortium, learner, owners)


if __name__ == "__main__":
    main()
