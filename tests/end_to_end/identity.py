"""From nothing to papers, checked with openssl's own program, and the doctor against servers with
one thing wrong each."""

import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import stat
import subprocess
import threading
import uuid

import consortium
from parley import BINARY, EXAMPLE, SOURCE, InFolder, main

POLICY = """
[owner]
name = "bank-a"
state = "state"
charters = "charters"

[[dataset]]
name = "loans"
source = "csv"
path = "loans.csv"
[dataset.budget]
epsilon = 4.0
"""
SIGN_KEY = f"2.25.{uuid.UUID('269387b0-66c1-4bc4-a81d-8378ce1c121d').int}"  # in owners' certificates


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], text=True, capture_output=True,
                          timeout=60, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout + done.stderr


class Consortium(InFolder):
    """An authority in ca/, and parties that join each in a folder of its own."""

    def at(self, time, *arguments, expect=0):
        """As self.parley, with another clock."""
        environment = {**os.environ, "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        done = subprocess.run(["faketime", "-f", time, BINARY, *map(str, arguments)],
                              cwd=self.folder, text=True, capture_output=True, timeout=60,
                              env=environment, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, expect, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def init(self, folder="ca", consortium="banks.example"):
        self.parley("certs", "init", consortium, "--address", "127.0.0.1:7443", "--out", folder)

    def join(self, name, role="owner", ca="ca", consortium="banks.example"):
        return self.parley("join", f"{ca}/{consortium}.join", "--name", name, "--role", role,
                           "--out", name).stdout

    def sign(self, name, ca="ca"):
        return self.parley("certs", "sign", f"{name}/{name}.csr", "--authority", ca).stdout

    def extensions(self, certificate):
        """Name -> value as openssl prints it, on one line, "critical" in front where it is."""
        text = openssl("x509", "-in", self.folder / certificate, "-noout", "-text")[1]
        found = re.findall(r"^ {12}X509v3 ([\w ]+): *(critical|)\n((?: {16,}.*\n)+)", text,
                           re.MULTILINE)
        return {name: " ".join([critical, *value.split()]).strip()
                for name, critical, value in found}


class Papers(Consortium):
    def test_papers_for_three_parties_are_what_openssl_expects(self):
        self.init()
        for name, role in (("bank-a", "owner"), ("bank-b", "owner"), ("central-bank", "learner")):
            self.join(name, role)
            self.assertIn(f"parley://banks.example/{role}/{name}", self.sign(name))
            purposes = {"sslclient": 0, "sslserver": 0 if role == "learner" else 2}
            for purpose, expected in purposes.items():
                code, text = openssl("verify", "-x509_strict", "-CAfile",
                                     self.folder / "ca/authority.crt", "-purpose", purpose,
                                     self.folder / f"{name}/{name}.crt")
                self.assertEqual(code, expected, text)
            text = openssl("x509", "-in", self.folder / f"{name}/{name}.crt", "-noout", "-text")[1]
            self.assertEqual(text.count(f"{SIGN_KEY}: \n"), 1 if role == "owner" else 0, text)
            extensions = self.extensions(f"{name}/{name}.crt")
            self.assertEqual(extensions.pop("Subject Alternative Name"),
                             f"URI:parley://banks.example/{role}/{name}")
            server = "" if role == "owner" else "TLS Web Server Authentication, "
            self.assertEqual(extensions.pop("Extended Key Usage"),
                             server + "TLS Web Client Authentication")
            self.assertEqual(extensions.pop("Basic Constraints"), "critical CA:FALSE")
            self.assertEqual(extensions.pop("Key Usage"), "critical Digital Signature")
            self.assertEqual(set(extensions),
                             {"Subject Key Identifier", "Authority Key Identifier"})
        extensions = self.extensions("ca/authority.crt")
        self.assertEqual(extensions["Basic Constraints"], "critical CA:TRUE, pathlen:0")
        self.assertEqual(extensions["Key Usage"], "critical Certificate Sign, CRL Sign")
        self.assertEqual(extensions["Name Constraints"], "critical Permitted: URI:banks.example")
        lines = (self.folder / "ca/signed.tsv").read_text().splitlines()
        self.assertEqual([line.split("\t")[1] for line in lines],
                         ["uri", "parley://banks.example/owner/bank-a",
                          "parley://banks.example/owner/bank-b",
                          "parley://banks.example/learner/central-bank"])
        members = (self.folder / "ca/members.pem").read_text()
        self.assertEqual(members, "".join((self.folder / f"{name}/{name}.crt").read_text()
                                          for name in ("bank-a", "bank-b")))

    def test_everybody_reads_the_same_fingerprints(self):
        made = self.json("certs", "init", "banks.example", "--out", "ca")
        _, text = openssl("x509", "-in", self.folder / "ca/authority.crt", "-noout", "-fingerprint",
                          "-sha256")
        self.assertEqual(text.strip().split("=")[1].replace(":", "").lower(), made["fingerprint"])
        spoken = " ".join(re.findall(".{8}", made["fingerprint"]))
        told = self.join("bank-a")
        self.assertIn(f"the authority  {spoken}\n", told)
        key = re.search(r"your key +([0-9a-f ]+)\n", told)[1]
        self.assertIn(f"  {key}\n", self.sign("bank-a"))

    def test_private_files_are_private_and_only_owners_have_a_sign_key(self):
        self.init()
        told = self.join("bank-a")
        self.join("central-bank", "learner")
        for file in ("ca/authority.key", "bank-a/bank-a.key", "bank-a/bank-a.sign",
                     "central-bank/central-bank.key"):
            self.assertEqual(stat.S_IMODE((self.folder / file).stat().st_mode), 0o600, file)
        self.assertFalse((self.folder / "central-bank/central-bank.sign").exists())
        for file in ("ca/banks.example.join", "bank-a/bank-a.csr", "bank-a/authority.crt"):
            self.assertNotIn("PRIVATE", (self.folder / file).read_text())
        _, text = openssl("pkey", "-in", self.folder / "bank-a/bank-a.sign", "-pubout", "-outform",
                          "PEM")
        raw = re.sub(r"-----.*?-----|\s", "", text)  # 12 bytes of header, 32 of key, in base64
        said = re.search(r'sign_key = "ed25519:(.*)"\n', told)[1]
        self.assertEqual(raw[16:], said)

    def test_nothing_is_overwritten(self):
        self.init()
        self.join("bank-a")
        self.sign("bank-a")
        before = {f: f.read_bytes() for f in self.folder.rglob("*") if f.is_file()}
        for arguments in (["certs", "init", "banks.example", "--out", "ca"],
                          ["join", "ca/banks.example.join", "--name", "bank-a", "--out", "bank-a"],
                          ["certs", "sign", "bank-a/bank-a.csr", "--authority", "ca"]):
            self.assertIn("nothing is overwritten", self.parley(*arguments, expect=2).stderr)
        self.assertEqual(before,
                         {f: f.read_bytes() for f in self.folder.rglob("*") if f.is_file()})

    def test_a_party_can_renew_but_gets_no_second_key_unasked(self):
        self.init()
        self.join("bank-a")
        self.sign("bank-a")
        again = ["certs", "sign", "bank-a/bank-a.csr", "--authority", "ca", "--out"]
        self.parley(*again, "renewed.crt")
        self.assertEqual((self.folder / "ca/members.pem").read_text(),
                         (self.folder / "renewed.crt").read_text())
        for ending in ("key", "csr", "sign"):
            (self.folder / f"bank-a/bank-a.{ending}").unlink()
        self.join("bank-a")
        self.assertIn("for another key until", self.parley(*again, "new.crt", expect=5).stderr)
        self.assertFalse((self.folder / "new.crt").exists())
        self.parley(*again, "new.crt", "--replace")

    def test_a_new_request_keeps_the_keys_that_are_there(self):
        self.init()
        told = self.join("bank-a")
        (self.folder / "bank-a/bank-a.csr").rename(self.folder / "old.csr")
        before = {f: f.read_bytes() for f in (self.folder / "bank-a").iterdir()}
        self.assertEqual(self.join("bank-a"), told)
        self.assertEqual(before, {f: f.read_bytes() for f in before})
        self.sign("bank-a")
        (self.folder / "bank-a/bank-a.csr").unlink()
        (self.folder / "bank-a/bank-a.sign").unlink()  # Not without the other key.
        self.parley("join", "ca/banks.example.join", "--name", "bank-a", "--out", "bank-a", expect=2)

    def test_requests_that_are_odd_or_foreign_are_refused_and_not_listed(self):
        self.init()
        self.init("other", "hospitals.example")
        self.join("st-vincent", ca="other", consortium="hospitals.example")
        foreign = self.parley("certs", "sign", "st-vincent/st-vincent.csr", "--authority", "ca",
                              expect=5)
        self.assertIn("parley://hospitals.example/owner/st-vincent", foreign.stderr)
        uri = "subjectAltName=URI:parley://banks.example/owner/x"
        for wrong, key, extensions in (
                ("not on P-256", ["rsa:2048"], [uri]),
                ("not on P-256", ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], [uri]),
                ("Basic Constraints", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
                 [uri, "basicConstraints=CA:TRUE"]),
                ("does not name the one key that this owner signs with",
                 ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], [uri]),
                ("the role must be", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
                 [uri.replace("owner", "king")])):
            code, text = openssl("req", "-new", "-newkey", *key, "-nodes", "-keyout",
                                 self.folder / "odd.key", "-out", self.folder / "odd.csr", "-subj",
                                 "/CN=x", *[w for e in extensions for w in ("-addext", e)])
            self.assertEqual(code, 0, text)
            refused = self.parley("certs", "sign", "odd.csr", "--authority", "ca", expect=5)
            self.assertIn(wrong, refused.stderr)
        self.assertFalse((self.folder / "ca/signed.tsv").exists())

    def test_what_is_typed_wrongly_is_said(self):
        self.init()
        self.parley("certs", "init", "Banks Example", "--out", "x", expect=2)
        self.parley("certs", "init", "banks.example", "--address", "here", "--out", "x", expect=2)
        self.parley("certs", "init", "banks.example", "--days", "0", "--out", "x", expect=2)
        self.assertFalse((self.folder / "x").exists())
        self.parley("join", "ca/banks.example.join", "--name", "Bank A", expect=2)
        self.parley("join", "ca/banks.example.join", "--name", "a", "--role", "king", expect=2)
        self.parley("join", "nowhere.join", "--name", "a", expect=2)
        text = (self.folder / "ca/banks.example.join").read_text()
        (self.folder / "forged.join").write_text(text.replace('= "banks.', '= "hospitals.'))
        self.parley("join", "forged.join", "--name", "a", expect=5)


