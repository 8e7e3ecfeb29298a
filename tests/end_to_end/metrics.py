"""What daemons tell machines that watch them: figures that are the ledger's, readiness, and what
becomes of whoever asks badly. Also: every figure that alerts and dashboard name is one of them."""

import contextlib
import http.client
import json
import pathlib
import re
import shutil
import socket
import time
import unittest

from consortium import OWNERS, Consortium
from parley import SOURCE, InFolder, main

PACKAGING = SOURCE / "packaging"
SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)')


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def figures(text):
    """By name and labels: {("parley_charters", (("state", "running"),)): 1.0}."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        key = (name, tuple(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', labels or "")))
        assert key not in found, line
        found[key] = float(value)
    return found


class Metrics(InFolder):
    def until(self, what, message):
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            with contextlib.suppress(OSError):
                if found := what():
                    return found
            time.sleep(0.05)
        raise AssertionError(message() if callable(message) else message)

    def get(self, port, path="/metrics", method="GET", **headers):
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            line.request(method, path, headers=headers)
            answer = line.getresponse()
            return answer.status, answer.getheader("Content-Type"), answer.read().decode()
        finally:
            line.close()

    def watched(self, consortium, owner="bank-a", more=""):
        """A daemon that watches its folder of charters, with metrics; returns it and the port."""
        port = free_port()
        policy = self.folder / owner / "policy.toml"
        policy.write_text(policy.read_text() + f'[metrics]\nlisten = "127.0.0.1:{port}"\n{more}')
        charters = self.folder / owner / "charters"
        charters.mkdir(exist_ok=True)
        daemon = consortium.start(owner, "--quiet", "owner", "run", policy)
        self.addCleanup(daemon.kill)
        self.until(lambda: self.get(port, "/healthz")[0] == 200, lambda: consortium.log(owner))
        return daemon, port

    def one(self, port, name, **labels):
        values = [value for (found, has), value in figures(self.get(port)[2]).items()
                  if found == name and set(labels.items()) <= set(has)]
        self.assertEqual(len(values), 1, f"{name} {labels}")
        return values[0]

    def test_a_jobs_figures_are_those_of_the_ledger(self):
        consortium = Consortium(self.folder, rounds=3)
        metrics_at = free_port()
        learner, port = consortium.learner("run", 0, 60, "--metrics", f"127.0.0.1:{metrics_at}")
        self.addCleanup(learner.kill)
        status, _, why = self.get(metrics_at, "/readyz")
        self.assertEqual((status, why), (503, "Not here yet: bank-a, bank-b, bank-c.\n"))
        self.assertEqual(self.one(metrics_at, "parley_owner_attends", owner="bank-a"), 0)
        _, watched = self.watched(consortium, more=f'[network]\ndial = "127.0.0.1:{port}"\n')
        self.until(lambda: self.get(watched, "/readyz")[0] == 200, lambda: self.get(watched, "/readyz"))
        self.assertEqual(self.one(watched, "parley_budget_spent", dataset="loans", track="pure"), 0)
        self.assertEqual(self.one(watched, "parley_budget_limit", dataset="loans", track="pure"), 4)
        charters = self.folder / "bank-a" / "charters"
        shutil.copytree(self.folder / "data", charters / "data")
        shutil.copy(consortium.charter, charters)
        self.until(lambda: self.one(watched, "parley_charters", state="running") == 1,
                   lambda: consortium.log("bank-a"))
        self.until(lambda: sum(self.one(watched, name, dataset="loans", track="pure") for name in
                               ("parley_budget_reserved", "parley_budget_spent")) > 0.99,
                   lambda: self.get(watched))
        self.assertEqual(self.until(lambda: self.one(metrics_at, "parley_owner_attends",
                                                     owner="bank-a"), "not there"), 1)
        others = [consortium.owner(owner, port) for owner in OWNERS[1:]]
        for each in others:
            self.addCleanup(each.kill)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        self.until(lambda: self.one(watched, "parley_charters", state="finished") == 1,
                   lambda: consortium.log("bank-a"))
        seen = self.get(watched)[2]
        ledger = self.json("ledger", "show", "bank-a/state/ledger.db")
        paid = [row for row in ledger["rows"] if row["cost"] > 0]
        data = ledger["datasets"][0]
        self.assertEqual(len(paid), 3)
        self.assertEqual(self.one(watched, "parley_answers_total"), len(paid))
        self.assertEqual(self.one(watched, "parley_job_round"), max(row["round"] for row in paid))
        self.assertEqual(self.one(watched, "parley_job_rounds"), 3)
        self.assertEqual(self.one(watched, "parley_budget_spent", track="pure"), data["pure"]["spent"])
        self.assertEqual(self.one(watched, "parley_budget_limit", track="pure"), data["pure"]["max"])
        self.assertEqual(self.one(watched, "parley_epsilon_limit"), data["epsilon"])
        self.assertEqual(self.one(watched, "parley_budget_reserved", track="pure"), 0)
        self.assertGreater(self.one(watched, "parley_sent_bytes_total"), 0)
        replies = [value for (name, labels), value in figures(seen).items()
                   if name == "parley_reply_seconds_bucket" and ("le", "+Inf") in labels]
        self.assertGreaterEqual(replies[0], 3)
        state = self.folder / "bank-a" / "state"
        self.assertEqual(self.one(watched, "parley_ledger_bytes"),
                         sum(file.stat().st_size for file in state.glob("ledger.db*")
                             if file.name in ("ledger.db", "ledger.db-wal")))
        ends = self.one(watched, "parley_certificate_not_after_timestamp_seconds")
        self.assertGreater(ends, time.time())

    def test_refusals_are_counted_by_reason(self):
        consortium = Consortium(self.folder)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text().replace("epsilon_max = 4", "epsilon_max = 0.001"))
        _, port = self.watched(consortium)
        self.assertEqual(self.one(port, "parley_refusals_total", reason="policy"), 0)
        shutil.copy(consortium.charter, self.folder / "bank-a" / "charters")
        self.until(lambda: self.one(port, "parley_refusals_total", reason="policy") == 1,
                   lambda: self.get(port))
        self.assertEqual(self.one(port, "parley_charters", state="ended early"), 1)
        self.assertEqual(self.one(port, "parley_log_lines_total", event="ended_early"), 1)
        # A folder that is gone has not been read.
        shutil.rmtree(self.folder / "bank-a" / "charters")
        self.until(lambda: self.get(port, "/readyz")[0] == 503, "it says that it is ready")
        self.assertEqual(self.get(port, "/healthz")[0], 200)

    def test_the_text_is_of_the_kind_that_was_asked_for(self):
        _, port = self.watched(Consortium(self.folder))
        status, kind, text = self.get(port)
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
        self.assertIn("# TYPE parley_answers_total counter\n", text)
        _, kind, text = self.get(port, Accept="application/openmetrics-text; version=1.0.0")
        self.assertEqual(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertIn("# TYPE parley_answers counter\n", text)
        self.assertTrue(text.endswith("\n# EOF\n"))

    def test_a_socket_is_for_its_user_and_group(self):
        consortium = Consortium(self.folder)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text() + '[metrics]\nlisten = "unix:state/metrics.sock"\n')
        daemon = consortium.start("bank-a", "--quiet", "owner", "run", policy)
        self.addCleanup(daemon.kill)
        file = self.folder / "bank-a" / "state" / "metrics.sock"
        self.until(file.exists, lambda: consortium.log("bank-a"))
        self.assertEqual(file.stat().st_mode & 0o777, 0o660)
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(file))
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertIn(b"200 OK", line.recv(4096))
        daemon.terminate()
        daemon.wait(60)
        self.assertFalse(file.exists())

    def test_other_machines_cannot_be_served(self):
        consortium = Consortium(self.folder)
        policy = self.folder / "bank-a" / "policy.toml"
        good = policy.read_text()
        for where in ("0.0.0.0:9464", "[::]:9464"):
            policy.write_text(good + f'[metrics]\nlisten = "{where}"\n')
            self.assertEqual(consortium.owner("bank-a", 1).wait(60), 2)
            self.assertIn("metrics.listen", consortium.log("bank-a"))
            self.assertIn("can be reached from other machines", consortium.log("bank-a"))
        learner = consortium.start_learner("run", 0, 60, "--metrics", "0.0.0.0:9464")
        self.assertEqual(learner.wait(60), 2, consortium.log("learner"))
        policy.write_text(good)
        daemon = consortium.start("bank-a", "--quiet", "owner", "run", policy)  # Off unless set.
        self.addCleanup(daemon.kill)
        self.until((self.folder / "bank-a" / "state" / "status.sock").exists, "it does not start")
        with open(f"/proc/{daemon.pid}/net/tcp", encoding="ascii") as table:
            mine = {line.split()[9] for line in table.readlines()[1:] if line.split()[3] == "0A"}
        listening = [link for link in
                     (file.readlink().name for file in
                      pathlib.Path(f"/proc/{daemon.pid}/fd").iterdir())
                     if link.startswith("socket:[") and link[8:-1] in mine]
        self.assertEqual(listening, [])

    def test_whoever_asks_badly_disturbs_nobody(self):
        daemon, port = self.watched(Consortium(self.folder))
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
            self.assertEqual(self.get(port, method=method)[0], 405, method)
        self.assertEqual(self.get(port, method="HEAD")[2], "")
        self.assertEqual(self.get(port, Host="attacker.example")[0], 421)
        self.assertEqual(self.get(port, "/")[0], 404)
        self.assertEqual(self.get(port, "/metrics/../etc/passwd")[0], 404)
        # Headers without an end are cut off.
        with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
            line.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
            sent = 0
            with contextlib.suppress(OSError):
                while sent < 1 << 20:
                    sent += line.send(b"X-More: " + b"a" * 1000 + b"\r\n")
            with contextlib.suppress(OSError):
                self.assertNotIn(b"200 OK", line.recv(4096))
        # More connections that only wait than there is room for: soon somebody else has a turn.
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            began = time.monotonic()
            self.until(lambda: self.get(port, "/healthz")[0] == 200, "nobody else is served")
            self.assertLess(time.monotonic() - began, 30)
        self.assertIsNone(daemon.poll())
        self.assertEqual(self.get(port)[0], 200)


class Files(unittest.TestCase):
    def named(self):
        """The names in alerts and dashboard."""
        dashboard = json.loads((PACKAGING / "grafana" / "parley.json").read_text())
        queries = [target["expr"] for panel in dashboard["panels"]
                   for target in panel.get("targets", [])]
        self.assertGreater(len(queries), 8)
        alerts = (PACKAGING / "prometheus" / "alerts.yml").read_text()
        return set(re.findall(r"\bparley_[a-z_]+", "\n".join(queries) + alerts))

    def test_alerts_and_dashboard_name_figures_that_there_are(self):
        written = "\n".join(file.read_text() for file in
                            (SOURCE / "src" / "parley" / "net").rglob("*.cc")
                            if not file.name.endswith("_test.cc"))
        families = set(re.findall(r'"(parley_[a-z_]+)"', written))
        page = (SOURCE / "docs" / "how-to" / "monitor.md").read_text()
        for name in self.named():
            self.assertIn(re.sub(r"_(total|bucket)$", "", name), families, name)
        for name in families:
            self.assertRegex(page, rf"`{name}(_total|_bucket)?`", "the page does not explain it")


if __name__ == "__main__":
    main()
