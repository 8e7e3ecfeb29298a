"""Agencies with different columns of the same people, as a consortium of real processes."""

import csv
import random

from charters import block, category, number
from consortium import OWNERS, Consortium, must

RECORDS = 120


class Agencies(Consortium):
    """The papers of a consortium; its owners hold different columns of the same people."""

    def __init__(self, folder, rounds=4, epsilon=1000, deadline=30, rule="gradients", owners=OWNERS,
                 dealer="learner"):
        self.folder, self.rounds, self.epsilon, self.deadline = folder, rounds, epsilon, deadline
        self.rule, self.owners, self.dealer = rule, owners, dealer
        must("certs", "init", "banks.example", "--out", "ca", cwd=folder)
        self.sign_keys = {}
        self.join("central-bank", "learner")
        for owner in self.owners:
            self.join(owner)
        self.charter = folder / "job.charter.toml"
        (folder / "data").mkdir()
        self.write_charter()
        self.write_data()
        for owner in self.owners:
            self.write_policy(owner)

    def write_charter(self, file=None, **changes):
        columns = {"bank-a": [number("bank-a-x", -1, 1, 0, owner="bank-a"),
                              number("bank-a-y", -1, 1, 0, owner="bank-a")],
                   "bank-b": [number("bank-b-x", -1, 1, 0, owner="bank-b"),
                              category("bank-b-home", ["own", "rent"], owner="bank-b")],
                   "bank-c": [number("bank-c-x", -1, 1, 0, owner="bank-c"),
                              number("bank-c-same", 0, 1, 0, owner="bank-c")]}
        names = {"bank-a": ["bank-a-x", "bank-a-y"], "bank-b": ["bank-b-x", "bank-b-home"],
                 "bank-c": ["bank-c-x", "bank-c-same"]}
        text = "\n".join([
            block("[charter]", {"version": 1, "name": "columns", "consortium": "banks.example"}),
            block("[records]", {"id": "person", "count": RECORDS}),
            block("[target]", {"owner": "bank-b", "column": "income", "levels": ["low", "high"]}),
            *[column for owner in self.owners for column in columns[owner]],
            block("[model]", {"loss": "squared", "l2": 0.01, "bias": True, "box": 4.0}),
            block("[protocol]", {"name": "sharing", "rule": self.rule, **self.steps()}),
            block("[privacy]", {"delta": 1e-5, **self.norm(1.0), **self.calibration()}),
            *[block("[[owner]]", {"name": owner, "epsilon": float(self.epsilon),
                                  "columns": names[owner], **self.norm(0.57),
                                  "sign_key": self.sign_keys[owner]}) for owner in self.owners],
            block("[learner]", {"name": "central-bank", "address": "127.0.0.1:1"}),
            block("[network]", {"deadline_s": self.deadline})])
        for old, new in changes.get("replace", []):
            assert old in text, old
            text = text.replace(old, new)
        (file or self.charter).write_text(text)

    def norm(self, value):
        return {"max_row_norm": value} if self.dealer == "learner" else {}

    def steps(self):
        if self.rule == "statistics":
            return {"rounds": 1, "dealer": self.dealer}
        if self.rule == "admm":
            return {"rounds": self.rounds, "step": 1.0}
        steps = {"rounds": self.rounds, "step": 1.0}
        if self.rule == "gradients":
            steps |= {"momentum": 0.5, "dealer": self.dealer}
        return {**steps, "model_ball": 4.0} if self.dealer == "learner" else steps

    def calibration(self):
        return {"calibration": "paper"} if self.rule == "admm" else {}

    def write_data(self, seed=1):
        """Every owner's file in an order of its own."""
        luck = random.Random(seed)
        people = []
        for i in range(RECORDS):
            x = [luck.uniform(-1, 1) for _ in range(3)]
            people.append({
                "person": f"p{i:04d}", "bank-a-x": x[0], "bank-a-y": luck.uniform(-1, 1),
                "bank-b-x": x[1], "bank-b-home": luck.choice(["own", "rent"]),
                "income": "high" if sum(x) > 0 else "low", "bank-c-x": x[2], "bank-c-same": 1})
        self.people = people
        for owner in self.owners:
            mine = [p for p in people]
            luck.shuffle(mine)
            self.write_rows(owner, mine)

    def write_rows(self, owner, people):
        wanted = ["person", *[k for k in self.people[0] if k.startswith(owner)]]
        if owner == "bank-b":
            wanted.append("income")
        with open(self.folder / "data" / f"{owner}.csv", "w", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, wanted, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(people)

    def write_policy(self, owner, **_):
        (self.folder / owner / "state").mkdir(exist_ok=True)
        (self.folder / owner / "policy.toml").write_text("\n".join([
            block("[owner]", {"name": owner, "state": "state", "charters": "charters"}),
            block("[identity]", {"consortium": "banks.example", "certificate": f"{owner}.crt",
                                 "key": f"{owner}.key", "authority": "authority.crt",
                                 "members": "../ca/members.pem",
                                 "sign_key": f"{owner}.sign"}),
            block("[[dataset]]", {"name": "people", "source": "csv",
                                  "path": f"../data/{owner}.csv"}),
            block("[dataset.budget]", {"epsilon": 2000.0, "delta": 1e-5}),
            block("[[accept]]", {"consortium": "banks.example", "dataset": "people",
                                 "protocol": ["sharing"], "dealer": "learner", "epsilon_max": 2000.0, "person": False})]))

    def part(self, owner):
        return next((self.folder / owner / "state" / "models").glob("*/part.json"))
