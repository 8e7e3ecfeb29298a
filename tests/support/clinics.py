"""Ten clinics that train in secure sums, as a consortium of real processes."""

import re
import shutil
import tempfile

from charters import block
from consortium import Consortium, must

CLINICS = [f"clinic-{i}" for i in range(10)]


class Clinics(Consortium):
    """Ten of them, each with 200 records; their papers are made once for all tests."""

    made = None

    def __init__(self, folder, rounds, sync=False, evaluate=0.0, **secure):  # pylint: disable=super-init-not-called
        self.folder, self.sign_keys, self.budget = folder, {}, 4
        self.charter = folder / "job.charter.toml"
        if Clinics.made is None:
            self.make(folder)
            copy = tempfile.TemporaryDirectory()
            shutil.copytree(folder, copy.name, dirs_exist_ok=True)
            Clinics.made = copy, self.sign_keys
        else:
            shutil.copytree(Clinics.made[0].name, folder, dirs_exist_ok=True)
            self.sign_keys = Clinics.made[1]
        local = {"name": "federated", "rounds": rounds, "local_steps": 5, "step": 0.2}
        plain = {"name": "sync", "rule": "constant", "rounds": rounds, "step": 0.2}
        self.write(plain if sync else local,
                   {"max_grad_norm": 2.0, "evaluate": evaluate,
                    **({} if sync else {"max_row_norm": 1.0})}, secure)

    def make(self, folder):
        must("certs", "init", "banks.example", "--out", "ca", cwd=folder)
        self.join("central-bank", "learner")
        for clinic in CLINICS:
            self.join(clinic)
        must("data", "generate", "lending", "--seed", "1", "--out", "data",
             *[word for clinic in CLINICS for word in ("--owner", f"{clinic}=200")], cwd=folder)
        for clinic in CLINICS:
            self.write_policy(clinic)
            policy = folder / clinic / "policy.toml"
            text = re.sub(r"delta = 0.0\npure = .*", "delta = 1e-6", policy.read_text())
            policy.write_text(text)

    def write(self, protocol, privacy, secure):
        self.charter.write_text("\n".join([
            block("[charter]", {"version": 1, "name": "clinics", "consortium": "banks.example"}),
            block("[target]", {"column": "int_rate", "bounds": [5.0, 29.0], "center": 13.25,
                               "scale": 15.75}),
            block("[[column]]", {"name": "pc", "count": 10, "kind": "number",
                                 "bounds": [-40.0, 40.0], "missing": 0.0}),
            block("[model]", {"loss": "squared", "l2": 0.01, "box": 1.0}),
            block("[protocol]", protocol),
            block("[privacy]", privacy),
            block("[secure_aggregation]", secure),
            block("[network]", {"deadline_s": 2}),
            *[block("[[owner]]", {"name": clinic, "rows": 200, "epsilon": 4.0, "delta": 1e-6,
                                  "sign_key": self.sign_keys[clinic]}) for clinic in CLINICS],
            block("[learner]", {"name": "central-bank", "address": "127.0.0.1:7443"})]))
