#!/usr/bin/env python3
"""The Python package over the shared library of this build, with numpy alone: calls, tables, ledgers, charters,
forecasts, and a fit that is `parley simulate`'s model bit for bit. scikit-learn and all else: scripts/check python."""

import contextlib
import gc
import io
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

import numpy

ROOT = pathlib.Path(os.environ["PARLEY_SOURCE"])
if "PARLEY_INSTALLED" not in os.environ:  # Else the package is where Python finds it.
    sys.path.insert(0, str(ROOT / "apps" / "python"))
import parley  # noqa: E402
from parley import _library  # noqa: E402
from parley._tables import Tables  # noqa: E402

ROWS = 400
SETTINGS = {"loss": "logistic", "epsilon": 1.0, "delta": 1e-6, "lower": [-1, -1], "upper": [1, 1], "rounds": 4}


def records():
    random = numpy.random.RandomState(1)
    x = random.uniform(-1, 1, (ROWS, 2))
    return x, (x @ [2, -1] + random.normal(size=ROWS) > 0).astype(float)


def tables(x, y, name="records"):
    found = Tables()
    found.add(name, x, ["x0", "x1"])
    found.add(name, y, ["y"])
    return found


def fit(rows, **more):
    return _library.call("fit", {**SETTINGS, **more}, rows)


JOB = """import sys
sys.path.insert(0, sys.argv[2])
from consortium import OWNERS, Consortium
held = Consortium(sys.argv[1])
learner, port = held.learner()
started = [learner] + [held.owner(owner, port) for owner in OWNERS]
sys.exit(any(process.wait(100) for process in started))
"""


def job_over_the_network(folder):
    """Three owners and a learner as processes. In a process of its own, whose module `parley` is the tests'; not by
    PYTHONPATH, where the program of a wheel would find that one."""
    subprocess.run([sys.executable, "-B", "-c", JOB, folder, ROOT / "tests" / "support"], check=True, timeout=200)
    return parley.Charter.read(folder / "job.charter.toml")


class Sparse:
    """As much of a sparse matrix of scipy's as the package needs: `each` ones in every row."""

    def __init__(self, rows, columns, each):
        self.shape = rows, columns
        self.indices = numpy.sort(numpy.random.RandomState(1).randint(0, columns, (rows, each)), axis=1).ravel()
        self.indptr = numpy.arange(0, rows * each + 1, each)
        self.data = numpy.ones(rows * each)

    def tocsr(self):
        return self

    def bytes(self):
        return self.indices.nbytes + self.indptr.nbytes + self.data.nbytes


