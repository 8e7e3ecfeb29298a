"""An honest job of three owners under each attack: rounds per second beside those of the same job
undisturbed before and after it, the learner's memory, and how the job ended."""

import contextlib
import functools
import json
import multiprocessing
import pathlib
import re
import resource
import tempfile
import time

import hostile
from consortium import OWNERS, Consortium
from parley import run
from strangers import KINDS, Stranger
from worlds import World, invite_strangers

NETWORKS = 300      # from which one stranger comes, one connection each
LIMIT = 600         # seconds for one job
DESCRIPTORS = 1024  # of the learner
HELD = 1100         # connections of one stranger
CLONED = ("garbage", "nonsense", "forged_answers", "wrong_order", "too_long", "silent", "key_updates")


class Honest(World):
    """As it stands, without proxies."""

    def __init__(self, made, folder):
        super().__init__(made, folder, None)

    def edges(self):
        return []


def knock(kind, port, world, stop, tries):
    papers = {"elsewhere": world.folder / "stranger", "uninvited": world.folder / "uninvited"}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(2 * HELD, hard)), hard))
    hold = NETWORKS - 1 if kind == "many_networks" else HELD
    stranger = Stranger(port, papers, stop.is_set, hold=hold)
    stranger.knock(kind)
    with tries.get_lock():
        tries.value += stranger.tries


def visit(kind, port, world, stop, tries):
    """With a copy of bank-c's key, again and again."""
    while not stop.is_set():
        hostile.hostile_owner(kind, port, *world.papers("bank-c"), world.charter(), stays=0.1)
        with tries.get_lock():
            tries.value += 1


def compute(_, __, ___, stop, tries):
    while not stop.is_set():
        sum(range(10_000))
    tries.value = 0


def attacks():
    """(name, who does it): one process each."""
    strangers = {kind: functools.partial(knock, kind) for kind in KINDS}
    for kind, who in strangers.items():
        yield f"stranger: {kind.replace('_', ' ')}", [who]
    yield "all strangers together", list(strangers.values())
    yield (f"for comparison: {len(KINDS)} programs that only compute, and do not connect",
           [functools.partial(compute, None)] * len(KINDS))
    for kind in CLONED:
        yield f"copy of an owner's key: {kind.replace('_', ' ')}", [functools.partial(visit, kind)]


class Attackers:
    def __init__(self, who, port, world):
        self.stop, self.tries = multiprocessing.Event(), multiprocessing.Value("q", 0)
        self.processes = [multiprocessing.Process(target=each, args=(port, world, self.stop, self.tries),
                                                  daemon=True) for each in who]
        for process in self.processes:
            process.start()
        if who:
            time.sleep(1)

    def end(self):
        self.stop.set()
        for process in self.processes:
            process.join(30)
            process.kill()
        return self.tries.value


def memory_of(process):
    """The most it has had, in kilobytes; 0 if it is gone."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1])
    except (OSError, TypeError):
        return 0


def outcome(world, statuses):
    if any(statuses.values()):
        return f"ended with {statuses}"
    given = [word for owner in OWNERS for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]
    done = run("verify", "job/model.json", "job/transcript.pb.zst", world.consortium.charter, *given,
               cwd=world.folder)
    return "ended, verified" if done.returncode == 0 else "NOT VERIFIED"


def measured(made, place, who):
    """Rounds per second, tries, kilobytes of the learner, and the outcome of one job."""
    with tempfile.TemporaryDirectory(dir=place) as folder, contextlib.ExitStack() as at_the_end:
        world = Honest(made, pathlib.Path(folder))
        job = world.consortium
        learner, port = job.learner()
        at_the_end.callback(learner.kill)
        resource.prlimit(learner.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        attackers = Attackers(who, port, world)
        at_the_end.callback(attackers.end)
        processes = {"learner": learner}
        for owner in OWNERS:
            processes[owner] = job.owner(owner, port)
            at_the_end.callback(processes[owner].kill)
        memory, until = 0, time.monotonic() + LIMIT
        while learner.poll() is None and time.monotonic() < until:
            memory = max(memory, memory_of(learner))
            time.sleep(0.05)
        tries = attackers.end()
        if learner.poll() is None:
            return 0.0, tries, memory, f"HAS NOT ENDED within {LIMIT} s"
        statuses = {name: process.wait(60) for name, process in processes.items()}
        seconds = json.loads(job.output("learner")).get("seconds", LIMIT)
        return made.rounds / seconds, tries, memory, outcome(world, statuses)


def make(place, rounds):
    (place / "made").mkdir()
    made = Consortium(place / "made", rows=1000, rounds=rounds, rule="algorithm2", epsilon=1000,
                      budget=1000)
    invite_strangers(made)
    return made


def table(place, rounds):
    """Prints it; 1 if a job did not end as it must."""
    made, wrong = make(place, rounds), 0
    print(f"An honest job of {rounds} rounds under each attack; `alone` is the mean of the same job "
          f"just before and just after.\nThe learner may have {DESCRIPTORS} descriptors.\n")
    print("| attack | tries | outcome | rounds/s alone | rounds/s under it | of those alone | learner, MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    before = measured(made, place, [])[0]
    for name, who in attacks():
        rate, tries, memory, how = measured(made, place, who)
        after = measured(made, place, [])[0]
        alone, before = (before + after) / 2, after
        print(f"| {name} | {tries or ''} | {how} | {alone:.0f} | {rate:.0f} | {rate / alone:.0%} "
              f"| {memory / 1024:.0f} |", flush=True)
        wrong |= how != "ended, verified"
    return wrong
