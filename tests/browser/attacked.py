#!/usr/bin/env python3
"""How fast a job runs while the console inside its owner's daemon is attacked, beside how fast it runs in peace, and
how much memory the daemon then has. Called by scripts/check web; the ratio is reported, memory must hold."""

import pathlib
import re
import sys
import tempfile
import threading
import time

from consortium import OWNERS, Consortium
from pages import DaemonPage, free_port

ROUNDS, MEASURED, MEMORY_MB = 20000, 6, 30
POST = b"POST /decide HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
ATTACKS = {
    "endless chunks": (POST, b"10000\r\n" + b"a" * 65536 + b"\r\n"),
    "a chunk below 0": (POST + b"-2\r\n", b"c" * 65536),
    "a huge chunk": (POST + b"ffffffffffffffff\r\n", b"c" * 65536),
    "endless headers": (b"GET / HTTP/1.1\r\n", b"".join(b"x%d: %s\r\n" % (i, b"b" * 60) for i in range(1000))),
    "one endless header": (b"GET / HTTP/1.1\r\nx: ", b"b" * 65536),
    "another host": (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b""),
    "a replayed link": (b"GET /enter?key=" + b"0" * 64 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b""),
}


def attack(page, begin, piece, over):
    """Again and again, until it is over; a pause between, for the attacker's own work is not the question."""
    while not over.wait(0.02):
        try:
            with page.raw() as connection:
                connection.settimeout(5)
                connection.sendall(begin)
                for _ in range(64):
                    connection.sendall(piece or b"\r\n")
        except OSError:
            pass


def answered(page):
    found = re.search(r"<progress max=\d+ value=(\d+)", page.get("/live").text)
    return int(found[1]) if found else 0


def pace(page):
    """Answers a second, over a few seconds."""
    first, begin = answered(page), time.monotonic()
    time.sleep(MEASURED)
    return (answered(page) - first) / (time.monotonic() - begin)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        consortium = Consortium(folder, rows=1000, rounds=ROUNDS, rule="algorithm2", epsilon=10000, budget=10000)
        policy = folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text() + f'[web]\nlisten = "127.0.0.1:{free_port()}"\n')
        learner, port = consortium.learner()
        owners = [consortium.owner(owner, port) for owner in OWNERS]
        over = threading.Event()
        try:
            page = DaemonPage(owners[0], folder / "bank-a" / "state" / "page.link")
            while answered(page) < 50:
                time.sleep(0.1)
            rates, most = {"in peace": [], "attacked": []}, 0
            for _ in range(3):  # In turn: others use the machine, too.
                rates["in peace"].append(pace(page))
                over.clear()
                idle = [page.raw() for _ in range(200)]
                threads = [threading.Thread(target=attack, args=(page, *each, over)) for each in ATTACKS.values()]
                for thread in threads:
                    thread.start()
                rates["attacked"].append(pace(page))
                most = max(most, page.memory_mb())
                over.set()
                for thread in threads:
                    thread.join()
                for connection in idle:
                    connection.close()
            for name, all_of_them in rates.items():
                print(f"{name}: {sorted(all_of_them)[1]:.0f} rounds a second (median of 3)")
            ratio = sorted(rates["attacked"])[1] / sorted(rates["in peace"])[1]
            alive = learner.poll() is None and all(each.poll() is None for each in owners)
            print(f"ratio {ratio:.2f}; {len(ATTACKS)} attackers and 200 idle connections")
            print(f"{'holds' if most < MEMORY_MB else 'DOES NOT HOLD'}: the daemon stays below {MEMORY_MB} MB ({most:.1f})")
            print(f"{'holds' if alive else 'DOES NOT HOLD'}: the job goes on")
            sys.exit(not (most < MEMORY_MB and alive))
        finally:
            over.set()
            for process in (*owners, learner):
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
