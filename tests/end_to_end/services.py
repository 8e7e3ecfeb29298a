"""Daemons under a service manager: what they tell it, what they do when it asks them to read files
again, what they say when somebody asks how they are, and the units that run them."""

import contextlib
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from consortium import OWNERS, Consortium
from parley import SOURCE, InFolder, main

UNITS = SOURCE / "packaging" / "systemd"


class Services(InFolder):
    def until(self, what, message):
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            if found := what():
                return found
            time.sleep(0.02)
        raise AssertionError(message() if callable(message) else message)

    @contextlib.contextmanager
    def manager(self):
        """A service manager's socket, and what comes to it."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
            ear.bind(str(self.folder / "notify"))
            ear.settimeout(60)
            yield ear, {"NOTIFY_SOCKET": str(self.folder / "notify"), "WATCHDOG_USEC": "800000"}

    def daemon(self, consortium, owner="bank-a", env=None):
        process = consortium.start(owner, "--quiet", "owner", "run", f"{owner}/policy.toml", env=env)
        self.addCleanup(process.kill)
        return process

    def ask(self, *arguments):
        return self.json(*arguments)

    def test_the_manager_hears_when_a_daemon_is_ready_alive_and_stopping(self):
        consortium = Consortium(self.folder)
        with self.manager() as (ear, env):
            daemon = self.daemon(consortium, env=env)
            self.assertEqual(ear.recv(100), b"READY=1")
            for _ in range(3):
                self.assertEqual(ear.recv(100), b"WATCHDOG=1")
            daemon.send_signal(signal.SIGSTOP)  # It hangs: the manager hears nothing and acts.
            ear.settimeout(3)
            with self.assertRaises(TimeoutError):
                while True:
                    ear.recv(100)
            daemon.send_signal(signal.SIGCONT)
            ear.settimeout(60)
            self.assertEqual(ear.recv(100), b"WATCHDOG=1")
            daemon.terminate()
            self.until(lambda: ear.recv(100) == b"STOPPING=1", "it does not say that it stops")
            self.assertEqual(daemon.wait(60), 0, consortium.log("bank-a"))

    def test_a_learner_is_ready_when_it_listens_and_says_who_attends(self):
        consortium = Consortium(self.folder)
        with self.manager() as (ear, env):
            learner = consortium.start("learner", "--quiet", "learner", "run", consortium.charter,
                                       "--identity", "central-bank", "--listen", "127.0.0.1:0",
                                       "--out", "job", env=env)
            self.addCleanup(learner.kill)
            port = consortium.port_of("learner", learner)
            self.assertEqual(ear.recv(100), b"READY=1")
            self.assertEqual(ear.recv(100), b"WATCHDOG=1")
            owner = consortium.owner("bank-a", port)
            self.addCleanup(owner.kill)
            status = self.until(
                lambda: (said := self.ask("learner", "status", "job"))["attending"] and said,
                lambda: consortium.log("learner"))
            self.assertEqual(status["format"], "parley.learner.status/1")
            self.assertEqual((status["pid"], status["owners"], status["attending"],
                              status["round"], status["rounds"]),
                             (learner.pid, list(OWNERS), ["bank-a"], 0, 3))
            self.assertEqual([(each["name"], each["attends"], each["lost"])
                              for each in status["parties"]],
                             [("bank-a", True, 0), ("bank-b", False, 0), ("bank-c", False, 0)])
            text = self.parley("learner", "status", "job").stdout
            self.assertIn("round 0 of 3", text)
            self.assertIn("  bank-a attends\n  bank-b is away\n", text)
            learner.terminate()
            self.until(lambda: ear.recv(100) == b"STOPPING=1", "it does not say that it stops")
        self.assertEqual(learner.wait(60), 4)
        gone = self.parley("learner", "status", "job", expect=4)
        self.assertIn("no daemon answers there", gone.stderr)

    def test_sighup_reads_the_policy_again_for_jobs_that_begin_then(self):
        consortium = Consortium(self.folder)
        policy = self.folder / "bank-a" / "policy.toml"
        good = policy.read_text() + '[network]\ndial = "127.0.0.1:1"\n'  # Nobody listens there.
        policy.write_text(good.replace("epsilon_max = 4", "epsilon_max = 0.001"))
        charters = self.folder / "bank-a" / "charters"
        charters.mkdir()
        shutil.copytree(self.folder / "data", charters / "data")
        shutil.copy(consortium.charter, charters)
        daemon = self.daemon(consortium)

        def state(wanted):
            self.until(lambda: (self.folder / "bank-a" / "state" / "status.sock").exists(),
                       lambda: consortium.log("bank-a"))
            self.until(lambda: [each["state"] for each in
                                self.ask("owner", "status", policy)["charters"]] == [wanted],
                       lambda: f"not {wanted}: {consortium.log('bank-a')}")
        state("ended early")
        text = self.parley("owner", "status", policy).stdout
        self.assertIn("bank-a: running since ", text)
        self.assertIn(": ended early: ", text)
        policy.write_text("this is no policy")
        daemon.send_signal(signal.SIGHUP)
        self.until(lambda: "the policy is not taken, the one in use stays" in consortium.log("bank-a"),
                   lambda: consortium.log("bank-a"))
        policy.write_text(good.replace('state = "state"', 'state = "elsewhere"'))
        daemon.send_signal(signal.SIGHUP)
        self.until(lambda: "Restart the daemon for that" in consortium.log("bank-a"),
                   lambda: consortium.log("bank-a"))
        policy.write_text(good)
        daemon.send_signal(signal.SIGHUP)
        state("running")
        self.assertIsNone(daemon.poll())
        # A no is heeded by the policy under which the job runs.
        self.parley("owner", "withdraw", policy, charters / consortium.charter.name)
        self.assertIn("withdrawn by", consortium.log("bank-a"))
        daemon.terminate()
        self.assertEqual(daemon.wait(60), 0, "or its unit counts as failed")

    def test_a_daemon_that_starts_again_dials_no_learner_that_is_done(self):
        consortium = Consortium(self.folder)
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text() + f'[network]\ndial = "127.0.0.1:{port}"\n')
        charters = self.folder / "bank-a" / "charters"
        charters.mkdir()
        shutil.copytree(self.folder / "data", charters / "data")
        shutil.copy(consortium.charter, charters)
        daemon = self.daemon(consortium)
        for owner in OWNERS[1:]:
            self.addCleanup(consortium.owner(owner, port).kill)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))

        def is_finished():
            return [each["state"] for each in self.ask_or_none().get("charters", [])] == ["finished"]
        self.until(is_finished, lambda: consortium.log("bank-a"))
        daemon.terminate()
        daemon.wait(60)
        before = len(consortium.log("bank-a"))
        self.daemon(consortium)
        self.until(is_finished, lambda: consortium.log("bank-a"))
        self.assertNotIn("dialling", consortium.log("bank-a")[before:])
        # Whoever names the charter has it dialled, for a learner that has lost everything.
        (self.folder / "job").rename(self.folder / "job-before")
        before = len(consortium.log("learner"))
        again, port = consortium.learner()
        self.addCleanup(again.kill)
        named = consortium.owner("bank-b", port)
        self.addCleanup(named.kill)
        self.until(lambda: "bank-b attends" in consortium.log("learner")[before:],
                   lambda: consortium.log("learner"))

    def test_an_owner_waits_while_another_job_is_at_the_learners_address(self):
        consortium = Consortium(self.folder)
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        consortium.charter = self.folder / "second.charter.toml"
        consortium.write_charter(replace=[("rounds = 3", "rounds = 4")])
        early = consortium.owner("bank-a", port)  # For the second job, and the first is there.
        self.addCleanup(early.kill)
        self.until(lambda: "waiting for 127.0.0.1" in consortium.log("bank-a"), lambda: consortium.log("bank-a"))
        self.assertIn("arrived in a job of charter", consortium.log("bank-a"))
        self.assertIsNone(early.poll(), consortium.log("bank-a"))
        learner.terminate()
        learner.wait(60)
        learner, _ = consortium.learner(port=port, out="second")
        self.addCleanup(learner.kill)
        for owner in OWNERS[1:]:
            self.addCleanup(consortium.owner(owner, port).kill)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        self.assertEqual(early.wait(60), 0, consortium.log("bank-a"))

    def test_the_status_is_for_the_daemons_user_and_of_public_facts(self):
        consortium = Consortium(self.folder)
        daemon = self.daemon(consortium)
        file = self.folder / "bank-a" / "state" / "status.sock"
        self.until(file.exists, lambda: consortium.log("bank-a"))
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        status = self.ask("owner", "status", "bank-a/policy.toml")
        self.assertEqual(set(status), {"format", "version", "pid", "since", "owner",
                                       "revocation_list", "dial", "charters", "parley", "datasets"})
        self.assertEqual((status["pid"], status["owner"]), (daemon.pid, "bank-a"))
        daemon.kill()
        daemon.wait(60)
        self.assertTrue(file.exists(), "a process that was killed leaves its socket")
        self.parley("owner", "status", "bank-a/policy.toml", expect=4)
        daemon = self.daemon(consortium)
        self.until(lambda: self.ask_or_none()["pid"] == daemon.pid, lambda: consortium.log("bank-a"))

    def ask_or_none(self):
        with contextlib.suppress(AssertionError):
            return self.ask("owner", "status", "bank-a/policy.toml")
        return {"pid": None}


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
class Units(InFolder):
    def analyze(self, *arguments):
        return subprocess.run(["systemd-analyze", *map(str, arguments)], text=True, check=False,
                              capture_output=True, timeout=60)

    def test_units_are_in_order_and_leave_little_to_an_attacker(self):
        for unit in ("parley-owner@.service", "parley-learner@.service"):
            text = (UNITS / unit).read_text()
            # Where the program is not installed, `verify` would say that and nothing else.
            here = self.folder / unit.replace("@", "@x")
            here.write_text(text.replace("/usr/bin/parley", "/bin/true"))
            done = self.analyze("verify", "--man=no", here)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), unit)
            judged = self.analyze("security", "--offline=true", UNITS / unit)
            level = re.search(r"Overall exposure level for .*: ([0-9.]+)", judged.stdout)
            self.assertLessEqual(float(level[1]), 2.0, judged.stdout)

    def test_the_commands_in_units_exist(self):
        for unit in UNITS.glob("*.service"):
            line = re.search(r"ExecStart=/usr/bin/parley (.*)", unit.read_text())[1]
            group = re.search(r"(owner|learner) run", line)[0].split()
            told = self.parley(*group, "--help").stdout
            for option in re.findall(r" (--[a-z]+)", line):
                self.assertTrue(option in told or option == "--quiet", f"{unit.name}: {option}")


if __name__ == "__main__":
    main()
