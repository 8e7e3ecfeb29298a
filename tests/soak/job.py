"""Plays one plan: starts the parties, lets faults befall them, starts again whoever ended."""

import collections
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import checks
from faults import Faults
from proxy import Wires
from worlds import WORLDS, made_once

LIMIT = 240        # seconds after the last fault within which a job must have ended
RESTARTS_MAX = 200  # of one party
PATIENCE = 8       # seconds that whoever has ended well stays away while others are not done


class Violation(Exception):
    """Something that must never happen."""


class Interrupted(Exception):
    """Somebody wants no more of it."""


class Fleet:
    def __init__(self, plan, folder, templates, stopped):
        self.plan, self.stopped = plan, stopped
        self.counts, self.exits = collections.Counter(), collections.defaultdict(list)
        self.mounts, self.processes, self.mending = [], {}, []
        self.logged = {}  # how long each log was when its process began
        self.wires = Wires()
        world = WORLDS[plan.protocol]
        self.world = world(made_once(plan.protocol, templates), folder, self.wires)
        self.faults = Faults(self)
        self.restarts, self.ended_at = collections.Counter(), {}

    def count(self, what, more=1):
        self.counts[what] += more

    # Processes.

    def start(self, name):
        self.logged[name] = len(self.world.consortium.log(name))
        self.processes[name] = self.world.start(name)

    def end(self, name, how):
        """Told to end, or killed, unless it has ended; look() starts it again."""
        process = self.processes[name]
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(how)
            if self.status(process, 60) == -how:
                self.count("killed")
                self.start(name)

    def status(self, process, seconds):
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            name = next(n for n, p in self.processes.items() if p is process)
            raise Violation(f"{name} has not ended {seconds} s after it was told to") from None

    def look(self):
        """Mends what is due and starts again whoever ended before the job did."""
        if self.stopped.is_set():
            raise Interrupted
        now = time.monotonic()
        for due in [each for each in self.mending if each[0] <= now]:
            self.mending.remove(due)
            due[1]()
        for name, process in list(self.processes.items()):
            if process.poll() is not None and not self.over():
                self.ended(name, process.returncode, now)

    def ended(self, name, code, now):
        if name not in self.ended_at:
            self.ended_at[name] = now
            self.exits[name].append(code)
            checks.exit_is_clear(self, name, code)
        wait = PATIENCE if code == 0 else 0.3
        if now - self.ended_at[name] >= wait:
            del self.ended_at[name]
            self.restarts[name] += 1
            if self.restarts[name] > RESTARTS_MAX:
                raise Violation(f"{name} ended {RESTARTS_MAX} times")
            self.start(name)

    def over(self):
        return self.world.broke_off() is not None or self.world.finished({name: p.poll() for name, p in self.processes.items()})

    # The plan.

    def play(self):
        for name in self.world.parties():
            self.start(name)
        for fault in self.plan.faults:
            self.wait_for(fault)
            if self.over():
                self.count("faults that came too late")
                continue
            mend = self.faults.begin(fault)
            self.count(fault.kind)
            if mend is not None:
                self.mending.append((time.monotonic() + fault.lasts, mend))
        self.finish()

    def wait_for(self, fault):
        enough, until = self.world.progress() + fault.after, time.monotonic() + fault.patience
        while self.world.progress() < enough and time.monotonic() < until:
            self.look()
            time.sleep(0.01)

    def finish(self):
        while self.mending:
            self.look()
            time.sleep(0.02)
        until = time.monotonic() + LIMIT
        while not self.over():
            self.look()
            if time.monotonic() > until:
                raise Violation(f"has not ended {LIMIT} s after the last fault was mended")
            time.sleep(0.02)
        self.send_home()

    def send_home(self):
        """Owners that came back too late to hear of the end would wait for their learner."""
        until = time.monotonic() + 2
        while time.monotonic() < until and any(p.poll() is None for p in self.processes.values()):
            time.sleep(0.02)
        for name, process in self.processes.items():
            if process.poll() is None:
                process.terminate()
            code = self.status(process, 60)
            if name not in self.ended_at:
                self.exits[name].append(code)
                checks.exit_is_clear(self, name, code)

    def close(self):
        with contextlib.suppress(Exception):
            for _, mend in self.mending:
                mend()
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()
        self.wires.close()
        for place in self.mounts:
            subprocess.run(["umount", "--lazy", place], check=False)


def last_lines(world):
    return "".join(f"\n    {name}: {line}" for name in world.parties()
                   for line in world.consortium.log(name).splitlines()[-4:])


def play(plan, folder, templates, stopped):
    """Counts, what was violated (None if nothing), and seconds."""
    began, violation = time.monotonic(), None
    with tempfile.TemporaryDirectory(prefix=f"{plan.seed}-", dir=folder,
                                     ignore_cleanup_errors=True) as place:
        fleet = Fleet(plan, pathlib.Path(place), templates, stopped)
        try:
            fleet.play()
            checks.all_of(fleet)
        except (Violation, AssertionError) as found:
            violation = f"{found}{last_lines(fleet.world)}"
            if os.environ.get("PARLEY_SOAK_KEEP"):
                shutil.copytree(place, f"{os.environ['PARLEY_SOAK_KEEP']}/{plan.seed}", symlinks=True)
        finally:
            fleet.close()
    return fleet.counts, violation, time.monotonic() - began
