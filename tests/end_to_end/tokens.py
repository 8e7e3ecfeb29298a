"""Both keys of an owner, and the learner's, on a token (SoftHSM): they are made there and cannot be read out; joining, a
job and a restart work with them, and what is wrong is said by name."""

import json
import os
import pathlib
import re
import subprocess

from consortium import OWNERS, Consortium, must
from parley import InFolder, main

MODULE = "/usr/lib/softhsm/libsofthsm2.so"
PIN = "8275-0461"


class Token:
    def __init__(self, folder, name="parley"):
        self.folder, self.name = pathlib.Path(folder), name
        (self.folder / "tokens").mkdir()
        configuration = self.folder / "softhsm2.conf"
        configuration.write_text(f"directories.tokendir = {self.folder}/tokens\nobjectstore.backend = file\nlog.level = ERROR\n")
        os.environ["SOFTHSM2_CONF"] = str(configuration)
        self.pin = self.folder / "pin"
        self.pin.write_text(PIN + "\n")
        self.pin.chmod(0o600)
        self.tool("softhsm2-util", "--init-token", "--free", "--label", name, "--so-pin", "0000", "--pin", PIN)

    @staticmethod
    def tool(*command):
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def make(self, label, kind):
        self.tool("pkcs11-tool", "--module", MODULE, "--token-label", self.name, "--login", "--pin", PIN, "--keypairgen",
                  "--key-type", kind, "--label", label, "--sensitive")

    def address(self, label, **changes):
        parts = {"module-path": MODULE, "pin-source": f"file:{self.pin}", **changes}
        return f"pkcs11:token={self.name};object={label}?" + "&".join(f"{a}={b}" for a, b in parts.items()) + "\n"

    def write(self, file, label, **changes):
        file.parent.mkdir(exist_ok=True)
        file.write_text(self.address(label, **changes))
        file.chmod(0o600)


class OnTokens(Consortium):
    """bank-a's and the learner's keys are on a token before they join."""

    def __init__(self, folder, token):
        self.token = token
        super().__init__(folder)

    def join(self, name, role="owner", authority="ca", out=None):
        if name in ("bank-a", "central-bank"):
            self.token.make(f"{name}-tls", "EC:prime256v1")
            self.token.write(self.folder / name / f"{name}.key", f"{name}-tls")
        if name == "bank-a":
            self.token.make(f"{name}-sign", "EC:edwards25519")
            self.token.write(self.folder / name / f"{name}.sign", f"{name}-sign")
        super().join(name, role, authority, out)


class Tokens(InFolder):
    def setUp(self):
        super().setUp()
        self.token = Token(self.folder)
        self.consortium = OnTokens(self.folder, self.token)

    def run_job(self, out="job"):
        learner, port = self.consortium.learner("run", 0, 60, out=out)
        self.addCleanup(learner.kill)
        owners = [self.consortium.owner(owner, port) for owner in OWNERS]
        for each in owners:
            self.addCleanup(each.kill)
        self.assertEqual(learner.wait(120), 0, self.consortium.log("learner") + self.consortium.log("bank-a"))
        for each, name in zip(owners, OWNERS):
            self.assertEqual(each.wait(60), 0, self.consortium.log(name))

    def test_a_job_with_both_keys_on_a_token(self):
        for name in ("bank-a/bank-a.key", "bank-a/bank-a.sign", "central-bank/central-bank.key"):
            self.assertTrue((self.folder / name).read_text().startswith("pkcs11:"), name)
        self.run_job()
        self.parley("verify", "job/model.json", "job/transcript.pb.zst", self.consortium.charter)
        # Again, from the ledger: the receipts of a new process are those of the first.
        self.run_job("again")
        first, again = (json.loads((self.folder / out / "model.json").read_text())["model"]["theta"] for out in ("job", "again"))
        self.assertEqual(first, again)
        self.parley("verify", "again/model.json", "again/transcript.pb.zst", self.consortium.charter)

    def test_the_keys_do_not_come_out(self):
        listed = self.token.tool("pkcs11-tool", "--module", MODULE, "--token-label", "parley", "--login", "--pin", PIN,
                                 "--list-objects", "--type", "privkey")
        self.assertEqual(len(re.findall("Private Key Object", listed)), 3, listed)
        self.assertEqual(listed.count("never extractable"), 3, listed)

    def test_keys_on_a_token_are_renewed_by_keys_on_it(self):
        self.run_job()
        for ending, kind in (("key", "EC:prime256v1"), ("sign", "EC:edwards25519")):
            self.token.make(f"second-{ending}", kind)
            self.token.write(self.folder / f"bank-a/bank-a.next.{ending}", f"second-{ending}")
        told = must("renew", "--name", "bank-a", "--out", "bank-a", "--sign-key", cwd=self.folder).stdout
        self.consortium.sign_keys["bank-a"] = re.search(r'sign_key = "(ed25519:[^"]+)"', told)[1]
        signed = must("certs", "sign", "bank-a/bank-a.next.csr", "--authority", "ca", cwd=self.folder).stdout
        self.assertIn("no phone call is needed", signed)
        must("renew", "--name", "bank-a", "--out", "bank-a", "--install", cwd=self.folder)
        for ending in ("key", "sign"):
            self.assertIn(f"object=second-{ending}", (self.folder / f"bank-a/bank-a.{ending}").read_text())
        [kept] = (self.folder / "bank-a").glob("bank-a.old-*.sign")
        self.assertIn("object=bank-a-sign", kept.read_text())
        self.consortium.charter = self.folder / "second.charter.toml"
        self.consortium.write_charter()
        self.run_job("second")
        self.parley("verify", "second/model.json", "second/transcript.pb.zst", self.consortium.charter)

    def test_what_is_wrong_is_said(self):
        check = ("owner", "run", "bank-a/policy.toml", self.consortium.charter, "--dial", "127.0.0.1:1", "--wait", "1")
        key, sign = self.folder / "bank-a/bank-a.key", self.folder / "bank-a/bank-a.sign"
        good = key.read_text(), sign.read_text()
        for file, text, words in (
                (key, self.token.address("nobody"), "the token has no private key of this kind named nobody"),
                (key, self.token.address("bank-a-sign"), "the token has no private key of this kind named bank-a-sign"),
                (sign, self.token.address("bank-a-tls"), "the token has no private key of this kind named bank-a-tls"),
                (key, good[0].replace("token=parley", "token=other"), "there is no token named other"),
                (key, good[0].replace("pin-source=file:", "pin-value="), "must not contain the PIN"),
                (key, good[0].replace(MODULE, "/nowhere.so"), "is no PKCS #11 module"),
                (key, "pkcs11:token=parley\n", "has no object"),
                (key, good[0].replace("object=bank-a-tls", "object=central-bank-tls"), "does not belong to the certificate")):
            key.write_text(good[0])
            sign.write_text(good[1])
            file.write_text(text)
            done = subprocess.run([os.environ["PARLEY_BINARY"], "--quiet", *map(str, check)], cwd=self.folder, text=True,
                                  capture_output=True, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
            self.assertNotIn(PIN, done.stdout + done.stderr)
        key.write_text(good[0])
        sign.write_text(good[1])
        self.token.pin.write_text("1111-1111\n")
        done = subprocess.run([os.environ["PARLEY_BINARY"], "--quiet", *map(str, check)], cwd=self.folder, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertIn("a token locks itself", done.stderr)
        self.assertEqual(done.returncode, 2, "with which the service manager does not try again")


if __name__ == "__main__":
    main()