def memory(of):
    """A number of /proc/self/status in bytes."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(status.split(of + ":")[1].split()[0])


class Frame(dict):
    """As little of a data frame as the package needs."""

    def __init__(self, **columns):
        super().__init__(columns)
        self.columns = list(columns)


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_seeded_fit_is_the_programs_model_bit_for_bit(self):
        for epsilon, rule in ((1, "constant"), (100, "gram")):
            with self.subTest(rule=rule):
                self.seeded_fit(self.folder / rule, epsilon, rule)

    def seeded_fit(self, folder, epsilon, rule):
        folder.mkdir()
        x, y = records()
        said = fit(tables(x, y), seed=5, epsilon=epsilon)
        self.assertIn(f'rule = "{rule}"', said["charter"])
        self.assertFalse(said["private"])
        self.assertIn("NOT PRIVATE", said["model"]["privacy_card"]["statement"])
        (folder / "fit.charter.toml").write_text(said["charter"])
        (folder / "bundle.json").write_text(said["bundle"])
        lines = [f"{a!r},{b!r},{int(c)}" for (a, b), c in zip(x.tolist(), y)]
        (folder / "analyst.csv").write_text("\n".join(["x0,x1,y", *lines]) + "\n")
        subprocess.run([os.environ["PARLEY_BINARY"], "--quiet", "simulate", "fit.charter.toml", "--data", ".", "--seed",
                        "5", "--out", "out", "--held-out", "0"], cwd=folder, check=True, capture_output=True)
        model = json.loads((folder / "out" / "model.json").read_text())
        self.assertEqual(model["model"]["theta"], said["model"]["model"]["theta"])

    def test_a_private_fit_by_a_gram_matrix_is_charged_whole(self):
        ledger = parley.Ledger.create(self.folder / "ledger.db", epsilon=70, delta=1e-5)
        said = fit(tables(*records()), epsilon=60, ledger=ledger.path, dataset=ledger.dataset)
        self.assertIn('rule = "gram"', said["charter"])
        self.assertTrue(said["private"])
        with self.assertRaises(parley.BudgetError):
            fit(tables(*records()), epsilon=60, ledger=ledger.path, dataset=ledger.dataset)

    def test_any_memory_layout_gives_the_same_bits(self):
        x, y = records()
        expected = fit(tables(x, y), seed=5)["model"]
        wide = numpy.zeros((ROWS, 7))
        wide[:, 2::3] = x
        for other in (numpy.asfortranarray(x), wide[:, 2::3], x[::-1][::-1]):
            self.assertEqual(fit(tables(other, y), seed=5)["model"], expected)

    def test_a_ledger_pays_and_refuses(self):
        x, y = records()
        ledger = parley.Ledger.create(self.folder / "data.ledger", epsilon=2, delta=1e-6)
        paid = 0
        with self.assertRaises(parley.BudgetError) as refused:
            for paid in range(20):
                fit(tables(x, y), ledger=ledger.path, dataset=ledger.dataset, epsilon=1.0, delta=1e-7)
        self.assertEqual(refused.exception.code, "budget_exhausted")
        self.assertGreater(paid, 1)
        self.assertEqual(ledger.events()["charges"], 4 * paid)
        ledger.verify()
        rho = ledger.spent()["rho"]
        self.assertTrue(0 < rho["spent"] <= rho["max"])
        self.assertEqual(pickle.loads(pickle.dumps(ledger)).path, ledger.path)

    def test_errors_say_what_where_and_what_to_do(self):
        with self.assertRaises(parley.InvalidError) as found:
            parley.Charter("[charter]\nversion = 'one'\n").check()
        self.assertEqual(found.exception.where["line"], 2)
        self.assertEqual(pickle.loads(pickle.dumps(found.exception)).where["line"], 2)
        with self.assertRaises(ValueError):
            fit(tables(*records()), lower=[1, 1])

    def test_accounts(self):
        account = parley.account({"gaussian": 12.0, "count": 100}, delta=1e-6)
        self.assertGreater(account.by("pld")[0], 1)
        self.assertLessEqual(account.by("pld")[0], account.by("rdp")[0])
        factor = parley.calibrate({"gaussian": 1.0, "count": 10}, epsilon=1, delta=1e-6)["factor"]
        self.assertGreater(factor, 1)

    def test_a_charter_is_explained_forecast_and_simulated(self):
        charter = parley.Charter.read(ROOT / "examples" / "three-banks.charter.toml")
        self.assertEqual([owner["name"] for owner in charter.owners], ["bank-a", "bank-b", "bank-c"])
        self.assertIn("bank-a", charter.explain())
        self.assertNotEqual(charter.with_changes({"protocol.rounds": 5}).hash, charter.hash)
        forecast = parley.forecast(charter, standin="lending")
        self.assertIn("<iframe", forecast._repr_html_())
        self.assertEqual(forecast.charter.hash, charter.hash)
        small = charter.with_changes({f"owner.{i}.rows": 500 for i in range(3)})
        self.assertEqual(len(forecast.owners), 3)
        simulation = parley.simulate(small, standin="lending", seed=3, held_out=0)
        self.assertEqual(len(simulation.model.parameters), 10)

    def test_owners_tables_are_read_where_they_lie(self):
        x, y = records()
        column = {"kind": "number", "bounds": [-1.0, 1.0], "missing": 0.0}
        charter = parley.Charter.build(
            charter={"version": 1, "name": "two", "consortium": "test.example"},
            target={"column": "y", "levels": ["0", "1"]},
            column=[{"name": "x0", **column}, {"name": "x1", **column}],
            model={"loss": "logistic", "bias": True, "box": 5.0},
            protocol={"name": "sync", "rule": "constant", "rounds": 3, "step": 2.0},
            privacy={"mechanism": "laplace", "max_grad_norm": 2.0, "evaluate": 0.0},
            owner=[{"name": "north", "rows": ROWS, "epsilon": 5.0}, {"name": "south", "rows": ROWS, "epsilon": 5.0}],
            learner={"name": "registry"}).check()
        rows = Tables()
        for owner in ("north", "south"):
            rows.add(owner, x, ["x0", "x1"])
            rows.add(owner, y, ["y"])
        said = _library.call("simulate", {**charter._arguments(), "seed": 2, "held_out": 0}, rows)
        self.assertEqual(len(json.loads(said["model"])["model"]["theta"]), 3)
        frame = Frame(x0=x[:, 0], x1=x[:, 1], y=y)
        looked = parley.value(frame, charter, owner="north")
        self.assertGreater(looked["figures"]["alone"]["value"], 0.7)
        for wrong in ("west", None):
            with self.assertRaises(ValueError):
                parley.value(frame, charter, owner=wrong)

    def test_calls_stop_and_other_threads_go_on(self):
        heard = []

        def stop(done, total):
            heard.append(done)
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            _library.call("fit", SETTINGS, tables(*records()), stop)
        self.assertEqual(heard, [1])
        charter = parley.Charter.read(ROOT / "examples" / "three-banks.charter.toml")
        with self.assertRaises(KeyboardInterrupt):
            parley.forecast(charter, standin="lending", progress=stop)
        self.assertEqual(heard, [1, 1])
        found = []
        threads = [threading.Thread(target=lambda: found.append(fit(tables(*records()), seed=5)["model"]))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all(model == found[0] for model in found) and len(found) == 4)

    def test_sparse_rows_take_the_memory_of_what_they_hold(self):
        rows, columns = 100_000, 400
        matrix = Sparse(rows, columns, 5)
        found = Tables()
        found.add("records", matrix, [f"x{j}" for j in range(columns)])
        found.add("records", (matrix.indices[::5] % 2).astype(float), ["y"])
        gc.collect()
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # The peak is now what is in use.
        before = memory("VmRSS")
        fit(found, lower=[-1] * columns, upper=[1] * columns, rounds=1, seed=1, threads=1)
        self.assertLess(memory("VmHWM") - before, 4 * matrix.bytes() + 20e6)  # dense: 320e6

    def test_ctrl_c_stops_a_call(self):
        arrived = threading.Event()

        def handler(number, frame):
            arrived.set()
            raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler))
        x, y = records()
        for command, settings, total in (("fit", {**SETTINGS, "rounds": 1000}, 1000),
                                         ("audit", {"mechanism": "laplace", "runs": 10_000_000, "threads": 1}, None)):
            heard = []

            def progress(done, all_of_it):
                heard.append((done, all_of_it))
                if len(heard) == 1:
                    os.kill(os.getpid(), signal.SIGINT)
                    arrived.wait(60)

            with self.subTest(command=command):
                arrived.clear()
                with self.assertRaises(KeyboardInterrupt):
                    _library.call(command, settings, tables(x, y), progress)
                self.assertTrue(arrived.is_set())
                self.assertLess(*heard[-1])
                self.assertIn(total, (None, heard[-1][1]))

    def test_the_library_works_without_the_lock_of_python(self):
        """No thread gives the lock away by itself here; what another one does between two progress reports, it does
        while the library works."""
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1000)
        turns, over, heard = [0], threading.Event(), []

        def other():
            while not over.is_set():
                turns[0] += 1
                time.sleep(1e-3)

        def fits():
            for _ in range(1000):
                heard.clear()
                fit_with_progress(lambda done, total: heard.append(turns[0]))
                if heard[-1] > heard[0]:
                    return

        rows = tables(*records())

        def fit_with_progress(progress):
            _library.call("fit", {**SETTINGS, "rounds": 100, "seed": 1}, rows, progress)

        threads = [threading.Thread(target=other), threading.Thread(target=fits)]
        for thread in threads:
            thread.start()
        threads[1].join()
        over.set()
        threads[0].join()
        self.assertGreater(heard[-1], heard[0])

    def test_a_progress_bar_is_closed_however_a_call_ends(self):
        made = []

        class Bar:
            def __init__(self, **how):
                self.n, self.total, self.closed = 0, None, 0
                made.append(self)

            def update(self, more):
                self.n += more
                if self.total == stop_at:
                    raise KeyboardInterrupt

            def close(self):
                self.closed += 1

        auto = types.ModuleType("tqdm.auto")
        auto.tqdm = Bar
        with mock.patch.dict(sys.modules, {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": auto}):
            stop_at = None
            parley.audit("laplace", runs=50, progress=True)
            self.assertEqual(made[-1].n, made[-1].total)
            stop_at = made[-1].total
            with self.assertRaises(KeyboardInterrupt):
                parley.audit("laplace", runs=50, progress=True)
            with self.assertRaises(parley.InvalidError):
                parley.audit("no such mechanism", progress=True)
        self.assertEqual([bar.closed for bar in made], [1, 1, 1])
        said = io.StringIO()
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), contextlib.redirect_stderr(said):
            parley.audit("laplace", runs=50, progress=True)
        self.assertRegex(said.getvalue(), r"\raudit: (\d+) of \1\n$")

    def test_a_job_over_the_network_is_verified_and_attacked(self):
        charter = job_over_the_network(self.folder)
        model, transcript = self.folder / "job" / "model.json", self.folder / "job" / "transcript.pb.zst"
        ledgers = {"bank-a": self.folder / "bank-a" / "state" / "ledger.db"}
        found = parley.verify(model, transcript, charter, ledgers=ledgers)
        self.assertTrue(found["holds"] and found["recomputed"], found)
        changed = json.loads(model.read_text())
        changed["model"]["theta"][0] += 1e-9
        model.write_text(json.dumps(changed))
        found = parley.verify(model, transcript, charter)
        self.assertFalse(found["holds"], found)
        self.assertIn("theta", json.dumps(found["findings"]))
        with self.assertRaises(parley.ParleyError):
            parley.verify(model, self.folder / "job" / "nothing", charter)
        attack = parley.audit(charter, owner="bank-a", runs=500, confidence=1 - 1e-7)
        self.assertEqual((attack["target"]["owner"], attack["verdict"]), ("bank-a", "passes"))
        self.assertLessEqual(attack["certified_epsilon"]["clopper_pearson"], attack["claimed"]["epsilon"])
        with self.assertRaises(parley.InvalidError):
            parley.audit(charter, owner="nobody", runs=500)

    def test_a_delta_of_one_row_is_refused_by_name(self):
        rows = Tables()
        rows.add("records", numpy.broadcast_to(numpy.array([[0.5, -0.5, 1.0]]), (1_000_000, 3)), ["x0", "x1", "y"])
        with self.assertRaisesRegex(ValueError, "delta: must be below 1/rows(.|\n)*1e-7") as found:
            fit(rows, seed=1)
        self.assertEqual(found.exception.where, {"key": "delta"})

    def test_the_estimators_say_what_they_need(self):
        try:
            import sklearn  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "scikit-learn"):
                parley.DPLogisticRegression
        self.assertIn("DPLogisticRegression", dir(parley))


if __name__ == "__main__":
    unittest.main()
