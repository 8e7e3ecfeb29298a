"""Files of 0.1 open in this version; files of a later one are refused by name. tests/golden/version-0.1 was written by the
program of 16 November 2026 (commit 58cb340a) in a job of three owners, and is never made again; ledgers of all formats are
tested beside their code."""

import json
import shutil
import subprocess
import time

from parley import BINARY, SOURCE, InFolder, main

STORED = SOURCE / "tests/golden/version-0.1"
CHARTER = "de7b147a29de12ebd18693845d6168d478735fb26c70e7dee2302149a080b362"


class Stored(InFolder):
    def setUp(self):
        super().setUp()
        shutil.copytree(STORED, self.folder, dirs_exist_ok=True)

    def change(self, name, old, new):
        file = self.folder / name
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1))

    def refused(self, expect, words, *command):
        said = self.parley(*command, expect=expect)
        for each in words:
            self.assertIn(each, said.stdout + said.stderr)

    def test_a_charter_is_valid_and_has_its_name(self):
        self.assertEqual(self.parley("charter", "hash", "job.charter.toml").stdout.strip(), CHARTER)
        self.assertIn("valid, complete", self.parley("charter", "check", "job.charter.toml").stdout)

    def test_what_is_no_key_any_more_is_refused_with_what_to_do(self):
        self.change("job.charter.toml", "[privacy]", '[privacy]\nclip = "gradient"')
        self.refused(2, ["clip is no longer a key", "Remove the line."], "charter", "check", "job.charter.toml")

    def test_a_policy_is_read(self):
        said = self.parley("owner", "check", "bank-a.policy.toml", expect=3).stdout  # Its papers are not here.
        self.assertIn("Policy of bank-a", said)
        self.assertIn("charters of banks.example: answered from loans, each up to epsilon 4, without asking anyone", said)

    def test_a_model_is_recomputed_from_its_transcript(self):
        done = self.json("verify", "model.json", "transcript.pb.zst", "job.charter.toml", expect=5)
        self.assertTrue(done["recomputed"], done)
        # Its card does not list yet what this version says that a card does not cover.
        self.assertTrue(all("privacy_card.not_covered" in each["what"] for each in done["findings"]), done["findings"])

    def test_a_journal_gives_the_model_again(self):
        for command in (["certs", "init", "banks.example", "--out", "ca"],
                        ["join", "ca/banks.example.join", "--name", "central-bank", "--role", "learner", "--out", "papers"],
                        ["certs", "sign", "papers/central-bank.csr", "--authority", "ca"]):
            self.parley(*command)
        (self.folder / "job").mkdir()
        shutil.copy(self.folder / "journal.pb", self.folder / "job")
        with subprocess.Popen([BINARY, "--quiet", "learner", "run", "job.charter.toml", "--identity", "papers", "--listen",
                               "127.0.0.1:0", "--out", "job"], cwd=self.folder, stdout=subprocess.DEVNULL) as learner:
            limit = time.monotonic() + 120
            while not (self.folder / "job/model.json").exists() and time.monotonic() < limit:
                time.sleep(0.05)
            learner.terminate()  # It would wait to tell the owners.
        before, now = (json.loads((self.folder / name).read_text())["model"] for name in ("model.json", "job/model.json"))
        self.assertEqual(before["theta"], now["theta"])

    def test_a_newer_charter_and_policy_are_refused_by_name(self):
        self.change("job.charter.toml", "version    = 1", "version    = 2")
        self.refused(2, ["version must be at most 1, found 2", "This is format 1: version = 1."], "charter", "check",
                     "job.charter.toml")
        self.change("bank-a.policy.toml", "[owner]", '[owner]\nlater = "than this"')
        self.refused(2, ["unknown key later"], "owner", "check", "bank-a.policy.toml")

    def test_a_newer_journal_and_transcript_are_refused_by_their_version(self):
        bytes_ = bytearray((self.folder / "journal.pb").read_bytes())
        self.assertEqual(bytes_[8:10], b"\x08\x01", "the head begins with the version")
        bytes_[9] = 3
        newer = self.folder / "newer"
        newer.write_bytes(bytes_)
        subprocess.run(["zstd", "-q", "newer", "-o", "newer.zst"], cwd=self.folder, check=True)
        self.refused(5, ["is of version 3; this program knows versions up to 2", "Use the version of Parley that wrote it"],
                     "verify", "model.json", "newer.zst", "job.charter.toml")

    def test_a_newer_model_and_request_to_join_are_refused_by_their_format(self):
        self.change("model.json", "parley.model/1", "parley.model/2")
        self.refused(2, ["parley.model/1"], "predict", "model.json", "rows.csv")
        self.change("banks.example.join", "parley.join/1", "parley.join/2")
        self.refused(2, ['must be "parley.join/1"'], "join", "banks.example.join", "--name", "bank-d", "--out", "bank-d")


if __name__ == "__main__":
    main()
