"""Daemons obey those who may tell them something, and nobody else: SIGTERM and SIGINT end them at once,
a closed terminal or a reader of the log that goes away does not. What comes later than it should is
picked up without a restart, and one command starts a job or goes on with it."""

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

from consortium import OWNERS, Consortium, must
from parley import BINARY, EXAMPLE, InFolder, main


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

    def answers_paid(self, owner):
        """Of them those of rounds."""
        with contextlib.closing(sqlite3.connect(
                f"file:{self.folder}/{owner}/state/ledger.db?mode=ro", uri=True)) as ledger:
            return ledger.execute("SELECT count(*) FROM charge WHERE kind = 'answer'").fetchone()[0]

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
            before = self.paid("bank-a")
            self.assertEqual(owners["bank-a"].wait(60), 4, consortium.log("bank-a"))
            self.assertLess(time.monotonic() - began, 10, "two seconds on a machine of its own")
            self.assertLessEqual(self.paid("bank-a"), before + 1, "but for one that was under way")
            self.assertLess(self.paid("bank-a"), 1000, "it has not answered to the end")
            owners["bank-a"] = consortium.owner("bank-a", port)  # Nothing is lost.
        self.all_end_well(consortium, learner, owners)
        must("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter, *[
            word for owner in OWNERS
            for word in ("--ledger", f"{owner}={owner}/state/ledger.db")], cwd=self.folder)

    def test_an_owner_that_holds_an_answer_back_stops_when_it_is_told_to(self):
        consortium = Consortium(self.folder, rounds=2)
        policy = self.folder / "bank-a" / "policy.toml"
        said = policy.read_text()
        policy.write_text(said + "[limits]\nanswer_ms = 30000\n")
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        self.addCleanup(lambda: [(each.kill(), each.wait()) for each in (learner, *owners.values())])
        self.await_answers("bank-a", 2)  # The budget is a row, too.
        self.assertEqual(self.answers_paid("bank-a"), 1)
        owners["bank-a"].terminate()
        self.assertEqual(owners["bank-a"].wait(15), 4, "half of what it would hold the answer back")
        self.assertEqual(self.answers_paid("bank-a"), 1)
        policy.write_text(said)
        owners["bank-a"] = consortium.owner("bank-a", port)
        self.all_end_well(consortium, learner, owners)
        self.assertEqual(self.answers_paid("bank-a"), 2, "the first was paid once")

    def test_a_person_says_no_to_a_running_daemon_and_it_pays_no_more(self):
        consortium = Consortium(self.folder, rows=1000, rounds=1000, rule="algorithm2",
                                epsilon=1000, budget=1000)
        policy, running = self.folder / "bank-a" / "policy.toml", []
        self.addCleanup(lambda: [each.kill() for each in running])

        def start():
            learner, port = consortium.learner()
            owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
            running[:] = [learner, *owners.values()]
            return learner, owners

        learner, owners = start()
        self.await_answers("bank-a", 20)
        self.parley("owner", "withdraw", policy, consortium.charter, "--reason", "we moved")
        before = self.paid("bank-a")
        self.assertLess(before, 1000, "it has not answered to the end")
        self.assertEqual(owners["bank-a"].wait(60), 3, consortium.log("bank-a"))
        self.assertEqual(self.paid("bank-a"), before, "nothing was paid after the no")
        self.assertEqual(learner.wait(60), 3, consortium.log("learner"))
        for owner in OWNERS[1:]:
            self.assertEqual(owners[owner].wait(60), 3, consortium.log(owner))
        self.assertIn("we moved", consortium.log("bank-a"))
        self.assertEqual(list((self.folder / "bank-a" / "charters").iterdir()), [])
        self.parley("owner", "approve", policy, consortium.charter, "--reason", "we moved back")
        self.all_end_well(consortium, *start())
        must("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter, "--ledger",
             "bank-a=bank-a/state/ledger.db", cwd=self.folder)

    def test_a_no_to_a_charter_that_the_daemon_does_not_have_waits_for_it(self):
        consortium = Consortium(self.folder)
        charter, folder = consortium.charter, self.folder / "bank-a"
        daemon = consortium.start("bank-a", "--quiet", "owner", "run", folder / "policy.toml")
        self.await_line(consortium, "bank-a", "watching")
        says_no = consortium.start("person", "owner", "refuse", folder / "policy.toml", charter,
                                   "--reason", "never")
        self.addCleanup(lambda: [(each.kill(), each.wait()) for each in (daemon, says_no)])
        while not list((folder / "charters").glob("*.refused")):
            self.assertIsNone(says_no.poll(), consortium.log("person"))
            time.sleep(0.02)
        self.assertIn("never", self.parley("owner", "check", folder / "policy.toml", charter,
                                           expect=3).stdout)
        (folder / "charters" / "job.charter.toml").write_text(charter.read_text())
        self.await_line(consortium, "bank-a", "this charter was refused by")
        self.assertEqual(says_no.wait(60), 0, consortium.log("person"))
        self.assertEqual(list((folder / "charters").glob("*.refused")), [], "it is in the ledger")

    def await_line(self, consortium, name, words):
        until = time.monotonic() + 60
        while words not in consortium.log(name) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertIn(words, consortium.log(name))

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

    # An owner's daemon that watches its folder.

    def watch(self, consortium, owner, port, wait=60):
        (self.folder / owner / "charters").mkdir(exist_ok=True)
        data = self.folder / owner / "charters" / "data"
        if not data.exists():
            data.symlink_to(self.folder / "data")  # where the charter's pilot lies
        process = consortium.start(owner, "owner", "run", f"{owner}/policy.toml", "--dial",
                                   f"127.0.0.1:{port}", "--wait", wait)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def await_log(self, consortium, name, words):
        until = time.monotonic() + 60
        while words not in consortium.log(name):
            self.assertLess(time.monotonic(), until, f"{words!r} not in {consortium.log(name)}")
            time.sleep(0.02)

    @staticmethod
    def free_port():
        with socket.create_server(("127.0.0.1", 0)) as server:
            return server.getsockname()[1]

    def test_a_daemon_picks_up_what_comes_late(self):
        consortium = Consortium(self.folder, rounds=1)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text().replace("person = false", "person = true"))
        missing = self.folder / "bank-c" / "members.pem"  # where it is sought unless the policy says
        text = (missing.parent / "policy.toml").read_text()
        (missing.parent / "policy.toml").write_text(text.replace('members = "../ca/members.pem"', ""))
        port = self.free_port()
        charter = consortium.charter.read_text()
        daemons = {owner: self.watch(consortium, owner, port, wait=1) for owner in OWNERS}
        for owner in OWNERS:  # Half of it first, as a slow copy would leave it.
            file = self.folder / owner / "charters" / "job.charter.toml"
            file.write_text(charter[:len(charter) // 2])
            self.await_log(consortium, owner, "job.charter.toml")
            file.write_text(charter)
        self.await_log(consortium, "bank-a", "waits for a person")
        self.await_log(consortium, "bank-b", "Ask `parley doctor`")  # The learner is not there.
        self.await_log(consortium, "bank-c", "Ask the consortium's authority for its members.pem")
        shutil.copy(self.folder / "ca" / "members.pem", missing)
        self.parley("owner", "approve", policy, consortium.charter)
        learner, _ = consortium.learner("run", port)
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for owner, daemon in daemons.items():
            self.await_log(consortium, owner, "finished, model")
            daemon.terminate()
            self.assertEqual(daemon.wait(30), 0, consortium.log(owner))

    # One command.

    def test_a_torn_head_and_a_taken_port_do_not_block_the_next_run(self):
        consortium = Consortium(self.folder, rounds=1)
        journal = self.folder / "job" / "journal.pb"
        journal.parent.mkdir()
        for torn in (b"", b"\x40\0\0", b"\x40\0\0\0\0\0\0\0\x08\x01\x12", bytes(16)):
            journal.write_bytes(torn)
            with socket.create_server(("127.0.0.1", 0)) as taken:
                self.parley("learner", "run", consortium.charter, "--identity", "central-bank",
                            "--listen", f"127.0.0.1:{taken.getsockname()[1]}", "--out", "job",
                            expect=1)
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        self.all_end_well(consortium, learner, owners)
        again, _ = consortium.learner("run", 0, 1)  # Told again what came out, if anyone asks.
        again.terminate()
        self.assertEqual(again.wait(60), 0, consortium.log("learner"))

    def test_a_file_that_is_no_journal_and_a_journal_of_another_charter_are_left_alone(self):
        consortium = Consortium(self.folder, rounds=1)
        journal = self.folder / "job" / "journal.pb"
        journal.parent.mkdir()
        run = ("learner", "run", consortium.charter, "--identity", "central-bank", "--listen",
               "127.0.0.1:0", "--out", "job")
        for content in (b"my diary\n", b"\xff" * 20_000):
            journal.write_bytes(content)
            self.assertIn("is no journal", self.parley(*run, expect=5).stderr)
            self.assertEqual(journal.read_bytes(), content)
        journal.unlink()
        learner, _ = consortium.learner()
        learner.kill()
        learner.wait()
        consortium.write_charter(replace=[("rounds = 1", "rounds = 2")])
        self.assertIn("is the journal of charter", self.parley(*run, expect=5).stderr)

    # Memory, and what a kill leaves.

    def test_without_memory_it_says_so_and_exits_with_1(self):
        limit = 300 << 20
        command = [BINARY, "simulate", EXAMPLE, "--standin", "lending", "--held-out", "0", "--set",
                   "owner.0.rows=3000000", "--out", "run"]
        done = subprocess.run(
            command, cwd=self.folder, text=True, capture_output=True, timeout=250, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if "Sanitizer" in done.stderr:
            self.skipTest("a sanitizer needs more address space than that")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("out of memory", done.stderr)

    def test_files_that_a_killed_process_was_writing_are_removed(self):
        consortium = Consortium(self.folder, rounds=1)
        gone = subprocess.Popen(["true"])
        gone.wait()
        (self.folder / "job").mkdir()
        (self.folder / "central-bank" / "receipts").mkdir()
        left = [self.folder / "job" / f"model.json.tmp{gone.pid}",
                self.folder / "central-bank" / "receipts" / f"bank-a.receipt.pb.tmp{gone.pid}",
                self.folder / "bank-a" / "state" / f"x.tmp{gone.pid}"]
        kept = [self.folder / "job" / f"model.json.tmp{os.getpid()}", self.folder / "job" / "a.tmp",
                self.folder / "job" / "notes.tmp12x"]
        for file in (*left, *kept):
            file.write_text("half")
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        self.all_end_well(consortium, learner, owners)
        self.assertEqual([file for file in left if file.exists()], [])
        self.assertEqual([file for file in kept if not file.exists()], [])


if __name__ == "__main__":
    main()
