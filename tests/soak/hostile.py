"""Parties of the charter, with their own keys, that mean no good."""

import contextlib
import os
import socket
import threading
import time

from frames import (ABORT, ALIVE, ANSWER, END, FINISHED, HELLO, MESSAGE, OPEN, QUERY, READY, REFUSAL,
                    WELCOME, context, dial, end, fields, frame, hear, message, number, renew_keys, text)

HUGE = 0xffffffff
VERSION = 2         # of the messages
RENEWALS = 100_000  # of a key, unless the peer ends it


def owner_says(kind, charter, call):
    """The frames of a hostile owner after its handshake."""
    opened = frame(OPEN, call)
    hello = message(charter, 1, HELLO, number(1, VERSION))
    return {
        "garbage": [os.urandom(5000)],
        "unknown_frame": [frame(99, b"x")],
        "too_long": [opened, frame(MESSAGE, b"x", HUGE)],
        "another_call": [frame(OPEN, b"open sesame")],
        "nonsense": [opened, *[frame(MESSAGE, os.urandom(300)) for _ in range(20)]],
        "end": [opened, hello, frame(END, b"\x05\x01\x00x")],
        "forged_answers": [opened, hello, *[
            message(charter, 2 + i, ANSWER, number(1, 1 + i) + text(2, os.urandom(88)))
            for i in range(20)]],
        "wrong_order": [opened, hello, message(charter, 77, ANSWER, number(1, 1))],
        "silent": [opened],
        "alive": [opened, hello, frame(ALIVE) * 2000],
        "key_updates": [opened],
    }[kind]


def refusal(charter, call, last_round):
    """Of an owner whose ledger has so many answers."""
    return [frame(OPEN, call), message(charter, 1, HELLO, number(1, VERSION) + number(2, last_round)),
            message(charter, 2, REFUSAL, number(1, 3) + text(2, b"\x1b[2Jno"))]


def last_round(stream, charter, call):
    """As the learner's welcome tells it."""
    for each in refusal(charter, call, 0)[:2]:
        stream.sendall(each)
    while True:
        kind, payload = hear(stream)
        if kind == END:
            raise ConnectionResetError
        if kind == MESSAGE:
            return fields(fields(payload)[WELCOME])[2] - 1


OWNER_KINDS = ("garbage", "unknown_frame", "too_long", "another_call", "nonsense", "end",
               "forged_answers", "wrong_order", "silent", "alive", "key_updates")
REFUSES = "refuses"  # where the others are enough


def hostile_owner(kind, port, papers, name, charter, call=b"attend", stays=0.5):
    """One visit. Whatever the other end does about it is right."""
    with contextlib.suppress(OSError):
        if kind == REFUSES:
            with dial(port, context(papers, name)) as stream:
                stream.recv(5)
                says = refusal(charter, call, last_round(stream, charter, call))
        else:
            says = owner_says(kind, charter, call)
        with dial(port, context(papers, name)) as stream:
            stream.recv(5)
            for each in says:
                stream.sendall(each)
            if kind == "key_updates":
                renew_keys(stream, RENEWALS)
            stream.settimeout(0.1)
            until = time.monotonic() + stays
            while time.monotonic() < until:
                with contextlib.suppress(TimeoutError):
                    if not stream.recv(1 << 16):
                        return


def learner_says(kind, charter):
    return {
        "silent": [],
        "key_updates": [],
        "garbage": [os.urandom(5000)],
        "too_long": [frame(MESSAGE, b"x", HUGE)],
        "nonsense": [frame(MESSAGE, os.urandom(300))],
        "end": [end(b"go away\n\x1b[2J2026-01-01T00:00:00Z finished")],
        "question_first": [message(charter, 1, QUERY, number(1, 1) + text(2, bytes(8 * 11)))],
        "false_end": [message(charter, 1, FINISHED, text(1, bytes(32)))],
        "abort": [message(charter, 1, ABORT, number(1, 5) + text(2, b"\x1b[2Jno"))],
    }[kind]


LEARNER_KINDS = ("silent", "garbage", "too_long", "nonsense", "end", "question_first", "false_end",
                 "abort", "key_updates")


class HostileLearner(threading.Thread):
    """Takes whoever comes, with the learner's own certificate, until it is told to stop."""

    def __init__(self, kind, papers, name, charter):
        super().__init__(daemon=True)
        self.kind = kind
        self.frames = [frame(READY), *learner_says(kind, charter)]
        self.tls, self.over = context(papers, name, server=True), threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(0.1)
        self.port = self.server.getsockname()[1]
        self.visits = 0
        self.start()

    def run(self):
        while not self.over.is_set():
            with contextlib.suppress(OSError):
                plain, _ = self.server.accept()
                threading.Thread(target=self.talk, args=(plain,), daemon=True).start()
        self.server.close()

    def talk(self, plain):
        with contextlib.suppress(OSError), plain:
            plain.settimeout(5)
            with self.tls.wrap_socket(plain, server_side=True) as stream:
                self.visits += 1
                for each in self.frames:
                    stream.sendall(each)
                if self.kind == "key_updates":
                    renew_keys(stream, RENEWALS)
                while not self.over.wait(0.2):
                    stream.sendall(frame(ALIVE))

    def stop(self):
        self.over.set()
        self.join(10)
