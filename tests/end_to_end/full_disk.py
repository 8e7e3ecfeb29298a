"""Disks that are full: of a learner, in the middle of a job and at its end, and of an owner's daemon. Nothing is lost, what is
said tells what to do, and the job goes on once there is room."""

import shutil
import subprocess
import time

from consortium import OWNERS, Consortium
from parley import BINARY, InFolder, main


def free(folder):
    return shutil.disk_usage(folder).free


class FullDisk(InFolder):
    def learner(self, consortium, blocks):
        """A learner that can write no file beyond so many blocks of 512 bytes, as on a full disk."""
        small = self.folder / "small"
        small.write_text(f'#!/bin/sh\nulimit -f {blocks}\nexec {BINARY} "$@"\n')
        small.chmod(0o755)
        process = consortium.start("learner", "--quiet", "learner", "run", consortium.charter, "--identity", "central-bank",
                                   "--listen", "127.0.0.1:0", "--out", "job", binary=small)
        self.addCleanup(process.kill)
        return process, consortium.port_of("learner", process)

    def answers(self, consortium):
        """By owner, what its ledger has paid for, in order."""
        return [[(row["round"], row["answer_sha256"]) for row in
                 self.json("ledger", "show", consortium.folder / owner / "state" / "ledger.db")["rows"]
                 if row["kind"] == "answer"] for owner in OWNERS]

    def check_learner(self, rounds, file):
        consortium = Consortium(self.folder, rounds=rounds)
        learner, port = self.learner(consortium, 6)
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        for owner in owners:
            self.addCleanup(owner.kill)
        self.assertEqual(learner.wait(60), 1, consortium.log("learner"))
        said = consortium.log("learner")
        self.assertIn(f"job/{file}: ", said)
        self.assertIn("File too large", said)
        self.assertIn("Make room on the disk", said)
        self.assertEqual([owner.poll() for owner in owners], [None] * 3, "they wait for it to come back")
        paid = self.answers(consortium)
        learner, _ = consortium.learner("resume", port)
        self.addCleanup(learner.kill)
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        self.assertEqual([owner.wait(60) for owner in owners], [0] * 3)
        for before, after in zip(paid, self.answers(consortium), strict=True):
            self.assertEqual(after[:len(before)], before)
            self.assertEqual([number for number, _ in after], list(range(1, rounds + 1)), "nothing was paid twice")
        self.parley("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter)
        self.assertEqual([f.name for f in (self.folder / "job").iterdir() if ".tmp" in f.name], [])

    def test_a_learners_disk_is_full_in_the_middle_of_a_job(self):
        self.check_learner(4, "journal.pb")

    def test_a_learners_disk_is_full_at_the_end_of_a_job(self):
        self.check_learner(1, "model.json")

    def test_an_owners_daemon_goes_on_by_itself_when_there_is_room(self):
        consortium = Consortium(self.folder)
        state = self.folder / "bank-a" / "state"
        state.mkdir(exist_ok=True)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", state], check=False, capture_output=True)
        if made.returncode != 0:
            self.skipTest("a small disk needs the right to mount one")
        self.addCleanup(subprocess.run, ["umount", "--lazy", state], check=True)
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text() + f'[network]\ndial = "127.0.0.1:{port}"\n')
        daemon = consortium.start("bank-a", "--quiet", "owner", "run", policy)
        self.addCleanup(daemon.kill)
        self.until(lambda: "watching" in consortium.log("bank-a"), consortium)
        ballast = state / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            while free(state):
                file.write(bytes(min(free(state), 1 << 20)))
        charters = self.folder / "bank-a" / "charters"
        charters.mkdir()
        shutil.copytree(self.folder / "data", charters / "data")
        shutil.copy(consortium.charter, charters)
        for owner in OWNERS[1:]:
            self.addCleanup(consortium.owner(owner, port).kill)
        self.until(lambda: "Make room on the disk" in consortium.log("bank-a"), consortium)
        said = self.json("owner", "status", policy)["charters"][0]
        self.assertEqual(said["state"], "ended early")
        self.assertIn("full", said["reason"])
        attempts = consortium.log("bank-a").count("ready, dialling")
        time.sleep(2)
        self.assertEqual(consortium.log("bank-a").count("ready, dialling"), attempts, "it does not try in vain")
        ballast.unlink()
        self.assertEqual(learner.wait(60), 0, consortium.log("learner") + consortium.log("bank-a"))
        self.until(lambda: "finished, model" in consortium.log("bank-a"), consortium)
        self.json("ledger", "verify", state / "ledger.db")
        daemon.terminate()
        self.assertEqual(daemon.wait(60), 0, consortium.log("bank-a"))

    def until(self, what, consortium):
        limit = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), limit, consortium.log("bank-a"))
            time.sleep(0.05)


if __name__ == "__main__":
    main()
