#!/usr/bin/env python3
"""A job while the console inside its owner's daemon is attacked, beside the same job in peace, and while the same
attackers are busy with another program that reads and forgets: they share the machine's cores with the job. Called by
scripts/check web. What must hold is the daemon's memory, and its processor time: what an answer costs, and what
the console takes. Rounds per second are printed; they say as much about who else uses the machine."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from consortium import OWNERS, Consortium
from pages import DaemonPage, free_port

ROUNDS, MEASURED, TIMES, MEMORY_MB = 40000, 6, 5, 30
SHARE, DEARER = 0.25, 1.5  # of a core that the console may take; of an answer's processor time in peace
POST = b"POST /decide HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
# Reads what it is sent, a little of each, and forgets it.
SINK = """
import socket, threading
def take(connection):
    with connection:
        try: connection.recv(65536)
        except OSError: pass
with socket.create_server(("127.0.0.1", 0), backlog=512) as server:
    print(server.getsockname()[1], flush=True)
    while True: threading.Thread(target=take, args=(server.accept()[0],), daemon=True).start()
"""


def attacks(used_link):
    """Of each what begins it, and what follows again and again."""
    return {
        "endless chunks": (POST, b"10000\r\n" + b"a" * 65536 + b"\r\n"),
        "a chunk below 0": (POST + b"-2\r\n", b"c" * 65536),
        "a huge chunk": (POST + b"ffffffffffffffff\r\n", b"c" * 65536),
        "endless headers": (b"GET / HTTP/1.1\r\n", b"".join(b"x%d: %s\r\n" % (i, b"b" * 60) for i in range(1000))),
        "one endless header": (b"GET / HTTP/1.1\r\nx: ", b"b" * 65536),
        "another host": (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b""),
        "a replayed link": (b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % used_link.encode(), b""),
    }


def attack(address, begin, piece, over):
    """Again and again, until it is over; a pause between, for the attacker's own work is not the question."""
    while not over.wait(0.02):
        try:
            with socket.create_connection(address, timeout=5) as connection:
                connection.sendall(begin)
                for _ in range(64):
                    connection.sendall(piece or b"\r\n")
        except OSError:
            pass


class Attackers:
    """All of them at once, and 200 connections that say nothing."""

    def __init__(self, address, used_link):
        self.over = threading.Event()
        self.idle = [socket.create_connection(address, timeout=60) for _ in range(200)]
        self.threads = [threading.Thread(target=attack, args=(address, *each, self.over)) for each in attacks(used_link).values()]

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        for connection in self.idle:
            connection.close()


class Daemon:
    def __init__(self, process, page):
        self.process, self.page = process, page
        self.thread = None  # that answers: the one that works most in peace

    def answered(self):
        found = re.search(r"<progress max=\d+ value=(\d+)", self.page.get("/live").text)
        return int(found[1]) if found else 0

    def seconds(self):
        """Processor time of each thread so far."""
        times = {}
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            fields = (task / "stat").read_text().rsplit(") ", 1)[1].split()
            times[task.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return times

    def watch(self):
        """Answers a second, processor time of an answer in ms, and what all other threads take of a core."""
        first, before, begin = self.answered(), self.seconds(), time.monotonic()
        time.sleep(MEASURED)
        after, elapsed = self.seconds(), time.monotonic() - begin
        count = self.answered() - first
        spent = {thread: seconds - before.get(thread, 0) for thread, seconds in after.items()}
        self.thread = self.thread or max(spent, key=spent.get)
        own = spent.pop(self.thread)
        return count / elapsed, 1000 * own / max(count, 1), sum(spent.values()) / elapsed


def middle(numbers):
    return sorted(numbers)[len(numbers) // 2]


def must(holds, what):
    print(f"{'holds' if holds else 'DOES NOT HOLD'}: {what}")
    return holds


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        consortium = Consortium(folder, rows=1000, rounds=ROUNDS, rule="algorithm2", epsilon=10000, budget=10000)
        policy = folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text() + f'[web]\nlisten = "127.0.0.1:{free_port()}"\n')
        # Another owner sets the pace, so that the job is neither over nor large before the end.
        paced = folder / "bank-b" / "policy.toml"
        paced.write_text(paced.read_text() + "[limits]\nanswer_ms = 10\n")
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        sink = subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
        elsewhere = ("127.0.0.1", int(sink.stdout.readline()))
        try:
            page = DaemonPage(owners[0], folder / "bank-a" / "state" / "page.link")
            used = page.link[page.link.index("/enter"):]
            daemon = Daemon(owners[0], page)
            while daemon.answered() < 50:
                time.sleep(0.1)
            seen, most = {"in peace": [], "attackers elsewhere": [], "attacked": []}, 0
            for _ in range(TIMES):  # In turn: others use the machine, too.
                seen["in peace"].append(daemon.watch())
                with Attackers(elsewhere, used):
                    seen["attackers elsewhere"].append(daemon.watch())
                with Attackers(page.address, used):
                    seen["attacked"].append(daemon.watch())
                    most = max(most, page.memory_mb())
            found = {name: [middle(column) for column in zip(*rows)] for name, rows in seen.items()}
            for name, (rate, cost, others) in found.items():
                print(f"{name}: {rate:.0f} rounds a second, {cost:.2f} ms of processor time an answer, "
                      f"all other threads {100 * others:.0f} % of a core (medians of {TIMES})")
            print(f"{len(attacks(used))} attackers and 200 idle connections; rounds a second attacked over attackers elsewhere: "
                  f"{found['attacked'][0] / found['attackers elsewhere'][0]:.2f} (load {os.getloadavg()[0]:.1f})")
            dearer = found["attacked"][1] / found["attackers elsewhere"][1]
            good = [
                must(most < MEMORY_MB, f"the daemon stays below {MEMORY_MB} MB ({most:.1f})"),
                must(dearer < DEARER, f"an answer costs less than {DEARER} times what it does with attackers elsewhere ({dearer:.2f})"),
                must(found["attacked"][2] < SHARE, f"the console takes less than {100 * SHARE:.0f} % of a core ({100 * found['attacked'][2]:.0f})"),
                must(learner.poll() is None and all(each.poll() is None for each in owners), "the job goes on"),
            ]
            sys.exit(not all(good))
        finally:
            for process in (*owners, learner, sink):
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
