"""The parties of one job of each protocol: who they are, how each is started, what must come out."""

import copy
import json
import shutil
import threading

from agencies import Agencies
from clinics import CLINICS, Clinics
from consortium import OWNERS, Consortium, must
from parley import run
from proxy import Proxy

DEADLINE = 3  # seconds for an answer
WAIT = 60
REPEATS = 40  # of secure sums that may be lost
NETWORK = ("[learner]", f"[network]\ndeadline_s = {DEADLINE}\n[learner]")
LEARNER = "learner"


class World:
    """Owners that dial one learner, each through a proxy of its own."""

    owners, rounds, evaluation = OWNERS, 300, 0
    may_refuse = None  # The wire of an owner that the others can do without.
    result = "model.json"

    def __init__(self, made, folder, wires):
        """A copy of what was made once."""
        shutil.copytree(made.folder, folder, dirs_exist_ok=True, symlinks=True)
        self.consortium = copy.copy(made)
        self.consortium.folder, self.consortium.charter = folder, folder / made.charter.name
        self.folder, self.env = folder, {}
        self.consortium.start = self.start_process
        self.ports = dict.fromkeys(self.listeners(), 0)
        self.proxies = {edge: Proxy(wires) for edge in self.edges()}  # (who dials, whom)

    @classmethod
    def make(cls, folder):
        raise NotImplementedError

    def parties(self):
        return (LEARNER, *self.owners)

    def listeners(self):
        return (LEARNER,)

    def edges(self):
        return [(owner, LEARNER) for owner in self.owners]

    def start_process(self, name, *arguments, **more):
        more["env"] = {**(more.get("env") or {}), **self.env.get(name, {})}
        return type(self.consortium).start(self.consortium, name, *arguments, **more)

    def start(self, name):
        if name != LEARNER:
            return self.consortium.owner(name, self.proxies[name, LEARNER].port, wait=WAIT)
        before = len(self.consortium.log(name))
        action = "resume" if (self.folder / "job" / "journal.pb").exists() else "run"
        process = self.consortium.start_learner(action, self.ports[name], WAIT)
        self.note_port(name, process, before)
        return process

    def note_port(self, name, process, before):
        """The first time: later ones must take the same."""
        if self.ports[name] == 0:
            self.ports[name] = self.consortium.port_of(name, process, before)
            for (_, whom), proxy in self.proxies.items():
                if whom == name:
                    proxy.target = self.ports[name]

    def charter(self):
        """Its hash."""
        return self.consortium.hash

    def papers(self, name):
        """Its folder, and the name in its files."""
        who = "central-bank" if name == LEARNER else name
        return self.folder / who, who

    def door_papers(self, name):
        """Those that a listener shows."""
        return self.papers(name)

    def disk(self, name):
        return self.folder / "job" if name == LEARNER else self.folder / name / "state"

    def jobs(self):
        """Where journals, transcripts and models are."""
        return [self.folder / "job"]

    def progress(self):
        files = [job / "journal.pb" for job in self.jobs()]
        return sum(file.stat().st_size for file in files if file.exists())

    def told(self, name):
        """What its last process wrote on its output."""
        text = self.consortium.output(name)
        return json.loads(text) if text.strip() else None

    def broke_off(self):
        """How often each owner may have paid, if the job has ended without a model, as it may."""
        return None

    def finished(self, running):
        """The learner is last to leave."""
        return running[LEARNER] == 0

    def paid(self, owner):
        """Least and most answers in the ledger of an owner whose answers the transcript counts."""
        return owner["answers"], owner["answers"]

    def all_answers(self, owner):
        return owner["answers"] == self.rounds + self.evaluation


class Sync(World):
    @classmethod
    def make(cls, folder):
        made = Consortium(folder, rows=300, rounds=cls.rounds, rule="algorithm2", epsilon=100,
                          budget=100)
        made.write_charter(replace=[NETWORK])
        return made


class Quorum(World):
    evaluation = 1
    may_refuse = (OWNERS[-1], LEARNER)

    @classmethod
    def make(cls, folder):
        made = Consortium(folder, rows=300, rounds=cls.rounds, rule="constant", epsilon=100,
                          budget=100)
        made.write_charter(replace=[
            ("step   = 1.0", 'step   = 0.2\nstart = "zero"'),
            ("evaluate      = 0.0 ", "evaluate      = 0.1 "),
            (NETWORK[0], NETWORK[1].replace("[network]", "[network]\nquorum = 2"))])
        return made

    def paid(self, owner):
        return owner["answers"], owner["answers"] + 2  # The last answer and the evaluation may be late.

    def all_answers(self, owner):
        return owner["answers"] <= self.rounds + 1


class Async(Quorum):
    may_refuse = None

    @classmethod
    def make(cls, folder):
        made = Consortium(folder, rows=300, epsilon=100, budget=100)
        made.write_async_charter(cls.rounds, cls.rounds, rate=300, deadline=DEADLINE)
        return made


