"""What an auditor and an owner's administrator can find out: parley verify, parley owner check."""

import json
import pathlib
import re
import shlex
import shutil
import socket
import struct
import subprocess
import tempfile
import unittest

from consortium import OWNERS, Consortium
from parley import BINARY, SOURCE, InFolder, main, run


class Trained(unittest.TestCase):
    """One job for all tests; each works on copies."""

    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        cls.consortium = Consortium(cls.folder)
        learner, port = cls.consortium.learner()
        owners = [cls.consortium.owner(owner, port) for owner in OWNERS]
        for name, process in zip(("learner", *OWNERS), (learner, *owners)):
            if process.wait(60) != 0:
                raise AssertionError(cls.consortium.log(name))
        cls.model = cls.folder / "job" / "model.json"
        cls.transcript = cls.folder / "job" / "transcript.pb.zst"
        cls.plain = (cls.folder / "job" / "journal.pb").read_bytes()

    def parley(self, *arguments, expect):
        done = run(*arguments, cwd=self.folder)
        self.assertEqual(done.returncode, expect, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def json(self, *arguments, expect=0):
        return json.loads(self.parley("--json", "--quiet", *arguments, expect=expect).stdout)


class Verify(Trained):
    def verify(self, *more, model=None, transcript=None, charter=None, expect=0):
        return self.parley("verify", model or self.model, transcript or self.transcript,
                           charter or self.consortium.charter, *more, expect=expect)

    def file(self, content):
        file = self.folder / "changed"
        file.write_bytes(content)
        return file

    def found_in_transcript(self, content):
        """What is printed about a transcript with this content."""
        done = self.verify(transcript=self.file(content), expect=5)
        return done.stdout + done.stderr

    def pieces(self):
        """Head and entries of the transcript, each with its length."""
        at, pieces = 0, []
        while at < len(self.plain):
            size = 8 + struct.unpack("<Q", self.plain[at:at + 8])[0]
            pieces.append(self.plain[at:at + size])
            at += size
        return pieces

    def test_an_honest_job_is_verified(self):
        done = self.verify()
        self.assertIn("Model recomputed from 9 signed answers: identical.", done.stdout)
        self.assertIn("bank-a 1 of 1, bank-b 1 of 1, bank-c 1 of 1", done.stdout)
        report = self.json("verify", self.model, self.transcript, self.consortium.charter)
        self.assertTrue(report["verified"] and report["transcript_sha256_compared"])
        self.assertEqual(report["parley"]["command"][3:5], ["verify", str(self.model)])
        spent = {o["name"]: o["epsilon"] for o in
                 json.loads(self.model.read_text())["privacy_card"]["owners"]}
        for owner in report["owners"]:
            self.assertAlmostEqual(owner["epsilon"], spent[owner["name"]], delta=1e-9)

    def test_an_unpacked_transcript_serves_too(self):
        done = self.verify(transcript=self.file(self.plain))
        self.assertIn("identical", done.stdout)
        self.assertIn("its hash was not compared", done.stdout)

    def test_owners_compare_their_ledgers(self):
        ledgers = [word for owner in OWNERS
                   for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]
        done = self.verify(*ledgers)
        self.assertIn("Receipts match the ledgers given: bank-a (head ", done.stdout)
        wrong = self.verify("--ledger", "bank-a=bank-b/state/ledger.db", expect=2)
        self.assertIn("is the ledger of bank-b", wrong.stderr)
        self.verify("--ledger", "bank-z=bank-b/state/ledger.db", expect=2)
        self.verify("--ledger", "bank-a", expect=2)

    def test_every_flipped_byte_of_the_transcript_is_found(self):
        for at in range(0, len(self.plain), 97):
            content = bytearray(self.plain)
            content[at] ^= 1
            self.found_in_transcript(bytes(content))

    def test_a_changed_number_names_owner_and_round(self):
        head, *entries = self.pieces()
        for number, entry in enumerate(entries):
            # Owner (field 1), then the answer (2) with round (1) and values (2), 80 bytes.
            at = entry.index(b"\x12\x50") + 2
            changed = entry[:at] + bytes([entry[at] ^ 1]) + entry[at + 1:]
            text = self.found_in_transcript(
                b"".join([head, *entries[:number], changed, *entries[number + 1:]]))
            owner = next(o for o in OWNERS if o.encode() in entry)
            self.assertIn(f"{owner}, round {number // 3 + 1}: has other numbers", text)

    def test_swapped_dropped_doubled_and_torn_answers_are_found(self):
        head, *entries = self.pieces()
        self.assertIn("in round 1", self.found_in_transcript(
            b"".join([head, *entries[3:6], *entries[:3], *entries[6:]])))
        text = self.found_in_transcript(b"".join([head, *entries[:-1]]))
        self.assertRegex(text, r"bank-[abc], round 3: is missing")
        self.assertIn("is there twice", self.found_in_transcript(self.plain + entries[0]))
        self.assertIn("cut off after 8 whole answers", self.found_in_transcript(self.plain[:-1]))
        self.assertIn("cut off after 9 whole answers", self.found_in_transcript(self.plain + b"\0"))
        self.assertRegex(self.found_in_transcript(b"".join([head])), "is missing, and 2 more")
        self.found_in_transcript(b"")

    def test_a_damaged_packed_transcript_is_found(self):
        packed = self.transcript.read_bytes()
        self.found_in_transcript(packed[:-3])
        for at in range(4, len(packed), len(packed) // 40):
            content = bytearray(packed)
            content[at] ^= 1
            self.found_in_transcript(bytes(content))

    def test_another_charter_is_found(self):
        other = self.folder / "other.charter.toml"
        for old, new in (("step   = 1.0", "step   = 0.5"), ("epsilon  = 1 ", "epsilon  = 2 ")):
            self.consortium.write_charter(other, replace=[(old, new)])
            done = self.verify(charter=other, expect=5)
            self.assertIn("the transcript is of charter", done.stdout)

    def test_every_change_of_the_model_is_found(self):
        def changed(change):
            model = json.loads(self.model.read_text())
            change(model)
            done = self.verify(model=self.file(json.dumps(model).encode()), expect=5)
            return done.stdout

        def theta(model):
            model["model"]["theta"][4] *= 1 + 2**-52

        def epsilon(model):
            model["privacy_card"]["owners"][2]["epsilon"] = 0.5

        def charter(model):
            model["privacy_card"]["charter"] = "sha256:" + 64 * "0"

        def transcript(model):
            model["training"]["transcript_sha256"] = 64 * "0"

        self.assertIn("model.theta.4 is ", changed(theta))
        self.assertIn("privacy_card.owners.2.epsilon is 0.5, recomputed is", changed(epsilon))
        self.assertIn("privacy_card.charter is ", changed(charter))
        self.assertIn("training.transcript_sha256 is ", changed(transcript))

    def test_findings_are_for_programs_too(self):
        file = self.file(self.plain + self.pieces()[1])
        report = self.json("verify", self.model, file, self.consortium.charter, expect=5)
        self.assertFalse(report["verified"])
        self.assertEqual(report["findings"][0]["round"], 1)
        self.assertIn(report["findings"][0]["owner"], OWNERS)

    def test_a_pilot_that_was_changed_is_found(self):
        with tempfile.TemporaryDirectory() as copy:
            copy = pathlib.Path(copy)
            shutil.copy(self.consortium.charter, copy / "job.charter.toml")
            (copy / "data").mkdir()
            pilot = (self.folder / "data" / "pilot.csv").read_text().replace("1", "2", 1)
            (copy / "data" / "pilot.csv").write_text(pilot)
            done = self.verify(charter=copy / "job.charter.toml", expect=5)
            self.assertIn("is not the charter's pilot", done.stderr)


class OwnerCheck(Trained):
    def check(self, *more, expect=0, policy="bank-a/policy.toml"):
        return self.parley("owner", "check", policy, *more, expect=expect).stdout

    def test_a_policy_is_explained_with_what_is_left(self):
        text = self.check()
        self.assertIn("Policy of bank-a, known as such in banks.example.", text)
        self.assertIn("epsilon 1 of 4 spent, 3 left", text)
        self.assertIn("1. charters of banks.example: answered from loans, each up to epsilon 4, "
                      "without asking anyone.", text)
        self.assertIn("Credentials: in order, parley://banks.example/owner/bank-a.", text)

    def new_charter(self, **changes):
        """A charter that nobody has run."""
        file = self.folder / "new.charter.toml"
        replace = [('name       = "three-banks-rates"', 'name       = "again"\nrun = 2'),
                   ('name = "central-bank"', 'name = "central-bank"\naddress = "localhost:7443"')]
        self.consortium.write_charter(file, replace=replace + changes.get("replace", []))
        return file

    def test_a_new_charter_is_weighed_to_its_end(self):
        text = self.check(self.new_charter())
        self.assertIn("Charter again (", text)
        self.assertIn("would run.", text)
        self.assertIn("Rule 1 accepts it, without asking anyone.", text)
        self.assertIn("Data set loans has the 2,000 rows it names.", text)
        self.assertIn("To central-bank at localhost:7443 go 3 answers of 10 noisy numbers each.",
                      text)
        self.assertIn("Price: epsilon 1 in all; of data set loans 3 is left now, 2 afterwards.",
                      text)

    def test_a_charter_that_was_answered_costs_nothing_more(self):
        report = self.json("owner", "check", "bank-a/policy.toml", self.consortium.charter,
                           expect=3)  # It says nowhere where the learner is.
        charter = report["charters"][0]
        self.check(self.consortium.charter, "--dial", "localhost:7443")
        self.assertEqual((charter["answers"], charter["answered"]), (3, 3))
        self.assertEqual(charter["left"], charter["left_after"])
        self.assertEqual([o["code"] for o in charter["obstacles"]], ["invalid"])

    def test_everything_that_stands_in_the_way_is_said(self):
        few = self.new_charter(replace=[("rows     = 2000 ", "rows     = 1999 ")])
        self.assertIn("holds 2000 rows, the charter says 1999", self.check(few, expect=3))
        self.assertIn("Data set loans must have 1,999 rows.", self.check(few, "--no-data"))
        rich = self.new_charter(replace=[("epsilon  = 1 ", "epsilon  = 3.5 ")])
        text = self.check(rich, "--no-data", expect=3)
        self.assertIn("the budget of data set 'loans' does not allow it", text)
        greedy = self.new_charter(replace=[("epsilon  = 1 ", "epsilon  = 5 ")])
        self.assertIn("rule 1 allows epsilon 4, the charter asks 5",
                      self.check(greedy, expect=3))

    def test_a_person_is_asked_and_approves(self):
        policy = self.folder / "bank-b" / "careful.toml"
        text = (self.folder / "bank-b" / "policy.toml").read_text()
        policy.write_text(text.replace("person = false", "person = true"))
        charter = self.new_charter()
        waits = self.check(charter, policy=policy, expect=3)
        self.assertIn("it waits for a person", waits)
        self.parley("owner", "approve", policy, charter, expect=0)
        self.assertIn("Rule 1 accepts it, and a person has approved.",
                      self.check(charter, policy=policy))

    def test_papers_that_are_not_in_order_stop_everything(self):
        policy = self.folder / "bank-c" / "wrong.toml"
        text = (self.folder / "bank-c" / "policy.toml").read_text()
        policy.write_text(text.replace('"bank-c.crt"', '"../bank-b/bank-b.crt"'))
        self.assertIn("Credentials: NOT in order", self.check(policy=policy, expect=3))
        policy.write_text(text.replace('"bank-c.sign"', '"../bank-b/bank-b.sign"'))
        self.assertIn("names another key for bank-c's receipts",
                      self.check(self.new_charter(), policy=policy, expect=3))

    def test_a_changed_ledger_is_not_read(self):
        copy = self.folder / "copied"
        shutil.copytree(self.folder / "bank-a", copy)
        ledger = copy / "state" / "ledger.db"
        content = bytearray(ledger.read_bytes())
        at = content.index(b'{"laplace"')
        content[at + 2] ^= 1
        ledger.write_bytes(bytes(content))
        self.parley("owner", "check", copy / "policy.toml", expect=5)

    def test_nothing_is_written(self):
        state = self.folder / "bank-a" / "state"
        before = {file.name: file.read_bytes() for file in state.iterdir()}
        self.check(self.new_charter())
        self.assertEqual({file.name: file.read_bytes() for file in state.iterdir()}, before)


class HowTo(InFolder):
    def written(self, page):
        """The page's text, at a port that is free; its commands."""
        text = (SOURCE / "docs" / "how-to" / page).read_text()
        text = re.sub(r" \\\n +", " ", text.replace("localhost:7443", f"127.0.0.1:{self.port}"))
        return text, re.findall(r"^    ((?:parley|cp|mkdir|sed) .*)$", text, re.MULTILINE)

    def start(self, command):
        return subprocess.Popen([BINARY, "--quiet", *shlex.split(command)[1:]], cwd=self.folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def type(self, command, expect=0):
        done = subprocess.run(command.replace("parley", f"'{BINARY}'", 1)
                              if command.startswith("parley") else command, shell=True,
                              cwd=self.folder, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, expect, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def test_every_command_runs_as_it_stands(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        _, papers = self.written("consortium.md")
        keys = {}
        for command in papers[:next(i for i, c in enumerate(papers) if "doctor" in c)]:
            key = re.search(r'sign_key = "(ed25519:[^"]+)"', self.type(command))
            if key:
                keys[re.search(r"--name (\S+)", command)[1]] = key[1]
        text, commands = self.written("two-machines.md")
        charter, policy = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        for owner, key in keys.items():
            charter = charter.replace(f"KEY OF {owner}", key)
        (self.folder / "central-bank" / "two-banks.charter.toml").write_text(charter)
        (self.folder / "bank-a" / "policy.toml").write_text(policy)
        running, said = [], []
        for command in commands:
            if "learner run" in command or "owner run" in command:
                running.append(self.start(command))
                continue
            for process in running:
                self.assertEqual(process.wait(60), 0, process.stderr.read())
                process.stderr.close()
            running = []
            waits = "owner check" in command and not (self.folder / "bank-a" / "charters").exists()
            said.append(self.type(command, expect=3 if waits else 0))
        self.assertIn("it waits for a person", "".join(said))
        self.assertIn("from 6 signed answers: identical", "".join(said))
        self.assertIn("Receipts match the ledgers given: bank-a", "".join(said))


if __name__ == "__main__":
    main()
