"""What this machine computes is, to the byte, what an aarch64 computes: compare.py HERE THERE SYSROOT

HERE and THERE are build folders with `parley` and `parley_bits`; what is in THERE runs under an emulator, with the
libraries in SYSROOT. Compared are the lines of bits.cc, and of whole simulated jobs the model, every owner's chain of
charges, and all that is printed.
"""

import difflib
import hashlib
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/support"))
from charters import block, category, number  # noqa: E402  pylint: disable=wrong-import-position

OWNERS = {"bank-a": 300, "bank-b": 250, "bank-c": 200}
PEOPLE = 120


def records(name, count):
    """The text of a file of so many records."""
    numbers = random.Random(name)
    lines = ["id,x0,x1,x2,x3,kind,y,class"]
    for i in range(count):
        x = [numbers.gauss(0, 1) for _ in range(4)]
        kind = numbers.choice(("red", "green", "blue"))
        y = x[0] - 0.5 * x[1] + (kind == "red") + numbers.gauss(0, 0.3)
        lines.append(f"{i},{','.join(f'{v:.6f}' for v in x)},{kind},{y:.6f},{'yes' if y > 0 else 'no'}")
    return "\n".join(lines) + "\n"


def write_records(folder, text):
    """Of all owners, or of the same people where owners hold columns; and public ones."""
    for name, count in OWNERS.items():
        same = "[records]" in text
        (folder / f"{name}.csv").write_text(records("people", PEOPLE) if same else records(name, count))
    (folder / "pilot.csv").write_text(records("pilot", 500))


def charter(protocol, loss="squared", privacy=None, owner=None, more=""):
    """A job of the three owners on these records."""
    classes = loss in ("logistic", "hinge")
    target = {"column": "class", "levels": ["no", "yes"]} if classes else {"column": "y", "bounds": [-4.0, 4.0], "scale": 4.0}
    return "\n".join([
        block("[charter]", {"version": 1, "name": "bits", "consortium": "banks.example"}),
        block("[target]", target),
        *[number(f"x{i}", -3.0, 3.0, 0.0) for i in range(4)], category("kind", ["red", "green"], other=True, encode="one_hot"),
        block("[model]", {"loss": loss, "l2": 0.001, "bias": True, "box": 4.0}),
        block("[protocol]", protocol),
        block("[privacy]", privacy or {}),
        more,
        *[block("[[owner]]", {"name": name, "rows": rows, "epsilon": 4.0, **(owner or {})}) for name, rows in OWNERS.items()],
        block("[learner]", {"name": "learner"})])


def columns(rule):
    """A job of two owners that hold different columns of the same people."""
    names = {"bank-a": ["x0", "x1"], "bank-b": ["x2", "x3"]}
    return "\n".join([
        block("[charter]", {"version": 1, "name": "bits", "consortium": "banks.example"}),
        block("[records]", {"id": "id", "count": PEOPLE}),
        block("[target]", {"owner": "bank-a", "column": "y", "bounds": [-4.0, 4.0], "scale": 4.0}),
        *[number(name, -3.0, 3.0, 0.0, owner=owner) for owner, mine in names.items() for name in mine],
        block("[model]", {"loss": "squared", "l2": 0.01, "box": 4.0}),
        block("[protocol]", {"name": "sharing", "rule": rule, "rounds": 5, "step": 0.5, "model_ball": 4.0}),
        block("[privacy]", {"mechanism": "gaussian", "max_row_norm": 1.0, "delta": 1e-5}),
        *[block("[[owner]]", {"name": owner, "columns": mine, "max_row_norm": 0.7, "epsilon": 5.0}) for owner, mine in names.items()],
        block("[learner]", {"name": "learner"})])


