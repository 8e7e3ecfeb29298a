"""A learner with a valid certificate that means no good: an owner neither waits for it for ever, nor
lets it write into its log, nor believes that a key is another owner's because a charter says so."""

import json
import ssl
import socket
import threading

from agencies import Agencies
from clinics import Clinics
from consortium import Consortium, must
from parley import InFolder, main

READY, MESSAGE, ALIVE, END = 1, 3, 4, 5
POLICY = 2  # the code of an error


def frame(kind, payload=b""):
    return bytes([kind]) + len(payload).to_bytes(4, "little") + payload


def end(what, hint=b""):
    return frame(END, bytes([POLICY]) + len(what).to_bytes(2, "little") + what + hint)


class Learner(threading.Thread):
    """Accepts whoever comes, says these frames, and then that it is alive until it is told to stop."""

    def __init__(self, folder, *frames):
        super().__init__(daemon=True)
        self.frames, self.over = frames, threading.Event()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.context.set_alpn_protocols(["parley/2"])
        papers = folder / "central-bank"
        self.context.load_cert_chain(papers / "central-bank.crt", papers / "central-bank.key")
        self.context.load_verify_locations(papers / "authority.crt")
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(0.2)
        self.port = self.server.getsockname()[1]
        self.start()

    def run(self):
        while not self.over.is_set():
            try:
                plain, _ = self.server.accept()
                plain.settimeout(30)
                with self.context.wrap_socket(plain, server_side=True) as stream:
                    stream.sendall(frame(READY))
                    for each in self.frames:
                        stream.sendall(each)
                    while not self.over.wait(0.3):
                        stream.sendall(frame(ALIVE))
            except OSError:
                pass  # It hung up, or nobody came.

    def stop(self):
        """Closes its door only once it has left it: the number of a closed file may be the next test's."""
        self.over.set()
        self.join()
        self.server.close()


class HostileLearner(InFolder):
    def attend(self, *frames):
        """How bank-a fares with it: exit status, output and log."""
        consortium = Consortium(self.folder, rounds=1)
        consortium.write_charter(replace=[("[learner]", "[network]\ndeadline_s = 1\n[learner]")])
        learner = Learner(self.folder, *frames)
        self.addCleanup(learner.stop)
        owner = consortium.owner("bank-a", learner.port, wait=2)
        self.addCleanup(owner.wait)
        self.addCleanup(owner.kill)
        status = owner.wait(30)
        return status, consortium.output("bank-a"), (self.folder / "bank-a.log").read_bytes()

    def test_that_is_there_and_says_nothing_is_given_up(self):
        status, output, log = self.attend()
        self.assertEqual(status, 4, log)
        self.assertIn("is there, and has said nothing for 2 s", output)

    def test_whose_message_is_longer_than_the_job_needs_is_not_read(self):
        status, output, log = self.attend(frame(MESSAGE, bytes(100_000)))
        self.assertEqual(status, 5, log)
        self.assertIn("sent a message of 100000 bytes, where the longest that can be due has", output)

    def test_whose_reason_moves_the_cursor_is_quoted(self):
        forged = b"2026-01-01T00:00:00Z bank-a: finished, model 00"
        status, output, log = self.attend(
            end(b"no\n" + forged + b"\x1b[2J\x9b1m\xff" + "\u202e\u009b".encode(), b"a\rb"))
        self.assertEqual(status, 3, log)
        self.assertTrue(all(byte >= 32 or byte == 10 for byte in log), log)
        self.assertNotIn(b"\n" + forged, log)
        self.assertIn(rb"\u001b[2J\x9b1m\xff\u202e\u009b", log)
        self.assertIn("\\\\u001b[2J", output)
        json.loads(output)


class MadeUpKeys(InFolder):
    """Whoever writes a key of its own into a charter could read and sign letters for that owner."""

    def attack(self, made, victim, us):
        """What `us` does with charters in which the victim is in truth the learner."""
        must("certs", "init", "banks.example", "--out", "elsewhere", cwd=made.folder)
        made.join("mallory", authority="elsewhere")
        honest, key, other = made.charter.read_text(), made.sign_keys[victim], made.sign_keys["mallory"]
        for title, charter, status, words in (
                ("another key", honest.replace(key, other), 5,
                 f"the charter's sign_key of {victim} is not the one in its certificate"),
                ("an owner that there is not",
                 honest.replace(key, other).replace(f'"{victim}"', '"invented"'), 5,
                 "no certificate says which key is invented's"),
                ("no key", honest.replace(f'sign_key = "{key}"', ""), 2,
                 f"{victim} has no sign_key")):
            with self.subTest(title):
                made.charter.write_text(charter)
                before = len(made.log(us))
                owner = made.owner(us, wait=1)
                self.assertEqual(owner.wait(60), status, made.log(us))
                self.assertIn(words, made.log(us)[before:])
                self.assertNotIn("ready", made.log(us)[before:])
                checked = self.json("owner", "check", made.folder / us / "policy.toml", made.charter,
                                    "--no-data", expect=3)
                self.assertIn(words, str(checked["charters"][0]["obstacles"]))
        made.charter.write_text(honest)

    def banks(self):
        made = Consortium(self.folder, rounds=1)
        made.write_policy("bank-c", accept='[network]\ndial = "127.0.0.1:1"\n'
                                           'peers = { bank-b = "127.0.0.1:1", invented = "127.0.0.1:1" }')
        return made

    def test_are_refused_under_sync(self):
        self.attack(self.banks(), "bank-b", "bank-c")

    def test_are_refused_under_async(self):
        made = self.banks()
        made.write_async_charter(3, 1, rate=1)
        self.attack(made, "bank-b", "bank-c")

    def test_are_refused_in_a_graph(self):
        made = self.banks()
        made.write_charter(replace=[
            ("[learner]\n", ""), ('name = "central-bank"', ""),
            ("rounds = 1", 'rounds = 1\ngraph = [["bank-a", "bank-b"], ["bank-b", "bank-c"]]')])
        self.attack(made, "bank-b", "bank-c")

    def test_are_refused_in_secure_sums(self):
        made = Clinics(self.folder, 1)
        policy = self.folder / "clinic-9" / "policy.toml"
        policy.write_text(policy.read_text() + '[network]\ndial = "127.0.0.1:1"\n')
        self.attack(made, "clinic-3", "clinic-9")

    def test_are_refused_of_owners_of_columns(self):
        self.attack(Agencies(self.folder), "bank-b", "bank-c")


if __name__ == "__main__":
    main()
