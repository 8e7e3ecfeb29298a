"""A real Prometheus watches a job: promtool accepts what daemons print, every query of the dashboard is one, figures are
stored, and every alert fires: low budget, certificate, full disk, stuck job, daemon away. By scripts/check ops, as root."""

import json
import pathlib
import re
import shutil
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from consortium import OWNERS, Consortium, must
from parley import SOURCE, InFolder, main

from metrics import free_port

PACKAGING = SOURCE / "packaging"


def tool(*arguments, **more):
    return subprocess.run(["promtool", *map(str, arguments)], text=True, capture_output=True, check=False, **more)


class Prometheus:
    """A server of its own for a folder; asks every second."""

    def __init__(self, folder, targets, quick=()):
        self.port, self.folder = free_port(), pathlib.Path(folder) / "prometheus"
        self.folder.mkdir()
        alerts = (PACKAGING / "prometheus" / "alerts.yml").read_text()
        for old, new in quick:  # a wait of minutes made shorter
            assert old in alerts, old
            alerts = alerts.replace(old, new)
        (self.folder / "alerts.yml").write_text(alerts)
        (self.folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [alerts.yml]\n"
            f"scrape_configs: [{{job_name: parley, static_configs: [{{targets: {json.dumps(targets)}}}]}}]\n")
        with open(self.folder / "log", "w", encoding="utf8") as log:
            self.process = subprocess.Popen(
                ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=store",
                 f"--web.listen-address=127.0.0.1:{self.port}"], cwd=self.folder, stdout=log, stderr=log)

    def ask(self, what, **arguments):
        query = "?" + urllib.parse.urlencode(arguments) if arguments else ""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{what}{query}", timeout=30) as answer:
            return json.load(answer)["data"]

    def query(self, text):
        return {tuple(sorted(each["metric"].items())): float(each["value"][1])
                for each in self.ask("query", query=text)["result"]}

    def firing(self):
        return {each["labels"]["alertname"] for each in self.ask("alerts")["alerts"] if each["state"] == "firing"}


class Watched(InFolder):
    def until(self, what, message):
        limit = time.monotonic() + 120
        while time.monotonic() < limit:
            try:
                if found := what():
                    return found
            except OSError:
                pass
            time.sleep(0.2)
        raise AssertionError(message() if callable(message) else message)

    def start_owner(self, consortium, port):
        """bank-a as a daemon with metrics; its budget is nearly that of the job, its certificate ends in ten days."""
        metrics = free_port()
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text() + f'[metrics]\nlisten = "127.0.0.1:{metrics}"\n'
                                               f'[network]\ndial = "127.0.0.1:{port}"\n')
        must("certs", "sign", "bank-a/bank-a.csr", "--authority", "ca", "--days", "10", "--out", "bank-a/short.crt",
             cwd=self.folder)
        (self.folder / "bank-a" / "short.crt").replace(self.folder / "bank-a" / "bank-a.crt")
        # A disk of its own, with less room than the alert asks for.
        state = self.folder / "bank-a" / "state"
        state.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "parley-test", state], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", state], check=True)
        charters = self.folder / "bank-a" / "charters"
        charters.mkdir()
        shutil.copytree(self.folder / "data", charters / "data")
        shutil.copy(consortium.charter, charters)
        daemon = consortium.start("bank-a", "--quiet", "owner", "run", policy)
        self.addCleanup(daemon.kill)
        return daemon, metrics

    def test_a_job_is_watched_and_alerts_fire(self):
        consortium = Consortium(self.folder, budget=1.05)
        learner_metrics = free_port()
        learner, port = consortium.learner("run", 0, 60, "--metrics", f"127.0.0.1:{learner_metrics}")
        self.addCleanup(learner.kill)
        daemon, metrics = self.start_owner(consortium, port)
        prometheus = Prometheus(self.folder, [f"127.0.0.1:{metrics}", f"127.0.0.1:{learner_metrics}"],
                                [("for: 5m", "for: 3s"), ("[1h]", "[5s]"), ("offset 1h", "offset 5s")])
        self.addCleanup(prometheus.process.wait)
        self.addCleanup(prometheus.process.kill)
        self.until(lambda: len(prometheus.query('up{job="parley"} == 1')) == 2, lambda: prometheus.ask("targets"))
        # bank-a is there, on its small disk, and the others keep it waiting.
        for alert in ("ParleyCertificateEnds", "ParleyDiskFull", "ParleyJobStuck"):
            self.until(lambda alert=alert: alert in prometheus.firing(), lambda: prometheus.ask("alerts"))
        others = [consortium.owner(owner, port) for owner in OWNERS[1:]]
        for each in others:
            self.addCleanup(each.kill)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        self.until(lambda: prometheus.query("parley_answers_total") and
                   list(prometheus.query("parley_answers_total").values()) == [3.0], lambda: prometheus.ask("targets"))
        self.until(lambda: "ParleyBudgetLow" in prometheus.firing(), lambda: prometheus.ask("alerts"))
        self.until(lambda: "ParleyJobStuck" not in prometheus.firing(), lambda: prometheus.ask("alerts"))
        self.until(lambda: "ParleyDown" in prometheus.firing(), lambda: prometheus.ask("alerts"))  # the learner has ended
        self.assertIn("less than a tenth of the lifetime budget is left",
                      json.dumps(prometheus.ask("alerts")))
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        checked = tool("check", "metrics", input=text)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), text)
        self.every_query_of_the_dashboard_has_an_answer(prometheus)
        daemon.terminate()
        daemon.wait(60)
        for each in others:
            each.wait(60)

    def every_query_of_the_dashboard_has_an_answer(self, prometheus):
        dashboard = json.loads((PACKAGING / "grafana" / "parley.json").read_text())
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        for each in queries:
            text = re.sub(r"\$__rate_interval|\$__interval", "1m", each.replace("$instance", ".*"))
            found = self.ask_range(prometheus, text)  # Prometheus refuses what is no query.
            # A learner of a job of seconds was asked once; no daemon had anything to warn of.
            if "parley_owner_answers_total" not in text and "parley_log_lines_total" not in text:
                self.assertTrue(found, text)

    @staticmethod
    def ask_range(prometheus, text):
        now = time.time()
        return prometheus.ask("query_range", query=text, start=now - 120, end=now, step=1)["result"]


class Rules(unittest.TestCase):
    def test_every_alert_fires_when_it_should_and_not_before(self):
        done = tool("test", "rules", SOURCE / "tests" / "ops" / "alerts_test.yml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tested = (SOURCE / "tests" / "ops" / "alerts_test.yml").read_text()
        for alert in re.findall(r"alert: (\w+)", (PACKAGING / "prometheus" / "alerts.yml").read_text()):
            self.assertRegex(tested, rf"alertname: {alert}\n\s*exp_alerts:\n", "it is never seen to fire")

    def test_the_files_are_in_order(self):
        done = tool("check", "rules", PACKAGING / "prometheus" / "alerts.yml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
