"""Strangers at a port: each kind knocks again and again until it is told to stop."""

import contextlib
import os
import socket
import time

from frames import OPEN, context, dial, frame


class Stranger:
    def __init__(self, port, papers, stop, pause=0.0, hold=200):
        """`papers` maps "elsewhere" (another authority) and "uninvited" (ours, but nobody of the
        charter) to folders; `stop` says when it is enough; `pause` seconds between tries; at most
        so many connections it holds."""
        self.port, self.papers, self.stop, self.pause, self.hold = port, papers, stop, pause, hold
        self.tries, self.held = 0, []

    def knock(self, kind):
        """How often it tried."""
        one = getattr(self, kind)
        while not self.stop():
            self.tries += 1
            with contextlib.suppress(OSError):
                one()
            if self.pause:
                time.sleep(self.pause)
        for stream in self.held:
            stream.close()
        return self.tries

    def plain(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=5)

    def comes_and_goes(self):
        self.plain().close()

    def idle(self):
        self.held.append(self.plain())
        if len(self.held) > self.hold:
            self.held.pop(0).close()

    def many_networks(self):
        """Says nothing either, each time from another address of this machine."""
        where = self.tries % 16_000
        self.held.append(socket.create_connection(
            ("127.0.0.1", self.port), timeout=5,
            source_address=(f"127.1.{where // 250}.{1 + where % 250}", 0)))
        if len(self.held) > self.hold:
            self.held.pop(0).close()

    def garbage(self):
        with self.plain() as stream:
            stream.sendall(os.urandom(2000))

    def endless_handshake(self):
        """Pieces of a ClientHello that never ends."""
        with self.plain() as stream:
            for _ in range(100):
                stream.sendall(b"\x16\x03\x01\x3f\xf0\x01\x00\xff\xff" + bytes(0x3ff0 - 4))
                if self.stop():
                    return

    def one_byte_at_a_time(self):
        self.idle()
        for stream in list(self.held):
            try:
                stream.send(b"\x16")
            except OSError:
                self.held.remove(stream)
                stream.close()

    def no_certificate(self):
        self.greet(context())

    def elsewhere(self):
        self.greet(context(self.papers["elsewhere"], "mallory"))

    def uninvited(self):
        self.greet(context(self.papers["uninvited"], "mallory"))

    def greet(self, tls):
        with dial(self.port, tls) as stream:
            stream.sendall(frame(OPEN, b"attend"))
            stream.recv(100)


KINDS = ("comes_and_goes", "idle", "many_networks", "garbage", "endless_handshake", "one_byte_at_a_time",
         "no_certificate", "elsewhere", "uninvited")
