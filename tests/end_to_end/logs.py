"""The log of daemons for machines: every line of a whole job parses, every event is documented, and
what strangers say stays inside its quotes."""

import json
import os
import re
import socket
import ssl
import stat
import subprocess

from consortium import OWNERS, Consortium
from parley import BINARY, SOURCE, InFolder, main

LEVELS = {"info", "warning", "error"}


def documented():
    page = (SOURCE / "docs" / "reference" / "log.md").read_text()
    return dict(re.findall(r"^\| `([a-z_]+)` \| (info|warning|error) \|", page, re.M))


class Logs(InFolder):
    def lines(self, text):
        found = []
        for line in text.splitlines():
            each = json.loads(line)
            self.assertEqual(list(each), ["at", "level", "event", "job", "text"])
            self.assertRegex(each["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertEqual(documented().get(each["event"]), each["level"], each)
            self.assertTrue(line.isascii(), line)
            found.append(each)
        return found

    def test_the_page_has_every_event_of_the_source_and_no_other(self):
        source = (SOURCE / "src" / "parley" / "net" / "control" / "log.h").read_text()
        events = re.findall(r'LogEvent k\w+\{"([a-z_]+)", Level::k(\w+)\}', source)
        self.assertEqual({name: level.lower() for name, level in events}, documented())
        self.assertEqual(len(events), len(dict(events)), "no name twice")

    def test_every_line_of_a_whole_job_parses_whatever_strangers_say(self):
        consortium = Consortium(self.folder)
        learner = consortium.start("learner", "--log", "json", "learner", "run", consortium.charter,
                                   "--identity", "central-bank", "--listen", "127.0.0.1:0", "--out",
                                   "job")
        self.addCleanup(learner.kill)
        port = consortium.port_of("learner", learner)
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(b'GET /"}\n{"at":"forged HTTP/1.1\r\n\r\n')
            stranger.recv(100)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(['x"}\n{"event":"forged', "\x1b[2J"])
        with socket.create_connection(("127.0.0.1", port)) as plain, \
             self.assertRaises(OSError):
            with context.wrap_socket(plain) as stranger:
                stranger.recv(100)
        owners = {owner: consortium.start(owner, "owner", "run", f"{owner}/policy.toml",
                                          consortium.charter, "--dial", f"127.0.0.1:{port}",
                                          "--log", "json") for owner in OWNERS}
        for name, process in {"learner": learner, **owners}.items():
            self.assertEqual(process.wait(120), 0, consortium.log(name))
        events = {each["event"] for each in self.lines(consortium.log("learner"))}
        self.assertLessEqual({"listening", "refused", "attends"}, events)
        for owner in OWNERS:
            lines = self.lines(consortium.log(owner))
            self.assertLessEqual({"dialling", "finished"}, {each["event"] for each in lines})
            self.assertEqual({each["job"] for each in lines}, {"three-banks-rates"})
            self.assertNotRegex(consortium.log(owner), r"epsilon|theta|\brows\b")

    def test_an_error_of_the_command_is_a_line_too(self):
        done = self.parley("--log", "json", "owner", "run", "absent.toml", expect=2)
        [line] = self.lines(done.stderr)
        self.assertEqual(line["event"], "failed")
        self.assertIn("absent.toml", line["text"])

    def test_the_journal_gets_priorities(self):
        consortium = Consortium(self.folder)
        reading, writing = os.pipe()
        found = os.fstat(writing)
        self.assertTrue(stat.S_ISFIFO(found.st_mode))
        for stream, begins in ((f"{found.st_dev}:{found.st_ino}", "<6>20"), ("1:2", "20")):
            daemon = subprocess.Popen(
                [BINARY, "owner", "run", "bank-a/policy.toml"], cwd=self.folder, stderr=writing,
                stdout=subprocess.DEVNULL, env={**os.environ, "JOURNAL_STREAM": stream})
            first = os.read(reading, 10000).decode()
            daemon.terminate()
            daemon.wait(60)
            self.assertTrue(first.startswith(begins), first)
        os.close(reading), os.close(writing)
        self.assertTrue(consortium.charter.exists())


if __name__ == "__main__":
    main()
