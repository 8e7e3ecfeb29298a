#!/usr/bin/python3
"""Rounds per second over the network, beside a bare Python gRPC loop, in one run.

    scripts/bench network [rounds]

Ours: three owner processes and a learner, mutual TLS, 10 parameters, 1,000 records each, signed
receipts, and a durable commit in every owner's ledger before each answer. The loop: a Python server
and three Python clients that echo 10 doubles over plain TCP, with no ledger, no noise and no
signature. Needs python3-grpcio.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
PARTIES = 3


def parley(binary, rounds):
    os.environ.update(PARLEY_BINARY=binary, PARLEY_SOURCE=str(HERE))
    sys.path.insert(0, str(HERE / "tests" / "support"))
    from consortium import OWNERS, Consortium  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory() as folder:
        job = Consortium(folder, rows=1000, rounds=rounds, rule="algorithm2", epsilon=1000,
                         budget=1000)
        learner, port = job.learner()
        owners = [job.owner(owner, port) for owner in OWNERS]
        for process in (learner, *owners):
            if process.wait(600) != 0:
                sys.exit(job.log("learner"))
        return rounds / json.loads(job.output("learner"))["seconds"]


METHOD = "/echo/Attend"


def serve(rounds):
    """Asks every client once per round; the round ends when all have answered."""
    import grpc  # pylint: disable=import-outside-toplevel
    import queue
    from concurrent import futures

    answers, asks = queue.Queue(), []

    def attend(requests, _):
        ask = queue.Queue()
        asks.append(ask)

        def read():
            for request in requests:
                answers.put(request)
        futures.ThreadPoolExecutor(1).submit(read)
        while (question := ask.get()) is not None:
            yield question

    handler = grpc.stream_stream_rpc_method_handler(attend)
    server = grpc.server(futures.ThreadPoolExecutor(PARTIES))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("echo", {"Attend": handler}),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    while len(asks) < PARTIES:
        time.sleep(0.01)
    question = struct.pack("<10d", *range(10))
    started = time.monotonic()
    for _ in range(rounds):
        for ask in asks:
            ask.put(question)
        for _ in asks:
            answers.get()
    print(rounds / (time.monotonic() - started), flush=True)
    os._exit(0)


def echo(port):
    import grpc  # pylint: disable=import-outside-toplevel
    import queue

    out = queue.Queue()
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    try:
        for question in channel.stream_stream(METHOD)(iter(out.get, None)):
            out.put(struct.pack("<10d", *struct.unpack("<10d", question)))
    except grpc.RpcError:
        os._exit(0)


def python_loop(rounds):
    server = subprocess.Popen([sys.executable, __file__, "--serve", str(rounds)], text=True,
                              stdout=subprocess.PIPE)
    port = server.stdout.readline().strip()
    clients = [subprocess.Popen([sys.executable, __file__, "--echo", port])
               for _ in range(PARTIES)]
    rate = float(server.stdout.readline())
    for process in (server, *clients):
        process.wait(60)
    return rate


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int((sys.argv[2:] or ["2000"])[0])
    print(f"{'rounds per second':<58}{'median of 3':>12}")
    for name, run in ((f"Parley: TLS, ledgers, receipts ({PARTIES} owners)",
                       lambda: parley(binary, rounds)),
                      ("Python gRPC loop: no TLS, nothing stored", lambda: python_loop(rounds))):
        rates = sorted(run() for _ in range(3))
        print(f"{name:<58}{rates[1]:>12,.0f}   ({rates[0]:,.0f} to {rates[2]:,.0f})", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(int(sys.argv[2]))
    elif sys.argv[1] == "--echo":
        echo(sys.argv[2])
    else:
        main()
