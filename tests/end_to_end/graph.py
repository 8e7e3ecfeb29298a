"""Learning without a learner, over the network: owners joined by a graph pass signed answers on."""

import json
import random
import signal
import socket
import subprocess
import time

from consortium import OWNERS, Consortium, must
from parley import InFolder, main

LINE = '[["bank-a", "bank-b"], ["bank-b", "bank-c"]]'
TRIANGLE = '[["bank-a", "bank-b"], ["bank-b", "bank-c"], ["bank-a", "bank-c"]]'
NOBODY = [("[learner]\n", "[network]\ndeadline_s = 5\n"), ('name = "central-bank"', "")]


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


class Graph(InFolder):
    def consortium(self, graph, *replace, **more):
        consortium = Consortium(self.folder, **more)
        for owner in OWNERS[:2]:  # The last one is dialled by nobody, and needs no port.
            consortium.join(owner, "learner", out=f"{owner}/learner")
        rounds = f"rounds = {consortium.rounds}"
        consortium.write_charter(replace=[*NOBODY, (rounds, f"{rounds}\ngraph = {graph}"), *replace])
        self.ports = {}
        return consortium

    def start(self, consortium, owner, seed=None):
        """One owner; it knows where those before it listen."""
        peers = ", ".join(f'{name} = "127.0.0.1:{port}"' for name, port in self.ports.items()
                          if name < owner)
        listens = owner != OWNERS[-1]
        consortium.write_policy(owner, accept=f"[network]\npeers = {{ {peers} }}" if peers else "",
                                identity='learner = "learner"' if listens else "")
        before = len(consortium.log(owner))
        process = consortium.owner(owner, self.ports.get(owner, 0) if listens else None, seed=seed,
                                   how="--listen")
        if listens:
            self.ports[owner] = consortium.port_of(owner, process, before)
        return process

    def job(self, consortium, owner):
        name = self.json("charter", "hash", consortium.charter)["sha256"][:12]
        return self.folder / owner / "state" / "jobs" / name

    def verified(self, consortium):
        """Every owner's own model, from its own transcript; all are the same."""
        ledgers = [word for owner in OWNERS
                   for word in ("--ledger", f"{owner}={owner}/state/ledger.db")]
        models = []
        for owner in OWNERS:
            job = self.job(consortium, owner)
            done = self.json("verify", job / "model.json", job / "transcript.pb.zst",
                             consortium.charter, *ledgers)
            self.assertTrue(done["verified"] and done["recomputed"])
            models.append(json.loads((job / "model.json").read_text()))
        for model in models:
            self.assertEqual(model["model"]["theta"], models[0]["model"]["theta"])
        return models[0]

    def all_end_well(self, consortium, owners):
        for name, owner in owners.items():
            self.assertEqual(owner.wait(120), 0, f"{name} did not end well; the logs of all:\n" + "\n".join(
                f"--- {each}\n{consortium.log(each)}" for each in owners))

    def test_all_come_to_the_simulated_model_whatever_the_graph(self):
        for graph in (LINE, TRIANGLE):
            with self.subTest(graph):
                consortium = self.consortium(graph, ("evaluate      = 0.0 ", "evaluate      = 0.1 "))
                self.parley("simulate", consortium.charter, "--data", "data", "--seed", "5", "--out",
                            "sim")
                owners = {owner: self.start(consortium, owner, seed=5) for owner in OWNERS}
                self.all_end_well(consortium, owners)
                model = self.verified(consortium)
                simulated = json.loads((self.folder / "sim" / "model.json").read_text())
                self.assertEqual(model["model"]["theta"], simulated["model"]["theta"])
                self.assertEqual(model["evaluation"], simulated["evaluation"])
                for card in model["privacy_card"]["owners"]:
                    self.assertLessEqual(card["epsilon"], 1)
                self.assertIn("nobody coordinates", self.parley(
                    "learner", "run", consortium.charter, "--identity", "bank-a/learner",
                    expect=2).stderr)
                self.setUp()

    def test_owners_that_are_killed_come_back_and_all_finish_with_one_model(self):
        consortium = self.consortium(LINE, ('"pilot_newton"', '"algorithm2"'), rows=500, rounds=1500,
                                     epsilon=100, budget=100)
        owners = {owner: self.start(consortium, owner) for owner in OWNERS}
        seed = random.randrange(10**6)
        chance = random.Random(seed)
        journal = self.job(consortium, "bank-b") / "journal.pb"
        sizes = set()
        for _ in range(12):
            until = time.monotonic() + 5
            enough = (journal.stat().st_size if journal.exists() else 0) + chance.randrange(60_000)
            while time.monotonic() < until and not (
                    journal.exists() and journal.stat().st_size > enough):
                time.sleep(0.005)
            sizes.add(journal.stat().st_size)
            name = chance.choice(OWNERS)
            self.assertIsNone(owners[name].poll(), f"seed {seed}: {name}: {consortium.log(name)}")
            owners[name].send_signal(signal.SIGKILL)
            owners[name].wait()
            owners[name] = self.start(consortium, name)
        self.all_end_well(consortium, owners)
        self.assertGreater(len(sizes), 4, f"seed {seed}: hardly a kill met a round")
        self.verified(consortium)
        for owner in OWNERS:
            rows = self.json("ledger", "verify", f"{owner}/state/ledger.db")["rows"]
            self.assertEqual(rows, 1 + 1500, f"seed {seed}: nobody pays twice")

    def test_owners_in_two_jobs_at_once_are_killed_and_finish_both(self):
        first = self.consortium(LINE, ('"pilot_newton"', '"algorithm2"'), rows=500, rounds=400,
                                epsilon=50, budget=100)
        charters = []
        for title in ("one", "other"):  # Every job has doors of its own, as the charter says.
            text = first.charter.read_text().replace('"three-banks-rates"', f'"{title}"')
            for owner in OWNERS[:2]:
                name = f'name     = "{owner}"\n'
                self.assertIn(name, text)
                text = text.replace(name, f'{name}address = "127.0.0.1:{free_port()}"\n')
            charters.append(self.folder / f"{title}.charter.toml")
            charters[-1].write_text(text)
        for owner in OWNERS:
            first.write_policy(owner, identity='learner = "learner"' if owner != OWNERS[-1] else "")
        start = lambda owner: first.start(owner, "--quiet", "owner", "run", f"{owner}/policy.toml",
                                          *charters, "--wait", 60)
        owners = {owner: start(owner) for owner in OWNERS}
        for name, size in (("bank-c", 10_000), ("bank-b", 20_000)):
            for first.charter in charters:
                journal = self.job(first, name) / "journal.pb"
                while not journal.exists() or journal.stat().st_size < size:
                    self.assertIsNone(owners[name].poll(), first.log(name))
                    time.sleep(0.005)
            owners[name].kill()
            owners[name].wait()
            owners[name] = start(name)
        self.all_end_well(first, owners)
        for first.charter in charters:
            self.verified(first)
        for owner in OWNERS:
            self.assertNotIn("cannot keep", first.log(owner))
            rows = self.json("ledger", "verify", f"{owner}/state/ledger.db")["rows"]
            self.assertEqual(rows, 1 + 2 * 400, "nobody pays twice")

    def test_an_owner_with_an_older_ledger_is_shown_its_receipt_and_stops(self):
        consortium = self.consortium(LINE, ('"pilot_newton"', '"algorithm2"'), rows=500, rounds=3000,
                                     epsilon=100, budget=100)
        owners = {owner: self.start(consortium, owner) for owner in OWNERS}
        ledger = self.folder / "bank-c" / "state" / "ledger.db"
        journal = self.job(consortium, "bank-c") / "journal.pb"
        while not journal.exists() or journal.stat().st_size < 20_000:
            time.sleep(0.005)
        owners["bank-c"].kill()
        owners["bank-c"].wait()
        for file in ledger.parent.glob("ledger.db*"):  # As old as can be.
            file.unlink()
        for journal_is_lost in (False, True):
            if journal_is_lost:
                journal.unlink()
            owner = self.start(consortium, "bank-c")
            self.assertEqual(owner.wait(60), 5, consortium.log("bank-c"))
            rows = self.json("ledger", "show", ledger)["rows"]
            self.assertNotIn("answer", [row["kind"] for row in rows], "nothing is paid afresh")
        for owner in OWNERS[:2]:
            self.assertIsNone(owners[owner].poll(), "the others wait for its right ledger")
            owners[owner].send_signal(signal.SIGTERM)
            self.assertEqual(owners[owner].wait(60), 4)

    def test_an_owner_that_cannot_pay_refuses_before_anything_is_begun(self):
        consortium = self.consortium(LINE, epsilon=1, budget=4)
        owners = {owner: self.start(consortium, owner) for owner in OWNERS[:2]}
        consortium.budget = 0.5  # bank-c's purse is too small for the charter
        last = self.start(consortium, "bank-c")
        self.assertEqual(last.wait(60), 3, consortium.log("bank-c"))
        for owner in owners.values():
            owner.send_signal(signal.SIGTERM)
            self.assertEqual(owner.wait(60), 4, "nothing was begun")

    def knock(self, port, papers=None, name=None):
        shown = [] if papers is None else ["-cert", f"{papers}/{name}.crt", "-key",
                                           f"{papers}/{name}.key"]
        subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-alpn",
                        "parley/2", *shown], cwd=self.folder, input=b"hello", capture_output=True,
                       timeout=60, check=False)

    def test_strangers_at_an_owners_port_are_refused_as_at_a_learners(self):
        consortium = self.consortium(LINE)
        must("certs", "init", "banks.example", "--out", "elsewhere", cwd=self.folder)
        consortium.join("mallory", authority="elsewhere")
        owners = {"bank-a": self.start(consortium, "bank-a")}
        port = self.ports["bank-a"]
        for reason, come in (
                ("it showed no certificate", lambda: self.knock(port)),
                ("its certificate is not from this consortium's authority",
                 lambda: self.knock(port, "mallory", "mallory")),
                ("it does not speak TLS", lambda: self.shout(port))):
            come()
            self.says(consortium, "bank-a", ": " + reason)
        # A member of the consortium, and even of the charter, that is no neighbour.
        consortium.write_policy("bank-c", accept=f'[network]\npeers = {{ bank-b = "127.0.0.1:{port}" }}')
        wrong = consortium.owner("bank-c")
        self.assertEqual(wrong.wait(60), 5, consortium.log("bank-c"))
        self.assertIn("not parley://banks.example/learner/bank-b", consortium.log("bank-c"))
        attending = self.folder / "other.charter.toml"
        consortium.write_charter(attending, replace=[('name = "central-bank"', 'name = "bank-a"'), (
            "rounds = 3", 'rounds = 3\nowner_learner = "own_noise"')])
        other = consortium.start("bank-c", "owner", "run", "bank-c/policy.toml", attending, "--dial",
                                 f"127.0.0.1:{port}", "--wait", 5)
        self.assertEqual(other.wait(60), 3, consortium.log("bank-c"))
        self.says(consortium, "bank-a", "refused parley://banks.example/owner/bank-c at 127.0.0.1:")
        self.says(consortium, "bank-a", ": nobody of that name is expected here")
        for owner in OWNERS[1:]:
            owners[owner] = self.start(consortium, owner)
            if owner == "bank-b":  # A doctor looks at the door, and no further.
                self.assertTrue(self.json("doctor", "bank-b/policy.toml", "--charter",
                                          consortium.charter, "--learner", "bank-a")["ok"])
        self.all_end_well(consortium, owners)
        self.verified(consortium)

    def says(self, consortium, name, words):
        until = time.monotonic() + 20
        while words not in consortium.log(name) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertIn(words, consortium.log(name))

    @staticmethod
    def shout(port):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as stream:
            stream.sendall(b"\x00\xffgarbage" * 100)


if __name__ == "__main__":
    main()
