"""Keys in a consortium that lasts: renewed under a running job without a lost round, revoked so that
their holder gets no further than the handshake, and an owner's signing key changed between jobs."""

import contextlib
import re
import shutil
import sqlite3
import time

from consortium import OWNERS, Consortium, must
from parley import InFolder, main


class Keys(InFolder):
    def running(self, **how):
        consortium = Consortium(self.folder, rows=1000, rule="algorithm2", epsilon=1000,
                                budget=4000, **how)
        learner, port = consortium.learner()
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        self.addCleanup(lambda: [each.kill() for each in (learner, *owners.values())])
        return consortium, learner, owners, port

    def answers(self, owner):
        with contextlib.closing(sqlite3.connect(
                f"file:{self.folder}/{owner}/state/ledger.db?mode=ro", uri=True)) as ledger:
            return ledger.execute("SELECT count(*) FROM charge WHERE kind = 'answer'").fetchone()[0]

    def until(self, what, message):
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            with contextlib.suppress(sqlite3.Error):
                if what():
                    return
            time.sleep(0.02)
        raise AssertionError(message)

    def renew(self, name, *more):
        must("renew", "--name", name, "--out", name, *more, cwd=self.folder)
        done = must("certs", "sign", f"{name}/{name}.next.csr", "--authority", "ca",
                    cwd=self.folder)
        self.assertIn("no phone call is needed", done.stdout)
        must("renew", "--name", name, "--out", name, "--install", cwd=self.folder)

    def verify(self, consortium, out="job"):
        must("verify", f"{out}/model.json", f"{out}/transcript.pb.zst", consortium.charter, *[
            word for owner in OWNERS
            for word in ("--ledger", f"{owner}={owner}/state/ledger.db")], cwd=self.folder)

    def test_certificates_are_replaced_under_a_running_job_without_a_lost_round(self):
        consortium, learner, owners, port = self.running(rounds=1000)
        self.until(lambda: self.answers("bank-a") >= 20, "no answers")
        before = (self.folder / "bank-a" / "bank-a.crt").read_text()
        for name in ("central-bank", "bank-a"):
            self.renew(name)
        # The ledger of the running owner can be copied meanwhile.
        copied = self.json("ledger", "backup", "bank-a/state/ledger.db", "--out", "copy.db")
        self.assertGreaterEqual(copied["rows"], 20)
        self.assertEqual(self.json("ledger", "verify", "copy.db")["head"], copied["head"])
        self.assertNotEqual((self.folder / "bank-a" / "bank-a.crt").read_text(), before)
        for log in ("learner", "bank-a"):
            self.until(lambda log=log: "our certificate was read again" in consortium.log(log),
                       consortium.log(log))
        self.assertLess(self.answers("bank-a"), 1000, "it was under the running job")
        owners["bank-b"].kill()  # Whoever comes now meets the learner's new certificate,
        owners["bank-a"].terminate()  # and shows its own.
        for owner in ("bank-b", "bank-a"):
            owners[owner].wait(60)
            owners[owner] = consortium.owner(owner, port)
        self.assertEqual(learner.wait(300), 0, consortium.log("learner"))
        for name, owner in owners.items():
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
            self.assertEqual(self.answers(name), 1000, "every round, once")
        self.assertNotIn("bank-c left", consortium.log("learner"), "nobody was cut off for it")
        self.verify(consortium)

    def test_a_revoked_owner_is_cut_off_and_gets_no_further_than_the_handshake(self):
        consortium, learner, owners, port = self.running(rounds=1000)
        self.until(lambda: self.answers("bank-c") >= 20, "no answers")
        done = self.json("certs", "revoke", "bank-c", "--authority", "ca")
        self.assertEqual((done["uri"], done["certificates"]),
                         ("parley://banks.example/owner/bank-c", 1))
        shutil.copy(self.folder / "ca" / "revoked.crl", self.folder / "central-bank")
        self.assertEqual(owners["bank-c"].wait(60), 5, consortium.log("bank-c"))
        self.assertIn("your certificate was revoked", consortium.log("bank-c"))
        paid = self.answers("bank-c")
        self.assertLess(paid, 1000)
        self.assertEqual(consortium.owner("bank-c", port).wait(60), 5, consortium.log("bank-c"))
        self.assertIn("the authority has revoked it", consortium.log("bank-c"))
        self.assertEqual(self.answers("bank-c"), paid, "nothing was asked")
        self.assertIn("its certificate was revoked", consortium.log("learner"))
        # No owner that has the list begins a job with it, nor does it itself.
        shutil.copy(self.folder / "ca" / "revoked.crl", self.folder / "bank-a")
        told = self.parley("owner", "check", "bank-a/policy.toml", consortium.charter,
                           "--no-data", expect=3)
        self.assertRegex(told.stdout, "bank-c's certificate was revoked|no certificate says which")
        shutil.copy(self.folder / "ca" / "revoked.crl", self.folder / "bank-c")
        own = self.parley("doctor", "bank-c/policy.toml", "--dial", f"127.0.0.1:{port}", expect=5)
        self.assertIn("was revoked by the authority", own.stdout)
        # With new keys it is welcome; with the stolen ones nothing is signed.
        again = self.parley("certs", "sign", "bank-c/bank-c.csr", "--authority", "ca", "--replace",
                            "--out", "again.crt", expect=5)
        self.assertIn("asks for a key that was revoked", again.stderr)
        consortium.join("bank-c", out="bank-c-anew")

    def test_a_revoked_learner_is_told_nothing(self):
        consortium = Consortium(self.folder)
        must("certs", "revoke", "central-bank", "--role", "learner", "--authority", "ca",
             cwd=self.folder)
        learner, port = consortium.learner()  # It has not got the list, or does not mind it.
        self.addCleanup(learner.kill)
        for owner in OWNERS:
            shutil.copy(self.folder / "ca" / "revoked.crl", self.folder / owner)
            self.assertEqual(consortium.owner(owner, port).wait(60), 5, consortium.log(owner))
            self.assertIn("the authority has revoked the certificate", consortium.log(owner))
            self.assertEqual(self.answers(owner), 0)
        told = self.parley("doctor", "bank-a/policy.toml", "--dial", f"127.0.0.1:{port}", expect=5)
        self.assertIn("revoked the peer's certificate", told.stdout)

    def test_an_older_list_frees_nobody_after_a_restart(self):
        consortium = Consortium(self.folder)
        consortium.join("bank-d")  # It is in no charter.
        must("certs", "revoke", "bank-d", "--authority", "ca", cwd=self.folder)
        older = (self.folder / "ca" / "revoked.crl").read_bytes()
        must("certs", "revoke", "central-bank", "--role", "learner", "--authority", "ca",
             cwd=self.folder)
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        charters = self.folder / "bank-a" / "charters"
        charters.mkdir(exist_ok=True)
        shutil.copy(self.folder / "ca" / "revoked.crl", charters)  # It came with a charter.
        for put in (lambda: None, lambda: (charters / "revoked.crl").write_bytes(older),
                    (charters / "revoked.crl").unlink):
            put()
            before = len(consortium.log("bank-a"))
            self.assertEqual(consortium.owner("bank-a", port).wait(60), 5, consortium.log("bank-a"))
            self.assertIn("the authority has revoked the certificate",
                          consortium.log("bank-a")[before:])
        self.assertEqual(self.answers("bank-a"), 0)

    def test_an_owners_signing_key_changes_between_jobs_and_old_receipts_stay_good(self):
        consortium, learner, owners, _ = self.running(rounds=3)
        for name, process in {"learner": learner, **owners}.items():
            self.assertEqual(process.wait(120), 0, consortium.log(name))
        self.verify(consortium)
        before = consortium.sign_keys["bank-a"]
        secret = (self.folder / "bank-a" / "bank-a.sign").read_text()
        done = must("renew", "--name", "bank-a", "--out", "bank-a", "--sign-key", cwd=self.folder)
        consortium.sign_keys["bank-a"] = re.search(r'sign_key = "(ed25519:[^"]+)"', done.stdout)[1]
        self.assertNotEqual(consortium.sign_keys["bank-a"], before)
        must("certs", "sign", "bank-a/bank-a.next.csr", "--authority", "ca", cwd=self.folder)
        must("renew", "--name", "bank-a", "--out", "bank-a", "--install", cwd=self.folder)
        [kept] = (self.folder / "bank-a").glob("bank-a.old-*.sign")
        self.assertEqual((kept.read_text(), kept.stat().st_mode & 0o777), (secret, 0o600))
        first = consortium.charter
        consortium.charter = self.folder / "second.charter.toml"
        consortium.write_charter()
        learner, port = consortium.learner(out="second")
        owners = {owner: consortium.owner(owner, port) for owner in OWNERS}
        for name, process in {"learner": learner, **owners}.items():
            self.assertEqual(process.wait(120), 0, consortium.log(name))
        self.verify(consortium, "second")
        consortium.charter = first
        self.verify(consortium)


if __name__ == "__main__":
    main()
