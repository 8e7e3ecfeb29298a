"""A consortium on this machine: papers, policies, data and a charter, and its real processes."""

import os
import pathlib
import re
import subprocess
import time

from parley import BINARY, EXAMPLE, run

OWNERS = ("bank-a", "bank-b", "bank-c")
SEEDED_OWNER = os.environ.get("PARLEY_SEEDED_OWNER")  # the owner of the tests, whose noise replays


def must(*arguments, cwd=None):
    done = run(*arguments, cwd=cwd)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
    return done


class Consortium:
    def __init__(self, folder, rows=2000, rounds=3, rule="pilot_newton", epsilon=1, budget=4):
        self.folder = pathlib.Path(folder)
        self.rows, self.rounds, self.rule, self.epsilon = rows, rounds, rule, epsilon
        self.budget = budget
        must("certs", "init", "banks.example", "--out", "ca", cwd=self.folder)
        self.sign_keys = {}
        self.join("central-bank", "learner")
        for owner in OWNERS:
            self.join(owner)
        must("data", "generate", "lending", "--seed", "1", "--pilot", "2000", "--out", "data",
             *[word for owner in OWNERS for word in ("--owner", f"{owner}={rows}")],
             cwd=self.folder)
        self.charter = self.folder / "job.charter.toml"
        self.write_charter()
        for owner in OWNERS:
            self.write_policy(owner)

    def join(self, name, role="owner", authority="ca", out=None):
        """Credentials in a folder of that name."""
        out = out or name
        done = must("join", f"{authority}/banks.example.join", "--name", name, "--role", role,
                    "--out", out, cwd=self.folder)
        must("certs", "sign", f"{out}/{name}.csr", "--authority", authority, cwd=self.folder)
        if role == "owner":
            self.sign_keys[name] = re.search(r'sign_key = "(ed25519:[^"]+)"', done.stdout)[1]

    def write_charter(self, file=None, **changes):
        """The example's charter with keys, fewer rows and rounds; the pilot is ours."""
        text = EXAMPLE.read_text()
        pilot = self.folder / "data" / "pilot.csv"
        digest = subprocess.run(["sha256sum", pilot], text=True, capture_output=True,
                                check=True).stdout.split()[0]
        text = re.sub(r'sha256 *= "[0-9a-f]{64}"', f'sha256 = "{digest}"', text)
        text = re.sub(r'file *= "[^"]*"', 'file = "data/pilot.csv"', text)
        text = re.sub(r"(\[pilot\][^\[]*rows *= )\d+", r"\g<1>2000", text)
        text = re.sub(r"rows     = 100000", f"rows     = {self.rows}", text)
        text = re.sub(r"epsilon  = 1.0", f"epsilon  = {self.epsilon}", text)
        text = text.replace("rounds = 3", f"rounds = {self.rounds}")
        text = text.replace('rule   = "pilot_newton"', f'rule   = "{self.rule}"')
        for owner in OWNERS:
            text = text.replace(f'name     = "{owner}"',
                                f'name     = "{owner}"\nsign_key = "{self.sign_keys[owner]}"')
        for old, new in changes.get("replace", []):
            assert old in text, old
            text = text.replace(old, new)
        (file or self.charter).write_text(text)

    def write_async_charter(self, rounds, answers, rate, contact="owner_requests", evaluate=0.1,
                            deadline=60):
        """An asynchronous job, each owner with its own clock of that many ticks a second."""
        asynchronous = [
            ('name   = "sync"', 'name   = "async"\nrates  = "declared"'),
            (f'rule   = "{self.rule}"', f'contact = "{contact}"'),
            (f"rounds = {self.rounds}", f"rounds = {rounds}\nanswers = {answers}"),
            ("step   = 1.0", "step   = 0.1"),
            ("evaluate      = 0.0 ", f"evaluate      = {evaluate} "),
            ("[learner]", f"[network]\ndeadline_s = {deadline}\n[learner]"),
            (f"epsilon  = {self.epsilon}", f"epsilon  = {self.epsilon}\nrate = {rate}")]
        self.write_charter(replace=asynchronous)

    def write_policy(self, owner, **changes):
        extra = changes.get("accept", "")
        (self.folder / owner / "state").mkdir(exist_ok=True)
        (self.folder / owner / "policy.toml").write_text(f"""
[owner]
name = "{owner}"
state = "state"
charters = "charters"
[identity]
consortium = "banks.example"
certificate = "{changes.get('certificate', owner + '.crt')}"
key = "{changes.get('key', owner + '.key')}"
authority = "{changes.get('authority', 'authority.crt')}"
members = "{changes.get('members', '../ca/members.pem')}"
{changes.get('identity', '')}
sign_key = "{changes.get('sign_key', owner + '.sign')}"
[[dataset]]
name = "loans"
source = "csv"
path = "../data/{owner}.csv"
[dataset.budget]
epsilon = {self.budget}
delta = 0.0
pure = {self.budget}
[[accept]]
consortium = "banks.example"
dataset = "loans"
epsilon_max = {self.budget}
person = false
{extra}
""")

    # Processes. Each writes its log to a file of its own.

    def start(self, name, *arguments, binary=None, env=None):
        with open(self.folder / f"{name}.log", "a", encoding="utf8") as log, \
             open(self.folder / f"{name}.out", "w", encoding="utf8") as out:
            return subprocess.Popen([binary or BINARY, *map(str, arguments)], cwd=self.folder,
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                                    env={**os.environ, **(env or {})})

    def log(self, name):
        file = self.folder / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def output(self, name):
        return (self.folder / f"{name}.out").read_text()

    def learner(self, action="run", port=0, wait=60, *more, name="learner", **which):
        """Starts the learner; returns it and its port."""
        before = len(self.log(name))
        process = self.start_learner(action, port, wait, *more, name=name, **which)
        return process, self.port_of(name, process, before)

    def start_learner(self, action, port, wait, *more, name="learner", identity="central-bank",
                      out="job"):
        return self.start(name, "--quiet", "--json", "learner", action, self.charter, "--identity",
                          identity, "--listen", f"127.0.0.1:{port}", "--out", out, "--wait", wait,
                          *more)

    def port_of(self, name, process, before=0):
        """Where a process listens, by its log."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            found = re.search(r"listening on port (\d+)", self.log(name)[before:])
            if found:
                return int(found[1])
            if process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"{name} does not listen: {self.log(name)}")

    def owner(self, owner, port=None, seed=None, wait=60, how="--dial"):
        """Without a port it dials whom its policy names; with --listen neighbours dial it there."""
        where = [] if port is None else [how, f"127.0.0.1:{port}"]
        arguments = ["--quiet", "--json", "owner", "run", f"{owner}/policy.toml", self.charter, *where,
                     "--wait", wait]
        if seed is None:
            return self.start(owner, *arguments)
        return self.start(owner, f"{owner}/policy.toml", self.charter, (where or ["", ""])[1], seed,
                          binary=SEEDED_OWNER)