PILOT = block("[pilot]", {"file": "pilot.csv", "sha256": hashlib.sha256(records("pilot", 500).encode()).hexdigest(), "rows": 500})
CLIP = {"max_grad_norm": 4.0}
GAUSSIAN = {"mechanism": "gaussian", **CLIP}
DELTA = {"delta": 1e-6}
SECURE = block("[secure_aggregation]", {"threshold": 2, "survivors": 3, "colluders": 1})
JOBS = {
    "laplace, squared": charter({"name": "sync", "rule": "constant", "rounds": 20, "step": 0.2}, "squared", CLIP),
    "laplace, logistic, evaluated": charter({"name": "sync", "rule": "strongly_convex", "rounds": 10, "step": 1.0}, "logistic",
                                            {"evaluate": 0.1, **CLIP}),
    "gaussian, huber": charter({"name": "sync", "rule": "algorithm2", "rounds": 10, "step": 0.01}, "huber", GAUSSIAN, DELTA),
    "gaussian, hinge": charter({"name": "sync", "rule": "constant", "rounds": 10, "step": 0.2}, "hinge", GAUSSIAN, DELTA),
    "statistics": charter({"name": "sync", "rule": "statistics", "rounds": 1}, "squared",
                          {"mechanism": "gaussian", "max_row_norm": 4.0}, DELTA),
    "gram": charter({"name": "sync", "rule": "gram", "rounds": 5}, "squared", {"mechanism": "gaussian", "max_row_norm": 4.0}, DELTA),
    "async": charter({"name": "async", "rounds": 60, "answers": 30, "step": 0.01}, "squared", CLIP),
    "secure sums, gaussian": charter({"name": "sync", "rule": "constant", "rounds": 10, "step": 0.2}, "squared", GAUSSIAN, DELTA,
                                     SECURE),
    "secure sums, skellam": charter({"name": "sync", "rule": "constant", "rounds": 10, "step": 0.2}, "logistic",
                                    {"mechanism": "skellam", **CLIP}, DELTA, SECURE),
    "federated": charter({"name": "federated", "rounds": 8, "local_steps": 5, "step": 0.2}, "logistic",
                         {"max_row_norm": 1.0, "mechanism": "gaussian"}, DELTA, SECURE),
    "pilot_newton": charter({"name": "sync", "rule": "pilot_newton", "rounds": 4, "step": 0.5}, "squared", CLIP, more=PILOT),
    "distance": charter({"name": "sync", "rule": "distance", "rounds": 1}, "squared", GAUSSIAN, DELTA, PILOT),
    "columns, gradients": columns("gradients"),
    "columns, noisy lists": columns("noisy_sharing"),
}


def run(command, folder):
    done = subprocess.run([str(part) for part in command], cwd=folder, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def answers(ledger):
    """What was charged and answered. A chain begins with a random key, so its hashes differ from run to run."""
    with sqlite3.connect(ledger) as rows:
        found = rows.execute("select id, at, kind, round, hex(query), event, track, cost, delta, answer from charge "
                             "where kind != 'budget' order by id")
        return "\n".join(f"{row[:-1]} {row[-1].hex()}" for row in found)


class Machine:
    """A processor: the programs built for it, and what runs them."""

    def __init__(self, build, *emulator):
        self.build, self.emulator = pathlib.Path(build).resolve(), emulator

    def run(self, program, *arguments, folder):
        return run([*self.emulator, self.build / program, *arguments], folder)

    def train(self, text, folder):
        """What it makes of a job, by name."""
        folder.mkdir()
        (folder / "job.charter.toml").write_text(text)
        write_records(folder, text)
        printed = self.run("parley", "--quiet", "simulate", "job.charter.toml", "--data", ".", "--seed", "29", "--held-out", "0",
                           "--out", "out", folder=folder)
        found = {"what is printed": printed}
        for file in sorted((folder / "out").rglob("*.json")):
            found[str(file.relative_to(folder / "out"))] = file.read_text()
        for ledger in sorted((folder / "out/simulated").glob("*/ledger.db")):
            self.run("parley", "ledger", "verify", ledger, folder=folder)
            found[f"answers of {ledger.parent.name}"] = answers(ledger)
        return found


def compare(name, here, there):
    """How many of the results of that name differ; says so."""
    assert here.keys() == there.keys(), (name, here.keys(), there.keys())
    different = [key for key in here if here[key] != there[key]]
    print(f"{name}: {len(here) - len(different)} the same" + "".join(f"; {key} DIFFERS" for key in different), flush=True)
    for key in different:
        lines = difflib.unified_diff(here[key].splitlines(), there[key].splitlines(), "here", "aarch64", lineterm="", n=0)
        print("\n".join(f"    {line[:200]}" for line in list(lines)[:24]))
    return len(different)


def main():
    build, other, sysroot = sys.argv[1:]
    machines = {"here": Machine(build), "aarch64": Machine(other, "qemu-aarch64", "-L", sysroot)}
    different = 0
    with tempfile.TemporaryDirectory() as scratch:
        bits = [machine.run("parley_bits", folder=scratch) for machine in machines.values()]
        groups = [{line.rsplit(" ", 1)[0] if " at " in line else line.split(": ")[0]: line for line in text.splitlines()}
                  for text in bits]
        different += compare("sums, noise, prices", *groups)
        for number, (name, text) in enumerate(JOBS.items()):
            done = [machine.train(text, pathlib.Path(scratch) / f"{number}-{place}") for place, machine in machines.items()]
            different += compare(name, *done)
    print(f"{different} results differ" if different else "the same on both processors")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
