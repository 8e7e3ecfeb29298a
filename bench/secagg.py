#!/usr/bin/env python3
"""Masking in secure aggregation beside what others do, in one run.

    scripts/bench secagg [repeats [thousand]]

Ours: AES-256-CTR masks modulo 2^64 from 256-bit seeds. Beside it the arithmetic of Flower's SecAgg+ (numpy's
Mersenne Twister seeded with 32 bits, integers below 2^24, one vector per neighbour and a modulus; the
keys' agreement left out), and a loop in numpy over AES-256-CTR by OpenSSL (python3-cryptography).
Milliseconds, the best of the repeats: a client masks its vector against all others, a server takes the
masks of all members off the sum. Agreement of keys and noise are shown for ours only. Then whole aggregations
of 10, 100 and, with a second argument, 1,000 members, one member's work and the server's.
"""

import json
import subprocess
import sys
import time

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

MODULUS = 1 << 24


def best(repeats, work):
    found = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found = min(found, time.perf_counter() - start)
    return 1e3 * found


def twister(members, words, repeats):
    vector = np.zeros(words, dtype=np.int64)

    def draw(seed):
        return np.random.RandomState(seed).randint(0, MODULUS, words)

    def client():
        total = vector + draw(12345)
        for seed in range(1, members):
            total = total + draw(seed) if seed % 2 else total - draw(seed)
        return total % MODULUS

    def server():
        total = vector
        for seed in range(members):
            total = total - draw(seed)
        return total % MODULUS
    return best(repeats, client), best(repeats, server)


def aes(members, words, repeats):
    vector, zeros = np.zeros(words, dtype=np.uint64), bytes(8 * words)
    keys = [bytes([i % 256]) * 32 for i in range(members)]

    def draw(key):
        encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        return np.frombuffer(encryptor.update(zeros), dtype=np.uint64)

    def client():
        total = vector + draw(keys[0])
        for i in range(1, members):
            total = total + draw(keys[i]) if i % 2 else total - draw(keys[i])
        return total

    def server():
        total = vector
        for key in keys:
            total = total - draw(key)
        return total
    return best(repeats, client), best(repeats, server)


def main():
    program, repeats = sys.argv[1], int((sys.argv[2:] or ["20"])[0])
    lines = subprocess.run([program, str(repeats), *sys.argv[3:]], capture_output=True, check=True, text=True).stdout
    print(f"{'milliseconds':<42}{'client':>9}{'server':>9}{'keys':>9}{'noise':>9}")
    for line in lines.splitlines():
        ours = json.loads(line)
        if "whole" in ours:
            print(f"{ours['whole']:,} members, {ours['neighbours']} neighbours, threshold {ours['threshold']}, "
                  f"{ours['consents']} consents: a member {ours['member']:.1f}, the server {ours['server']:,.0f}")
            continue
        members, words = ours["members"], ours["words"]
        print(f"{members} members, {words:,} words")
        print(f"  {'parley':<40}{ours['mask']:>9.3f}{ours['unmask']:>9.3f}{ours['agree']:>9.3f}{ours['noise']:>9.3f}")
        for name, work in (("numpy and AES-256-CTR", aes), ("SecAgg+ of Flower, 32-bit seeds", twister)):
            client, server = work(members, words, repeats)
            print(f"  {name:<40}{client:>9.3f}{server:>9.3f}")


if __name__ == "__main__":
    main()