class HowTo(InFolder):
    def test_every_command_of_the_how_to_runs_as_it_stands(self):
        text = (SOURCE / "docs/how-to/consortium.md").read_text()
        shutil.copy(EXAMPLE, self.folder)
        (self.folder / "bank-a").mkdir()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            free = str(listening.getsockname()[1])
        text = text.replace("localhost:7443", f"127.0.0.1:{free}")
        policy = re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1]
        (self.folder / "bank-a/policy.toml").write_text(policy)
        commands = re.findall(r"^    ((?:parley|cp|mkdir) .*)$", text, re.MULTILINE)
        self.assertGreater(len(commands), 15)
        for command in commands:
            program, *arguments = shlex.split(command)
            expect = 4 if arguments == ["doctor", "bank-a/policy.toml"] else 0
            if program == "parley":
                told = self.parley(*arguments, expect=expect).stdout
                self.assertEqual("nothing listens there" in told, expect == 4)
            else:
                more = ["-p"] if program == "mkdir" else []  # The policy is there already.
                subprocess.run([program, *more, *arguments], cwd=self.folder, check=True)


class Doctor(Consortium):
    def setUp(self):
        super().setUp()
        # Two years old, so that a certificate of then can have ended.
        self.at("-2y", "certs", "init", "banks.example", "--out", "ca")
        self.told = self.join("bank-a")
        self.sign("bank-a")
        self.join("central-bank", "learner")
        self.sign("central-bank")

    def policy(self, port, network=""):
        tables = self.told.split("Put this into your policy:\n")[1]
        (self.folder / "policy.toml").write_text(
            f'{POLICY}\n{tables}\n[network]\ndial = "127.0.0.1:{port}"\n{network}')
        return "policy.toml"

    @contextlib.contextmanager
    def server(self, *more, name="central-bank", ca="ca", alpn=("-alpn", "parley/2")):
        """The port of an openssl s_server that shows the papers of `name`."""
        command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", f"{name}/{name}.crt",
                   "-key", f"{name}/{name}.key", "-CAfile", f"{ca}/authority.crt", "-Verify", "1",
                   "-verify_return_error", *alpn, *more]
        with subprocess.Popen(command, cwd=self.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
            try:
                for line in run.stdout:
                    if line.startswith("ACCEPT"):
                        break
                yield int(line.strip().rsplit(":", 1)[1])
            finally:
                run.kill()

    @contextlib.contextmanager
    def listener(self, talk):
        """The port of a plain socket; `talk` gets the first connection."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            def accept():
                with contextlib.suppress(OSError):
                    connection, _ = listening.accept()
                    with connection:
                        talk(connection)
            thread = threading.Thread(target=accept, daemon=True)
            thread.start()
            yield listening.getsockname()[1]

    def doctor(self, port, *more, expect=0, wrong=None, at=None, network=""):
        """What it says; the first wrong check must be `wrong`, and nothing after it was tried."""
        arguments = ["--json", "doctor", self.policy(port, network), *more]
        done = self.at(at, *arguments, expect=expect) if at else self.parley(*arguments,
                                                                           expect=expect)
        said = json.loads(done.stdout)
        self.assertEqual((said["ok"], said["exit"]), (expect == 0, expect))
        states = [check["state"] for check in said["checks"]]
        self.assertEqual(next((c["check"] for c in said["checks"] if c["state"] != "ok"), None),
                         wrong, said)
        if wrong:
            after = states.index("wrong") + 1
            self.assertEqual(states, ["ok"] * (after - 1) + ["wrong"] +
                             ["not tried"] * (len(states) - after))
            return said["wrong"]["what"] + " " + said["wrong"]["hint"]
        return said

    def test_finds_nothing_wrong_where_nothing_is(self):
        with self.server("-tls1_3") as port:
            text = self.parley("doctor", self.policy(port)).stdout
        self.assertTrue(text.startswith("Everything is in order.\n"), text)

    def test_notices_that_what_listens_is_not_a_learner(self):
        with self.server() as port:
            wrong = self.doctor(port, *self.charter_with_keys(), expect=4, wrong="job")
        self.assertIn("does not answer a greeting", wrong)

    def test_finds_nothing_wrong_with_a_learner_that_runs(self):
        (self.folder / "running").mkdir()
        running = consortium.Consortium(self.folder / "running")
        learner, port = running.learner()
        try:
            for call in range(2):  # The second finds what the first left behind.
                said = self.json("doctor", "running/bank-a/policy.toml", "--charter",
                                 running.charter, "--dial", f"127.0.0.1:{port}")
                self.assertTrue(said["ok"], (call, said))
                self.assertEqual([check["check"] for check in said["checks"]],
                                 ["credentials", "clock", "sign key", "charter", "members", "address",
                                  "reachable", "tls", "peer", "learner", "protocol", "welcome", "job"])
        finally:
            learner.kill()
            learner.wait()

    def sign_key(self, told=None):
        return re.search(r'sign_key = "(ed25519:.*)"\n', told or self.told)[1]

    def charter_with_keys(self):
        """The example's, with the keys of three banks, all certified."""
        keys = [self.sign_key()]
        for name in ("bank-b", "bank-c"):
            keys.append(self.sign_key(self.join(name)))
            self.sign(name)
        shutil.copy(self.folder / "ca/members.pem", self.folder / "bank-a")
        sets = [("--set", f'owner.{i}.sign_key="{key}"') for i, key in enumerate(keys)]
        return ["--charter", EXAMPLE, *[word for pair in sets for word in pair]]

    def test_finds_keys_that_nobody_has_certified(self):
        charter = self.charter_with_keys()
        members = self.folder / "bank-a/members.pem"
        whole = members.read_text()
        members.unlink()
        self.assertIn("Ask the consortium's authority for its members.pem",
                      self.doctor(1, *charter, expect=2, wrong="members"))
        members.write_text(whole.rsplit("-----BEGIN", 1)[0])
        self.assertIn("no certificate says which key is bank-c's",
                      self.doctor(1, *charter, expect=5, wrong="members"))
        members.write_text(whole)
        key = charter[-1].split('"')[1]
        made_up = key[:8] + ("B" if key[8] == "A" else "A") + key[9:]
        self.assertIn("sign_key of bank-c is not the one in its certificate",
                      self.doctor(1, *charter[:-1], charter[-1].replace(key, made_up), expect=5,
                                  wrong="members"))
        self.doctor(1, *charter, expect=4, wrong="reachable")
        self.at("-2y", "certs", "sign", "bank-c/bank-c.csr", "--authority", "ca", "--days", 9,
                "--out", "ended.crt")
        members.write_text(whole.rsplit("-----BEGIN", 1)[0] + (self.folder / "ended.crt").read_text())
        self.assertIn("certificate has expired", self.doctor(1, *charter, expect=5, wrong="members"))
        old = self.folder / "bank-a/bank-a.crt"
        old.unlink()
        openssl("x509", "-req", "-in", self.folder / "bank-a/bank-a.csr", "-CA",
                self.folder / "ca/authority.crt", "-CAkey", self.folder / "ca/authority.key", "-days",
                "30", "-extfile", self.uri_only(), "-out", old)
        self.assertIn("and our certificate names no signing key",
                      self.doctor(1, expect=5, wrong="sign key"))

    def uri_only(self):
        """Extensions of a certificate as earlier versions made it."""
        file = self.folder / "extensions"
        file.write_text("subjectAltName=URI:parley://banks.example/owner/bank-a\n")
        return file

    def test_finds_what_is_wrong_with_our_own_papers(self):
        papers = self.folder / "bank-a"
        key = (papers / "bank-a.key").read_bytes()
        (papers / "bank-a.key").chmod(0o640)
        self.assertIn("chmod 600", self.doctor(1, expect=2, wrong="credentials"))
        (papers / "bank-a.key").unlink()
        self.assertIn("No such file", self.doctor(1, expect=2, wrong="credentials"))
        (papers / "bank-a.key").write_bytes(key)
        (papers / "bank-a.key").chmod(0o600)
        (papers / "bank-a.sign").chmod(0o644)
        self.assertIn("chmod 600", self.doctor(1, expect=2, wrong="sign key"))
        (papers / "bank-a.sign").chmod(0o600)
        self.assertIn("and the charter has none for bank-a",
                      self.doctor(1, "--charter", EXAMPLE, expect=5, wrong="sign key"))
        self.assertIn("is of consortium hospitals.example",
                      self.doctor(1, "--charter", EXAMPLE, "--set",
                                  f'owner.0.sign_key="{self.sign_key()}"', "--set",
                                  "charter.consortium=hospitals.example", expect=5,
                                  wrong="charter"))
        self.join("bank-b")
        self.sign("bank-b")
        for ending in ("crt", "key"):
            (papers / f"bank-a.{ending}").write_bytes(
                (self.folder / f"bank-b/bank-b.{ending}").read_bytes())
        self.assertIn("is of parley://banks.example/owner/bank-b, and "
                      "parley://banks.example/owner/bank-a is meant",
                      self.doctor(1, expect=5, wrong="credentials"))

    def test_finds_clocks_and_certificates_that_have_ended(self):
        said = self.doctor(1, expect=5, wrong="credentials", at="+2y")
        self.assertRegex(said, "has expired: valid from .* and this machine's clock says")
        said = self.doctor(1, expect=5, wrong="credentials", at="-1y")
        self.assertRegex(said, "is not valid yet: .* Set the clock")
        self.join("old-bank", "learner")
        self.at("-2y", "certs", "sign", "old-bank/old-bank.csr", "--authority", "ca", "--days", 9)
        with self.server(name="old-bank") as port:
            said = self.doctor(port, expect=5, wrong="peer")
        self.assertRegex(said, "the peer's certificate is valid from .* until .*, and this "
                               "machine's clock says .* Check this machine's clock")

    def test_finds_that_nobody_is_there(self):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            free = listening.getsockname()[1]
        self.assertIn("refuses connections", self.doctor(free, expect=4, wrong="reachable"))
        self.assertIn("nowhere.invalid:7443 cannot be resolved",
                      self.doctor(1, "--dial", "nowhere.invalid:7443", expect=4, wrong="address"))

    def test_finds_that_it_is_not_tls(self):
        with self.listener(lambda c: (c.sendall(b"220 mail.example ESMTP\r\n"), c.recv(9))) as port:
            self.assertIn("answers, but not in TLS", self.doctor(port, expect=4, wrong="tls"))
        with self.listener(lambda c: c.recv(4096)) as port:
            self.assertIn("it closed the connection", self.doctor(port, expect=4, wrong="tls"))
        alert = b"\x15\x03\x03\x00\x02\x02\x30"  # unknown CA, before any certificate was seen
        with self.listener(lambda c: (c.recv(4096), c.sendall(alert), c.recv(1))) as port:
            self.assertIn('ends TLS with the alert "unknown CA"',
                          self.doctor(port, expect=4, wrong="tls"))
        with self.listener(lambda c: (c.recv(4096), c.recv(4096))) as port:
            self.assertIn("it said nothing in time", self.doctor(port, expect=4, wrong="tls"))

    def test_finds_that_the_peer_is_somebody_else(self):
        self.init("impostor")
        self.join("spy", "learner", ca="impostor")
        self.sign("spy", "impostor")
        with self.server(name="spy") as port:
            said = self.doctor(port, expect=5, wrong="peer")
        self.assertIn("not certified by our authority", said)
        with self.server(name="bank-a") as port:
            said = self.doctor(port, expect=5, wrong="peer")
        self.assertIn("parley://banks.example/owner/bank-a, which is not meant for a learner", said)
        self.join("other-bank", "learner")
        self.sign("other-bank")
        with self.server(name="other-bank") as port:
            self.doctor(port)
            said = self.doctor(port, *self.charter_with_keys(), expect=5, wrong="learner")
        self.assertIn("the peer is parley://banks.example/learner/other-bank, and "
                      "parley://banks.example/learner/central-bank is expected", said)

    def test_finds_that_the_peer_refuses_our_certificate(self):
        self.init("impostor")
        with self.server(ca="impostor") as port:
            said = self.doctor(port, expect=5, wrong="welcome")
        self.assertIn('refuses our certificate with the alert "unknown CA"', said)
        with self.server("-attime", "1999999999") as port:
            said = self.doctor(port, expect=5, wrong="welcome")
        self.assertIn('with the alert "certificate expired"', said)
        self.assertIn("compare both clocks", said)

    def test_finds_another_version(self):
        for alpn in ((), ("-alpn", "h2")):
            with self.server(alpn=alpn) as port:
                said = self.doctor(port, expect=4, wrong="protocol" if alpn == () else "tls")
            self.assertIn("does not speak parley/2: it runs Parley 0.1" if alpn == () else
                          'ends TLS with the alert "no application protocol"', said)
        with self.server("-tls1_2") as port:
            said = self.doctor(port, expect=4, wrong="tls")
        self.assertIn("speaks TLSv1.2, and TLS 1.3 is needed", said)

    def test_goes_through_a_proxy_where_the_policy_says_so(self):
        asked = []

        def proxy_to(port):
            def talk(connection):
                asked.append(connection.recv(4096).decode().split("\r\n")[0])
                connection.sendall(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
                with socket.create_connection(("127.0.0.1", port)) as onward:
                    back = threading.Thread(target=pump, args=(onward, connection), daemon=True)
                    back.start()
                    pump(connection, onward)
                    back.join()
            return talk

        def pump(source, target):
            with contextlib.suppress(OSError):
                while piece := source.recv(65536):
                    target.sendall(piece)
                target.shutdown(socket.SHUT_WR)

        with self.server() as port, self.listener(proxy_to(port)) as proxy:
            self.doctor(port, network=f'proxy = "http://127.0.0.1:{proxy}"')
        self.assertEqual(asked, [f"CONNECT 127.0.0.1:{port} HTTP/1.1"])
        refuse = b"HTTP/1.1 403 Forbidden\r\n\r\n"
        with self.listener(lambda c: (c.recv(4096), c.sendall(refuse))) as proxy:
            said = self.doctor(1, network=f'proxy = "http://127.0.0.1:{proxy}"', expect=4,
                               wrong="reachable")
        self.assertIn('the proxy refuses: "HTTP/1.1 403 Forbidden"', said)

    def test_looks_at_a_learners_papers_too(self):
        learner = ["doctor", "--identity", "central-bank", "--charter", EXAMPLE, "--name"]
        said = self.json(*learner, "central-bank")
        self.assertEqual([c["check"] for c in said["checks"]], ["credentials", "clock", "charter"])
        with self.server() as port:
            self.json(*learner, "central-bank", "--dial", f"127.0.0.1:{port}")
        self.join("other-bank", "learner")
        self.sign("other-bank")
        said = self.json("doctor", "--identity", "other-bank", "--charter", EXAMPLE, "--name",
                         "other-bank", expect=5)
        self.assertIn("does not name parley://banks.example/learner/other-bank",
                      said["wrong"]["what"])

    def test_says_what_it_cannot_start_with(self):
        policy = self.policy(1)
        text = (self.folder / policy).read_text()
        (self.folder / "none.toml").write_text(text.split("[identity]")[0])
        self.assertIn("no [identity]", self.parley("doctor", "none.toml", expect=2).stderr)
        (self.folder / "dial.toml").write_text(text.split("[network]")[0])
        self.assertIn("nobody knows where the learner is",
                      self.parley("doctor", "dial.toml", expect=2).stderr)
        self.parley("doctor", policy, "--dial", "here", expect=2)
        self.parley("doctor", "nowhere.toml", expect=2)


if __name__ == "__main__":
    main()
