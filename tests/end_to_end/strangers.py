"""Strangers at the port of a running learner, with openssl and plain sockets: each is refused for a
reason that the log names, and the owners finish the job."""

import re
import resource
import socket
import subprocess
import time

from consortium import OWNERS, Consortium, must
from parley import InFolder, main


class Strangers(InFolder):
    def knock(self, port, papers=None):
        """A TLS client that believes anyone, with the papers of that folder."""
        shown = [] if papers is None else ["-cert", f"{papers}/{papers}.crt", "-key",
                                           f"{papers}/{papers}.key"]
        subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-alpn",
                        "parley/2", *shown], cwd=self.folder, input=b"hello", capture_output=True,
                       timeout=60, check=False)

    def test_all_are_refused_with_a_reason_and_the_job_goes_on(self):
        consortium = Consortium(self.folder, rounds=1)
        must("certs", "init", "banks.example", "--out", "elsewhere", cwd=self.folder)
        consortium.join("mallory", authority="elsewhere")
        must("join", "ca/banks.example.join", "--name", "late", "--out", "late", cwd=self.folder)
        subprocess.run(["faketime", "-f", "-40d", "openssl", "x509", "-req", "-in", "late/late.csr",
                        "-CA", "ca/authority.crt", "-CAkey", "ca/authority.key", "-days", "30",
                        "-copy_extensions", "copy", "-out", "late/late.crt"], cwd=self.folder,
                       check=True, capture_output=True)
        learner, port = consortium.learner()
        for reason, come in (
                ("it showed no certificate", lambda: self.knock(port)),
                ("its certificate is not from this consortium's authority",
                 lambda: self.knock(port, "mallory")),
                ("its certificate has expired", lambda: self.knock(port, "late")),
                ("it does not speak TLS", lambda: self.shout(port))):
            come()
            self.assertIn(f": {reason}", self.log_with(consortium, f": {reason}"))
        self.assertIn("refused a stranger at 127.0.0.1:", consortium.log("learner"))
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))

    def test_more_connections_than_descriptors_do_not_make_it_deaf(self):
        consortium = Consortium(self.folder, rounds=1)
        learner, port = consortium.learner()
        resource.prlimit(learner.pid, resource.RLIMIT_NOFILE, (1024, 1024))
        ours = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, ours[1]), ours[1]))
        idle = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(1100)]
        for _ in range(2000):  # And a flood of those who come and go.
            socket.create_connection(("127.0.0.1", port), timeout=60).close()
        self.assertLess(self.kilobytes(learner), 100_000)
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))
        self.assertIn("too many came at once", consortium.log("learner"))
        for each in idle:
            each.close()

    @staticmethod
    def kilobytes(process):
        with open(f"/proc/{process.pid}/status", encoding="utf8") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])

    @staticmethod
    def log_with(consortium, words):
        """The learner's log, once it has these words, or after a while."""
        until = time.monotonic() + 20
        while words not in consortium.log("learner") and time.monotonic() < until:
            time.sleep(0.02)
        return consortium.log("learner")

    @staticmethod
    def shout(port):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as stream:
            stream.sendall(b"\x00\xffgarbage" * 100)


if __name__ == "__main__":
    main()
