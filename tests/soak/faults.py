"""Each kind of fault: what brings it about, and what mends it again."""

import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading

import hostile
from consortium import must
from strangers import Stranger
from worlds import LEARNER

FAKETIME = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
DISK_MB = 32
NEEDS_ROOT = ("disk",)


def can(kind):
    if kind == "clock":
        return FAKETIME is not None
    return kind not in NEEDS_ROOT or os.geteuid() == 0


class Faults:
    """Of one job. A method per kind, which returns what mends it, or None."""

    def __init__(self, fleet):
        self.fleet, self.world = fleet, fleet.world
        for fault in fleet.plan.befalls("disk"):
            self.mount(self.world.disk(fault.whom))
        for fault in fleet.plan.befalls("clock"):
            self.set_clock(fault.whom, 0)
            self.world.env[fault.whom] = {
                "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(self.clock_of(fault.whom)),
                "DONT_FAKE_MONOTONIC": "1", "FAKETIME_CACHE_DURATION": "1"}

    def begin(self, fault):
        return getattr(self, fault.kind)(fault)

    def process(self, fault):
        return self.fleet.processes[fault.whom]

    # To a process.

    def kill(self, fault):
        self.fleet.end(fault.whom, signal.SIGKILL)

    def stop(self, fault):
        self.fleet.end(fault.whom, signal.SIGTERM)

    def pause(self, fault):
        process = self.process(fault)
        process.send_signal(signal.SIGSTOP)
        return lambda: process.send_signal(signal.SIGCONT)

    def descriptors(self, fault):
        return self.limited(fault, resource.RLIMIT_NOFILE, 8)

    def memory(self, fault):
        """Hardly more than it has. Stacks are not counted: one that cannot grow is a crash for any
        program; nor is this done to a process that the loader has not yet left."""
        with contextlib.suppress(OSError, TypeError):
            if len(self.world.consortium.log(fault.whom)) > self.fleet.logged[fault.whom]:
                status = pathlib.Path(f"/proc/{self.process(fault).pid}/status").read_text()
                size = int(re.search(r"VmData:\s+(\d+)", status)[1]) << 10
                return self.limited(fault, resource.RLIMIT_DATA, size + (1 << 18))
        return None

    def limited(self, fault, which, soft):
        pid = self.process(fault).pid
        with contextlib.suppress(OSError):
            before = resource.prlimit(pid, which)
            resource.prlimit(pid, which, (soft, before[1]))
            return lambda: self.unlimited(pid, which, before)
        return None  # It has ended.

    @staticmethod
    def unlimited(pid, which, before):
        with contextlib.suppress(OSError):
            resource.prlimit(pid, which, before)

    # To what it stands on.

    def mount(self, place):
        if place not in self.fleet.mounts:
            place.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "soak", place],
                           check=True)
            self.fleet.mounts.append(place)

    def disk(self, fault):
        """Not a byte is left."""
        ballast = self.world.disk(fault.whom) / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))
        return lambda: ballast.unlink(missing_ok=True)

    def clock_of(self, name):
        return self.world.folder / f"{name}.clock"

    def set_clock(self, name, hours):
        self.clock_of(name).write_text(f"{'-' if hours < 0 else '+'}{abs(hours) * 3600:.0f}\n")

    def clock(self, fault):
        self.set_clock(fault.whom, fault.how)
        return lambda: self.set_clock(fault.whom, 0)

    def replaced(self, fault):
        """A new certificate of the same key, and a process that begins with it."""
        self.certify(fault.whom)
        self.fleet.end(fault.whom, signal.SIGTERM)

    def expired(self, fault):
        """Replaced as a whole: at no moment is there half of one."""
        folder, name = self.world.papers(fault.whom)
        ended = folder / "ended.crt"
        subprocess.run(
            ["faketime", "-f", "-40d", "openssl", "x509", "-req", "-in", folder / f"{name}.csr", "-CA",
             "ca/authority.crt", "-CAkey", "ca/authority.key", "-days", "30", "-copy_extensions",
             "copy", "-out", ended], cwd=self.world.folder, check=True, capture_output=True)
        ended.replace(folder / f"{name}.crt")
        self.fleet.end(fault.whom, signal.SIGTERM)
        return lambda: self.replaced(fault)

    def certify(self, party):
        """Replaced as a whole: at no moment is there none."""
        folder, name = self.world.papers(party)
        fresh = folder / "fresh.crt"
        must("certs", "sign", folder / f"{name}.csr", "--authority", "ca", "--out", fresh,
             cwd=self.world.folder)
        fresh.replace(folder / f"{name}.crt")

    # To a wire.

    def wire(self, fault):
        return self.world.proxies[fault.whom]

    def partition(self, fault):
        wire = self.wire(fault)
        wire.held = True
        return lambda: setattr(wire, "held", False)

    def cut(self, fault):
        self.wire(fault).cut()

    def delay(self, fault):
        wire = self.wire(fault)
        wire.delay = fault.how
        return lambda: setattr(wire, "delay", 0.0)

    def spoil(self, fault):
        self.wire(fault).spoiling = fault.kind

    lose = duplicate = corrupt = spoil

    # By people.

    def flood(self, fault):
        over = threading.Event()
        papers = {"elsewhere": self.world.folder / "stranger",
                  "uninvited": self.world.folder / "uninvited"}
        stranger = Stranger(self.world.ports[fault.whom[1]], papers, over.is_set, pause=0.005)
        thread = threading.Thread(target=stranger.knock, args=(fault.how,), daemon=True)
        thread.start()

        def stop():
            over.set()
            thread.join(30)
            self.fleet.count("knocks of strangers", stranger.tries)
        return stop

    def hostile_owner(self, fault):
        """With the key of the owner that dials there, which goes on itself."""
        who, door = fault.whom
        call = b"attend" if door == LEARNER else b"talk"
        hostile.hostile_owner(fault.how, self.world.ports[door], *self.world.papers(who),
                              self.world.charter(), call)

    def hostile_learner(self, fault):
        """The wire leads to somebody with the listener's key."""
        wire, right = self.wire(fault), self.world.ports[fault.whom[1]]
        papers, name = self.world.door_papers(fault.whom[1])
        other = hostile.HostileLearner(fault.how, papers, name, self.world.charter())
        wire.target = other.port
        wire.cut()

        def stop():
            wire.target = right
            other.stop()
            wire.cut()
        return stop
