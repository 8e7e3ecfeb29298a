#!/usr/bin/python3
"""Rounds per second over the network, beside a bare Python gRPC loop, in one run.

    scripts/bench network [rounds]

Ours: three owner processes and a learner, mutual TLS, 10 parameters, 1,000 records each, signed
receipts, and a durable commit in every owner's ledger before each answer.
The loop: a Python server and three Python clients that exchange the same Query and Answer messages
over plain TCP, with no ledger, no noise, no signature and no TLS. Needs python3-grpcio,
python3-protobuf and protoc.
The disk: what three commits side by side allow at the most, whatever else a round needs.
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
REPEATS = 5


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


METHOD = "/parley.v1.Learner/Attend"


def messages():
    """The module that protoc makes of our messages."""
    folder = tempfile.mkdtemp()
    subprocess.run(["protoc", f"--python_out={folder}", f"--proto_path={HERE}",
                    str(HERE / "proto" / "parley.proto")], check=True)
    sys.path.insert(0, folder)
    from proto import parley_pb2  # pylint: disable=import-outside-toplevel,import-error

    return parley_pb2


def serve(rounds):
    """Asks every client once per round; the round ends when all have answered."""
    import grpc  # pylint: disable=import-outside-toplevel
    import queue
    from concurrent import futures

    pb = messages()
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

    handler = grpc.stream_stream_rpc_method_handler(
        attend, pb.FromOwner.FromString, pb.ToOwner.SerializeToString)
    server = grpc.server(futures.ThreadPoolExecutor(PARTIES))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("parley.v1.Learner", {"Attend": handler}),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    while len(asks) < PARTIES:
        time.sleep(0.01)
    started = time.monotonic()
    for k in range(rounds):
        question = pb.ToOwner(charter=bytes(32), sequence=k,
                              query=pb.Query(round=k, theta=[float(j) for j in range(10)]))
        for ask in asks:
            ask.put(question)
        for _ in asks:
            answers.get()
    print(rounds / (time.monotonic() - started), flush=True)
    os._exit(0)


def answer(port):
    import grpc  # pylint: disable=import-outside-toplevel
    import queue

    pb = messages()
    out = queue.Queue()
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    attend = channel.stream_stream(METHOD, pb.FromOwner.SerializeToString, pb.ToOwner.FromString)
    try:
        for message in attend(iter(out.get, None)):
            values = struct.pack("<10q", *(int(value) for value in message.query.theta))
            out.put(pb.FromOwner(charter=message.charter, sequence=message.sequence,
                                 answer=pb.Answer(round=message.query.round, values=values)))
    except grpc.RpcError:
        os._exit(0)


def python_loop(rounds):
    server = subprocess.Popen([sys.executable, __file__, "--serve", str(rounds)], text=True,
                              stdout=subprocess.PIPE)
    port = server.stdout.readline().strip()
    clients = [subprocess.Popen([sys.executable, __file__, "--answer", port])
               for _ in range(PARTIES)]
    rate = float(server.stdout.readline())
    for process in (server, *clients):
        process.wait(60)
    return rate


def disk(rounds):
    """What three ledgers can commit at the most: two pages of a log each, synced, side by side."""
    with tempfile.TemporaryDirectory() as folder:
        parties = [subprocess.Popen([sys.executable, __file__, "--commit", str(rounds),
                                     f"{folder}/{party}"], text=True, stdout=subprocess.PIPE)
                   for party in range(PARTIES)]
        return min(float(party.communicate()[0]) for party in parties)


def commit(rounds, file):
    log = os.open(file, os.O_RDWR | os.O_CREAT)
    pages = os.urandom(2 * (4096 + 24))
    started = time.monotonic()
    for number in range(rounds):
        os.pwrite(log, pages, 32 + number % 500 * len(pages))
        os.fdatasync(log)
    print(rounds / (time.monotonic() - started), flush=True)


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int((sys.argv[2:] or ["2000"])[0])
    runs = ((f"Parley: TLS, ledgers, receipts ({PARTIES} owners)", lambda: parley(binary, rounds)),
            ("Python gRPC loop: the same messages, no TLS, no ledger", lambda: python_loop(rounds)),
            (f"the disk: {PARTIES} durable commits side by side, nothing else", lambda: disk(rounds)))
    # In turn, because a virtual machine's speed changes by a third within minutes.
    rates = [[run() for _, run in runs] for _ in range(REPEATS)]
    print(f"{'rounds per second':<58}{'median':>8}   in turn")
    for (name, _), mine in zip(runs, zip(*rates)):
        print(f"{name:<58}{sorted(mine)[REPEATS // 2]:>8,.0f}   "
              + " ".join(f"{rate:,.0f}" for rate in mine))


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(int(sys.argv[2]))
    elif sys.argv[1] == "--answer":
        answer(sys.argv[2])
    elif sys.argv[1] == "--commit":
        commit(int(sys.argv[2]), sys.argv[3])
    else:
        main()