class Federated(World):
    owners, rounds, sync = tuple(CLINICS), 15, False

    @classmethod
    def make(cls, folder):
        return Clinics(folder, cls.rounds, sync=cls.sync, repeats=REPEATS)

    def paid(self, owner):
        return owner["answers"], self.rounds + REPEATS

    def all_answers(self, owner):
        """Also those to sums that were lost."""
        return owner["answers"] <= self.rounds + REPEATS


class SecureSync(Federated):
    sync = True


class Gram(Federated):
    """Of the Gram matrix, the answers and the evaluation each may be repeated."""

    evaluation = 2

    @classmethod
    def make(cls, folder):
        made = Clinics(folder, cls.rounds, sync=True)
        made.write({"name": "sync", "rule": "gram", "rounds": cls.rounds}, {"evaluate": 0.1},
                   {"repeats": REPEATS})
        return made

    def paid(self, owner):
        return owner["answers"], self.rounds + self.evaluation + 3 * REPEATS

    def all_answers(self, owner):
        return owner["answers"] <= self.rounds + self.evaluation + 3 * REPEATS


class Sharing(World):
    rounds, result = 120, "manifest.json"

    @classmethod
    def make(cls, folder):
        return Agencies(folder, rounds=cls.rounds, deadline=DEADLINE)


class Cells(World):
    """Columns without a dealer, the default. Every owner pays once. A test of rows in the middle of
    which an owner was ended counts as failed, and nobody pays; nor does a job go on of which owners
    have not kept the same session, for which some may have paid."""

    rounds, result = 1, "manifest.json"

    def broke_off(self):
        logs = "".join(self.consortium.log(owner) for owner in self.owners)
        return next((most for most, words in enumerate(("broke off before its verdict",
                                                        "have not kept the same session"))
                     if words in logs), None)

    @classmethod
    def make(cls, folder):
        return Agencies(folder, deadline=DEADLINE, rule="statistics", dealer="none")


class Gossip(World):
    """A line of owners without a learner. Of two the later one dials."""

    rounds = 200

    @classmethod
    def make(cls, folder):
        made = Consortium(folder, rows=300, rounds=cls.rounds, rule="algorithm2", epsilon=100,
                          budget=100)
        for owner in OWNERS[:2]:
            made.join(owner, "learner", out=f"{owner}/learner")
        rounds = f"rounds = {cls.rounds}"
        made.write_charter(replace=[
            ("[learner]\n", f"[network]\ndeadline_s = {DEADLINE}\n"), ('name = "central-bank"', ""),
            (rounds, f'{rounds}\ngraph = [["bank-a", "bank-b"], ["bank-b", "bank-c"]]')])
        return made

    def parties(self):
        return OWNERS

    def listeners(self):
        return OWNERS[:2]

    def edges(self):
        return [("bank-b", "bank-a"), ("bank-c", "bank-b")]

    def start(self, name):
        peers = ", ".join(f'{whom} = "127.0.0.1:{proxy.port}"'
                          for (who, whom), proxy in self.proxies.items() if who == name)
        listens = name in self.ports
        self.consortium.write_policy(
            name, accept=f"[network]\npeers = {{ {peers} }}" if peers else "",
            identity='learner = "learner"' if listens else "")
        before = len(self.consortium.log(name))
        process = self.consortium.owner(name, self.ports.get(name), wait=WAIT, how="--listen")
        if listens:
            self.note_port(name, process, before)
        return process

    def door_papers(self, name):
        return self.folder / name / "learner", name

    def jobs(self):
        name = self.charter()[:12]
        return [self.folder / owner / "state" / "jobs" / name for owner in OWNERS]

    def finished(self, running):
        return all(status == 0 for status in running.values())


WORLDS = {"sync": Sync, "quorum": Quorum, "async": Async, "federated": Federated,
          "secure-sync": SecureSync, "gram": Gram, "sharing": Sharing, "cells": Cells, "gossip": Gossip}
_MADE, _LOCK = {}, threading.Lock()


def invite_strangers(made):
    """What they need to be refused, and the charter's hash."""
    must("certs", "init", "banks.example", "--out", "elsewhere", cwd=made.folder)
    made.join("mallory", authority="elsewhere", out="stranger")
    made.join("mallory", out="uninvited")
    hashed = run("--json", "charter", "hash", made.charter)
    made.hash = json.loads(hashed.stdout)["sha256"]


def made_once(protocol, folder):
    """Credentials, data, charter and policies of a protocol, and what strangers need; jobs get copies."""
    with _LOCK:
        if protocol not in _MADE:
            place = folder / protocol
            place.mkdir()
            made = WORLDS[protocol].make(place)
            invite_strangers(made)
            _MADE[protocol] = made
        return _MADE[protocol]
