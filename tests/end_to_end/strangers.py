"""Strangers at the port of a running learner, with openssl and plain sockets: each is refused for a
reason that the log names, and the owners finish the job."""

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
                        "h2", *shown], cwd=self.folder, input=b"hello", capture_output=True,
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
        refused = "refused a stranger before any call: "
        for reason, come in (
                ("it showed no certificate", lambda: self.knock(port)),
                ("its certificate is not from this consortium's authority",
                 lambda: self.knock(port, "mallory")),
                ("its certificate has expired", lambda: self.knock(port, "late")),
                ("it does not speak TLS", lambda: self.shout(port))):
            come()
            self.assertIn(refused + reason, self.log_with(consortium, refused + reason))
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        self.assertEqual(learner.wait(60), 0, consortium.log("learner"))
        for name, owner in zip(OWNERS, owners):
            self.assertEqual(owner.wait(60), 0, consortium.log(name))

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
